package engine_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

func later() time.Time { return time.Now().Add(time.Hour) }

// sent does what [engine.Ingest] does, by way of a job, as through a server.
func (f *fixture) sent(t interface{ Fatal(...any) }, o engine.IngestOptions) engine.IngestReport {
	ctx := f.t.Context()
	s, err := f.Jobs().QueueDocuments(ctx, engine.DocumentQueueOptions{Namespace: o.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, n := engine.IngestReport{}, 0
	for ch, err := range engine.Collect(ctx, f.Documents().List, o) {
		n++
		switch {
		case err != nil:
		case ch.Skip != "":
			r.Skipped = append(r.Skipped, engine.Skipped{Path: ch.Path, Reason: ch.Skip})
		case ch.LeftOut != nil:
			r.LeftOut.Add(*ch.LeftOut)
		case ch.Unchanged > 0:
			r.Unchanged += ch.Unchanged
		case ch.Delete != "":
			err = s.Delete(ctx, n, ch.Delete)
		default:
			err = s.Put(ctx, n, *ch.Document, engine.Origin{Root: ch.Root, MovedFrom: ch.MovedFrom, Stat: ch.Stat})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	j, err := s.Accept(ctx)
	if errors.Is(err, ragctx.ErrInvalid) { // there was nothing to do
		return r
	}
	if err != nil {
		t.Fatal(err)
	}
	c := f.await(j.ID).Counts
	r.Created, r.Replaced, r.Deleted = c.Created, c.Replaced, c.Deleted
	r.Unchanged += c.Unchanged
	return r
}

// TestFileStates: what need not be read is not.
func TestFileStates(t *testing.T) {
	for name, ingest := range map[string]func(*fixture, *testing.T, engine.IngestOptions) engine.IngestReport{
		"here":    func(f *fixture, _ *testing.T, o engine.IngestOptions) engine.IngestReport { return f.ingest(o) },
		"by jobs": func(f *fixture, t *testing.T, o engine.IngestOptions) engine.IngestReport { return f.sent(t, o) },
	} {
		t.Run(name, func(t *testing.T) { fileStates(t, ingest) })
	}
}

func fileStates(t *testing.T, ingest func(*fixture, *testing.T, engine.IngestOptions) engine.IngestReport) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, map[string]string{"one.md": ":alpha\n", "two.md": "a.md:beta\nb.md:gamma\n", "bad.md": "a.md:delta\nb.md:!is damaged\n"})
	var read []string
	o := engine.IngestOptions{
		Paths: []string{dir}, Workers: 1, Now: later,
		Extract: func(ctx context.Context, file extract.File, x extract.Options) iter.Seq2[extract.Text, error] {
			read = append(read, file.Name)
			return listed(ctx, file, x)
		},
	}
	step := func(what string, o engine.IngestOptions, want engine.IngestReport, files ...string) {
		t.Helper()
		read = nil
		got := ingest(f, t, o)
		if len(got.Skipped) != 1 {
			t.Errorf("%s: skipped %v", what, got.Skipped)
		}
		got.Skipped, got.Chunks, got.Bytes = nil, 0, 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: report differs (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(append([]string{"bad.md"}, files...), read); diff != "" {
			t.Errorf("%s: files read differ (-want +got):\n%s", what, diff)
		}
	}
	touch := func(name string) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	fresh := o
	fresh.Now = time.Now
	step("first", fresh, engine.IngestReport{Created: 4}, "one.md", "two.md")
	step("just written", o, engine.IngestReport{Unchanged: 4}, "one.md", "two.md")
	step("again", o, engine.IngestReport{Unchanged: 4})
	step("still just written", fresh, engine.IngestReport{Unchanged: 4}, "one.md", "two.md")
	touch("two.md")
	step("touched", o, engine.IngestReport{Unchanged: 4}, "two.md")
	step("after that", o, engine.IngestReport{Unchanged: 4})
	reread := o
	reread.Reread = true
	step("read in any case", reread, engine.IngestReport{Unchanged: 4}, "one.md", "two.md")
	if err := f.Documents().Delete(t.Context(), "", "docs/two.md/a.md"); err != nil {
		t.Fatal(err)
	}
	step("deleted by others", o, engine.IngestReport{Created: 1, Unchanged: 3}, "two.md")
	if _, err := f.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "docs/one.md", Text: "zeta"}, dir); err != nil {
		t.Fatal(err)
	}
	step("replaced by others", o, engine.IngestReport{Replaced: 1, Unchanged: 3}, "one.md")
	write(t, dir, map[string]string{"one.md": ":alpha two\n"})
	step("changed", o, engine.IngestReport{Replaced: 1, Unchanged: 3}, "one.md")
	o.Tags = []string{"x"}
	step("other tags", o, engine.IngestReport{Replaced: 4}, "one.md", "two.md")
	o.Metadata = map[string]any{"team": "x"}
	step("other metadata", o, engine.IngestReport{Replaced: 4}, "one.md", "two.md")
	o.Chunk.TargetChars = 200
	step("other chunks", o, engine.IngestReport{Replaced: 4}, "one.md", "two.md")
	step("the same", o, engine.IngestReport{Unchanged: 4})
	f.reopen()
	step("after a restart", o, engine.IngestReport{Unchanged: 4})
}
