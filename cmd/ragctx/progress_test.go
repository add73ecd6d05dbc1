package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// TestLineOfAJob: a line tells how many of how many, the pace, the time left and the
// file, also of a job on a server.
func TestLineOfAJob(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	l := &lines{w: &b, now: func() time.Time { return now }, start: now, last: now}
	j := engine.Job{Job: store.Job{State: store.JobRunning, Items: 40, Counts: store.JobCounts{Created: 9, Skipped: 1}, Chunks: 50}, Current: "docs/a\x1b.md"}
	l.expect(j.Items)
	now = now.Add(10 * time.Second)
	l.update(jobProgress(j))
	if want := "ingesting: 10 of 40 files, 50 chunks, 1 files/s, 5 chunks/s, 30s left, docs/a\ufffd.md\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	eta := 12.0
	j.Started, j.Heartbeat, j.ETASeconds = started, started.Add(5*time.Second), &eta
	if got, want := progressText(j), "10 of 40, 10 chunks/s, 12s left, docs/a\ufffd.md"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, c := range []struct {
		done, total int
		of, left    string
	}{{0, 0, "", ""}, {0, 5, " of 5", ""}, {2, 4, " of 4", ", 10s left"}, {5, 4, "", ""}, {4, 4, " of 4", ", 0s left"}} {
		p := engine.IngestProgress{Skipped: c.done}
		if got := of(p, c.total); got != c.of {
			t.Errorf("%+v: %q", c, got)
		}
		if got := left(p, c.total, 10*time.Second); got != c.left {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
