package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

func TestFolderJob(t *testing.T) {
	f := open(t, paused)
	g := newGate(5)
	f.Inject(engine.Faults{Put: g.put})
	f.Jobs().Start()
	dir := filepath.Join(t.TempDir(), "guide")
	files := map[string]string{"bad.md": "\x00binary", "x.png": ""}
	for i := range 40 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf("# File %d\n\ntext w%d", i, i)
	}
	write(t, dir, files)
	o := engine.IngestOptions{Paths: []string{dir}}
	j, err := f.Documents().Ingest(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	<-g.blocked
	if same, err := f.Documents().Ingest(t.Context(), o); err != nil || same.ID != j.ID {
		t.Errorf("the same again: %+v, %v", same, err)
	}
	if other, err := f.Documents().Ingest(t.Context(), engine.IngestOptions{Paths: []string{dir}, Prefix: "x", Namespace: "n"}); err != nil || other.ID == j.ID {
		t.Errorf("another one: %+v, %v", other, err)
	}
	time.AfterFunc(5*time.Millisecond, func() { close(g.open) })
	f.opts.PauseJobs = false
	f.reopen()
	j = f.await(j.ID)
	if j.State != store.JobDone || j.Counts.Created+j.Counts.Unchanged != 40 || j.Counts.Created < 5 || j.Counts.Skipped != 1 || j.Items != 41 {
		t.Errorf("%+v", j)
	}
	if got := string(j.Result); got != `{"left_out":{"types":{"png":1}}}` {
		t.Errorf("result %s", got)
	}
	if s := f.items(j.ID, store.ItemSkipped); len(s) != 1 || s[0].Key != filepath.Join(dir, "bad.md") || !strings.Contains(s[0].Error, "binary") {
		t.Errorf("%+v", s)
	}
	if err := os.Remove(filepath.Join(dir, "01.md")); err != nil {
		t.Fatal(err)
	}
	j, err = f.Documents().Ingest(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if j = f.await(j.ID); j.Counts.Deleted != 1 || j.Counts.Unchanged != 39 {
		t.Errorf("again: %+v", j)
	}
	if _, err := f.Documents().Ingest(t.Context(), engine.IngestOptions{Paths: []string{filepath.Join(dir, "missing")}}); err != nil {
		t.Error(err)
	}
}

// TestCountEntries counts as many files as an ingest reports.
func TestCountEntries(t *testing.T) {
	f := open(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "text", "sub/b.md": "\x00\x01", "c.md": "", "d.unknown": "x"})
	var last engine.IngestProgress
	calls := 0
	r := f.ingest(engine.IngestOptions{Paths: []string{dir}, Workers: 1, Progress: func(p engine.IngestProgress) {
		calls++
		last = p
	}})
	n, err := engine.CountEntries(t.Context(), engine.IngestOptions{Paths: []string{dir}})
	if err != nil || n != calls || n != r.Files()+len(r.Skipped) || last.Skipped != len(r.Skipped) {
		t.Errorf("counted %d, %v; ingest reported %d: %+v, %+v", n, err, calls, last, r)
	}
	if n, err := engine.CountEntries(t.Context(), engine.IngestOptions{Paths: []string{dir, filepath.Join(dir, "missing")}}); err == nil {
		t.Errorf("counted %d with a missing folder", n)
	}
}

// TestCollect: collected changes applied as a job give the same result as an ingest.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	here := filepath.Join(dir, "docs")
	two := filepath.Join(dir, "elsewhere", "docs")
	write(t, here, map[string]string{"a.md": "alpha", "sub/b.md": "beta", "bad.md": "\x00", "x.png": ""})
	write(t, two, map[string]string{"a.md": "other"})
	collected, ingested := open(t), open(t)
	both := func(o engine.IngestOptions) {
		t.Helper()
		r := ingested.ingest(o)
		s, err := collected.Jobs().QueueDocuments(t.Context(), engine.DocumentQueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		n, unchanged, skipped, left := 0, 0, []engine.Skipped{}, docs.LeftOut{}
		for ch, err := range engine.Collect(t.Context(), collected.Documents().List, o) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			switch {
			case ch.Skip != "":
				skipped = append(skipped, engine.Skipped{Path: ch.Path, Reason: ch.Skip})
			case ch.Unchanged > 0:
				unchanged += ch.Unchanged
			case ch.LeftOut != nil:
				left.Add(*ch.LeftOut)
			case ch.Delete != "":
				err = s.Delete(t.Context(), n, ch.Delete)
			default:
				err = s.Put(t.Context(), n, *ch.Document, engine.Origin{Root: ch.Root, MovedFrom: ch.MovedFrom, Stat: ch.Stat})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var c store.JobCounts
		if j, err := s.Accept(t.Context()); err == nil {
			c = collected.await(j.ID).Counts
		} else if !errors.Is(err, ragctx.ErrInvalid) {
			t.Fatal(err)
		}
		c.Unchanged += unchanged
		if want := (store.JobCounts{Created: r.Created, Replaced: r.Replaced, Unchanged: r.Unchanged, Deleted: r.Deleted}); c != want {
			t.Errorf("%+v, want %+v", c, want)
		}
		if !reflect.DeepEqual(left, r.LeftOut) {
			t.Errorf("left out %v, want %v", left, r.LeftOut)
		}
		if !slices.Equal(skipped, r.Skipped) {
			t.Errorf("skipped %v, want %v", skipped, r.Skipped)
		}
		if !slices.Equal(collected.ids(), ingested.ids()) {
			t.Errorf("ids %v, want %v", collected.ids(), ingested.ids())
		}
	}
	o := engine.IngestOptions{Paths: []string{here}, Tags: []string{"x"}, Workers: 1}
	both(o)
	both(o)
	o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	both(o)
	both(o)
	both(engine.IngestOptions{Paths: []string{two, filepath.Join(here, "a.md")}, Workers: 1})
	if err := os.RemoveAll(filepath.Join(here, "sub")); err != nil {
		t.Fatal(err)
	}
	both(o)
	if err := os.Rename(here, filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	both(engine.IngestOptions{Paths: []string{filepath.Join(dir, "moved")}, Prefix: "docs", Workers: 1})
}

// TestOtherKinds: any long work can be a job.
func TestOtherKinds(t *testing.T) {
	f := open(t, paused)
	runs := make(chan string, 10)
	register := func() {
		f.RegisterJob("count", func(ctx context.Context, stage func(string), result func(any) error) error {
			stage("counting")
			runs <- "run"
			if len(runs) == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return result(map[string]int{"counted": 3})
		})
		f.Jobs().Start()
	}
	register()
	j, err := f.SubmitJob(t.Context(), "count", map[string]int{"to": 3})
	if err != nil {
		t.Fatal(err)
	}
	for len(runs) == 0 {
		time.Sleep(time.Millisecond)
	}
	f.reopen()
	register()
	j = f.await(j.ID)
	if j.State != store.JobDone || string(j.Result) != `{"counted":3}` || len(runs) != 2 {
		t.Errorf("%+v, %d runs", j, len(runs))
	}
}
