package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// storedVectors reports whether the database of a closed data directory holds vectors.
func storedVectors(t *testing.T, dir string) bool {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, store.DatabaseName), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id, err := s.AnyEmbedder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id != 0
}

// TestVectorsAreRecomputed loses the index files of an embedder whose vectors are not stored.
func TestVectorsAreRecomputed(t *testing.T) {
	dir := t.TempDir()
	e := openWith(t, engine.Options{Dir: dir})
	putMany(t, e, 0, 30)
	nearest(t, e, 7)
	e.Close()
	if storedVectors(t, dir) {
		t.Error("the database holds vectors that cost microseconds")
	}
	if err := os.RemoveAll(filepath.Join(dir, store.IndexName)); err != nil {
		t.Fatal(err)
	}
	e = openWith(t, engine.Options{Dir: dir})
	defer e.Close()
	nearest(t, e, 7)
	checked, err := e.Admin().Doctor(t.Context(), engine.DoctorOptions{})
	if err != nil || len(checked.Store.Findings) > 0 {
		t.Errorf("%+v, %v", checked.Store.Findings, err)
	}
}

// TestRecomputedAfterStored opens a directory in turns with an embedder whose vectors are stored, and one of the same
// space whose vectors are not.
func TestRecomputedAfterStored(t *testing.T) {
	dir := t.TempDir()
	g := &gated{Embedder: embed.NewHashing(0)}
	for i, with := range []embed.Embedder{g, embed.NewHashing(0), g} {
		e := openWith(t, engine.Options{Dir: dir, Embedder: with})
		putMany(t, e, 10*i, 10*i+10)
		for _, d := range []int{5, 10*i + 5} {
			nearest(t, e, d)
		}
		// The last turn stores the vectors of the one before, so that nothing depends on index files.
		for end := time.Now().Add(patience); i == 2 && g.texts.Load() < 30; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d of 30 texts were embedded", g.texts.Load())
			}
		}
		e.Close()
	}
	if err := os.RemoveAll(filepath.Join(dir, store.IndexName)); err != nil {
		t.Fatal(err)
	}
	e := openWith(t, engine.Options{Dir: dir, Embedder: g})
	defer e.Close()
	nearest(t, e, 15)
	if n := g.texts.Load(); n != 30 {
		t.Errorf("%d texts were embedded, want 30", n)
	}
}

// TestReembedToRecomputed changes from stored vectors to those of the built-in table, and back.
func TestReembedToRecomputed(t *testing.T) {
	dir := t.TempDir()
	g := &gated{Embedder: embed.NewHashing(64)}
	e := openWith(t, engine.Options{Dir: dir, Embedder: g})
	putMany(t, e, 0, 20)
	for _, to := range []embed.Embedder{builtin.Default(), g} {
		e.Close()
		e = openWith(t, engine.Options{Dir: dir, Embedder: to, Reembed: true})
		jobs, err := e.Jobs().List(t.Context(), store.JobFilter{Kind: engine.JobReembed})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if j, err := e.Jobs().Await(t.Context(), j.ID); err != nil || j.State != store.JobDone {
				t.Fatalf("%+v, %v", j, err)
			}
		}
		if e.Indexes().Embedder() != to.Identity() {
			t.Fatalf("the embedder is %s", e.Indexes().Embedder())
		}
		nearest(t, e, 7)
		e.Close()
		if stored := storedVectors(t, dir); stored != (to == embed.Embedder(g)) {
			t.Errorf("%s: vectors are stored: %t", to.Identity(), stored)
		}
		e = openWith(t, engine.Options{Dir: dir, Embedder: to})
		nearest(t, e, 13)
	}
	e.Close()
}
