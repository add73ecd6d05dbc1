package storetest

import (
	"errors"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// testReopen checks that a closed store refuses writes, and that another opening finds its contents.
func testReopen(t *testing.T, open Opener) {
	dir := t.TempDir()
	f := openIn(t, open, dir, Options{})
	f.doc(t, "a", "one", "")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.DeleteDocument(t.Context(), f.ns, "a"); !errors.Is(err, ragctx.ErrClosed) {
		t.Errorf("a write after close: %v", err)
	}
	if _, _, err := f.Document(t.Context(), f.ns, "a", 0); !errors.Is(err, ragctx.ErrClosed) {
		t.Errorf("a read after close: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	g := openIn(t, open, dir, Options{})
	if g.ns != f.ns || g.embedder != f.embedder {
		t.Errorf("ids changed: %d %d, then %d %d", f.ns, f.embedder, g.ns, g.embedder)
	}
	if _, text, err := g.Document(t.Context(), g.ns, "a", 0); err != nil || text != "one" {
		t.Errorf("%q, %v", text, err)
	}
}

// testHealth checks a store without faults.
func testHealth(t *testing.T, open Opener) {
	f := fresh(t, open)
	f.doc(t, "a", "one", "")
	f.doc(t, "a", "two", "")
	remember(t, f, ragctx.Memory{ID: "m", Content: "x"})
	if err := f.Ready(t.Context()); err != nil || len(f.Failures()) > 0 {
		t.Errorf("%v, failures %v", err, f.Failures())
	}
	done := 0
	r, err := f.Verify(t.Context(), store.VerifyOptions{Embedder: f.embedder, Progress: func(n, _ int) { done = n }})
	if err != nil || r.Items != 3 || r.Chunks != 3 || done != 3 || len(r.Findings) > 0 || r.Damaged() {
		t.Errorf("%+v after %d items, %v", r, done, err)
	}
	end := f.BeginFreeing()
	if _, err := f.DeleteDocument(t.Context(), f.ns, "a"); err != nil {
		t.Errorf("a deletion while space is freed: %v", err)
	}
	end()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Ready(t.Context()); err == nil {
		t.Error("a closed store is ready")
	}
}

// testSettings changes settings and opens the store again.
func testSettings(t *testing.T, open Opener) {
	dir := t.TempDir()
	f := openIn(t, open, dir, Options{})
	want := func(f *world, key, want string) {
		t.Helper()
		if got, err := f.Setting(t.Context(), key); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", key, got, err, want)
		}
	}
	want(f, "a", "")
	for _, value := range []string{"one", "two"} {
		if err := errors.Join(f.SetSetting(t.Context(), "a", value), f.SetSetting(t.Context(), "b", value)); err != nil {
			t.Fatal(err)
		}
		want(f, "a", value)
	}
	if err := errors.Join(f.SetSetting(t.Context(), "b", ""), f.Close()); err != nil {
		t.Fatal(err)
	}
	g := openIn(t, open, dir, Options{})
	want(g, "a", "two")
	want(g, "b", "")
}

// testSnapshot writes a snapshot file and reads its header.
func testSnapshot(t *testing.T, open Opener) {
	f := fresh(t, open)
	f.doc(t, "a", "one", "")
	f.doc(t, "b", "two", "")
	remember(t, f, ragctx.Memory{ID: "m", Content: "x"})
	path := filepath.Join(t.TempDir(), "snapshot")
	info, err := store.SaveSnapshot(t.Context(), f, path, store.SnapshotOptions{})
	if err != nil || info.Documents != 2 || info.Memories != 1 {
		t.Errorf("%+v, %v", info, err)
	}
	read, err := store.ReadSnapshot(t.Context(), path)
	if diff := gocmp.Diff(info, read); diff != "" || err != nil {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
}
