package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs/watch"
)

// texts returns what documents of a namespace there are.
func (f *fixture) texts(namespace string) map[string]string {
	f.t.Helper()
	list, err := f.Documents().List(f.t.Context(), namespace, store.ListOptions{Limit: engine.MaxPage})
	if err != nil {
		f.t.Fatal(err)
	}
	out := make(map[string]string)
	for _, d := range list {
		_, out[d.ID], _ = f.Documents().Get(f.t.Context(), namespace, d.ID, 0) // gone meanwhile
	}
	return out
}

// watched watches until the test ends.
func (f *fixture) watched(o engine.IngestOptions, tell func(engine.IngestReport, error)) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		w := watch.Options{Quiet: 5 * time.Millisecond, Burst: 50 * time.Millisecond, Retry: 20 * time.Millisecond}
		err := f.Documents().Watch(ctx, o, w, func(_ string, r engine.IngestReport, err error) {
			if tell != nil {
				tell(r, err)
			}
		})
		if err != nil {
			f.t.Error(err)
		}
	})
	f.t.Cleanup(func() { stop(); running.Wait() })
}

// becomes waits until the documents of a namespace equal those of a fresh ingest.
func (f *fixture) becomes(what string, o engine.IngestOptions) {
	f.t.Helper()
	fresh := make(kept)
	o.Workers = 1
	if _, err := engine.Ingest(f.t.Context(), fresh, o); err != nil {
		f.t.Fatal(err)
	}
	want := make(map[string]string)
	for id, d := range fresh {
		want[id] = d.text
	}
	var got map[string]string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if got = f.texts(""); maps.Equal(got, want) {
			return
		}
	}
	f.t.Fatalf("%s: documents %v, want %v", what, got, want)
}

// TestWatch: after any changes of files and their contents, the documents equal those of a fresh
// ingest, and few jobs are left.
func TestWatch(t *testing.T) {
	f := open(t, func(o *engine.Options) { o.Extract = listed })
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, map[string]string{"keep.md": ":keep\n"})
	o := engine.IngestOptions{Paths: []string{dir}, Extract: listed}
	f.watched(o, nil)
	f.becomes("at the beginning", o)
	rnd := rand.New(rand.NewPCG(3, 4))
	at := func() string { return filepath.Join(dir, []string{".", "a", "b", "a/b"}[rnd.IntN(4)]) }
	for round := range 12 {
		for range 1 + rnd.IntN(8) {
			file := filepath.Join(at(), fmt.Sprint(rnd.IntN(3), ".md"))
			switch rnd.IntN(6) {
			case 0:
				_ = os.Remove(file)
			case 1:
				if d := at(); d != dir {
					_ = os.RemoveAll(d)
				}
			case 2:
				if d := at(); d != dir {
					_ = os.Rename(d, at())
				}
			default:
				text := ""
				for i := range rnd.IntN(4) {
					text += fmt.Sprintf("%d.md:text %d\n", i, rnd.IntN(9))
				}
				_ = os.MkdirAll(filepath.Dir(file), 0o755)
				_ = os.WriteFile(file+".tmp", []byte(text+":all\n"), 0o600)
				_ = os.Rename(file+".tmp", file)
			}
		}
		f.becomes(fmt.Sprint("round ", round), o)
	}
	if jobs, err := f.Jobs().List(t.Context(), store.JobFilter{}); err != nil || len(jobs) > 11 {
		t.Errorf("%d jobs are left, %v", len(jobs), err)
	}
}

// TestSyncLeavesNoTrace: a job that changed nothing is not kept, one that did is.
func TestSyncLeavesNoTrace(t *testing.T) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, map[string]string{"a.md": "alpha", "bad.md": "\x00", "x.png": ""})
	o := engine.IngestOptions{Paths: []string{dir}}
	for round, jobs := range []int{1, 1, 1} {
		r, err := f.Documents().Sync(t.Context(), o)
		if err != nil || r.Files() != 1 || r.Changed() != (round == 0) || len(r.Skipped) != 1 || r.LeftOut.Types["png"] != 1 {
			t.Errorf("round %d: %+v, %v", round, r, err)
		}
		if list, err := f.Jobs().List(t.Context(), store.JobFilter{}); err != nil || len(list) != jobs {
			t.Errorf("round %d: %d jobs, %v", round, len(list), err)
		}
	}
	if _, err := f.Documents().Sync(t.Context(), engine.IngestOptions{Paths: []string{filepath.Join(dir, "missing")}}); err == nil {
		t.Error("a missing folder is no error")
	}
}

// TestEmptyFolders: what KeepEmpty is for.
func TestEmptyFolders(t *testing.T) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, map[string]string{"a.md": "alpha"})
	o := engine.IngestOptions{Paths: []string{dir}}
	f.ingest(o)
	if err := os.Remove(filepath.Join(dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	o.KeepEmpty = true
	if r := f.ingest(o); r.Deleted != 0 || len(r.Skipped) != 1 || r.Skipped[0].Path != dir {
		t.Errorf("%+v", r)
	}
	if r := f.sent(t, o); r.Deleted != 0 || len(r.Skipped) != 1 || r.Skipped[0].Path != dir {
		t.Errorf("by a job: %+v", r)
	}
	o.KeepEmpty = false
	if r := f.ingest(o); r.Deleted != 1 {
		t.Errorf("%+v", r)
	}
	if r := f.ingest(o); len(r.Skipped) != 0 {
		t.Errorf("when nothing is there: %+v", r)
	}
}

// TestDriveGoesDuringIngest: a folder that becomes another one while it is ingested
// loses nothing.
func TestDriveGoesDuringIngest(t *testing.T) {
	f := open(t)
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, map[string]string{"a.md": "alpha", "b.md": "beta", "c.md": "gamma"})
	f.ingest(engine.IngestOptions{Paths: []string{dir}})
	write(t, dir, map[string]string{"a.md": "alpha two"})
	o := engine.IngestOptions{Paths: []string{dir}, Workers: 1, Open: func(path string, o engine.IngestOptions) (engine.Source, error) {
		o.Open = nil
		root, err := engine.OpenPath(path, o)
		return root, errors.Join(err, os.Rename(dir, dir+".drive"), os.Mkdir(dir, 0o755))
	}}
	if r, err := engine.Ingest(t.Context(), f.Documents(), o); err != nil || r.Deleted != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := f.ids(); len(got) != 3 {
		t.Errorf("ids %v", got)
	}
}
