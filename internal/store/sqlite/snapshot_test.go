package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

func snapshot(t *testing.T, f *fixture) (string, store.SnapshotInfo) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.snapshot")
	var last, of int64
	info, err := f.Snapshot(t.Context(), path, store.SnapshotOptions{Progress: func(done, total int64) { last, of = done, total }})
	if err != nil {
		t.Fatal(err)
	}
	if last != of || last == 0 {
		t.Errorf("progress ended at %d of %d", last, of)
	}
	return path, info
}

func TestSnapshotAndRestore(t *testing.T) {
	f := fresh(t)
	f.doc(t, "a", "one", "")
	f.doc(t, "a", "two", "")
	f.doc(t, "b", "three", "")
	if _, _, err := f.long(t, t.Context(), "long", 1, 1500); err != nil {
		t.Fatal(err)
	}
	path, info := snapshot(t, f)
	if info.Documents != 3 || info.Namespaces != 1 || info.Bytes == 0 || info.Schema == 0 {
		t.Errorf("%+v", info)
	}
	f.doc(t, "c", "after the snapshot", "")
	if read, err := store.ReadSnapshot(t.Context(), path); err != nil || read != info {
		t.Errorf("%+v, %v", read, err)
	}
	dir := t.TempDir()
	if got, err := sqlite.Restore(t.Context(), path, dir, store.RestoreOptions{}); err != nil || got != info {
		t.Fatalf("%+v, %v", got, err)
	}
	g := open(t, filepath.Join(dir, store.DatabaseName))
	for _, c := range []struct {
		id      string
		version int
	}{{"a", 1}, {"a", 2}, {"b", 0}, {"long", 0}} {
		want, text, err := f.Document(t.Context(), f.ns, c.id, c.version)
		if err != nil {
			t.Fatal(err)
		}
		if got, gotText, err := g.Document(t.Context(), g.ns, c.id,
			c.version); err != nil || gotText != text || !got.Recorded.Equal(want.Recorded) {
			t.Errorf("%s: %+v, %v", c.id, got, err)
		}
	}
	if _, _, err := g.Document(t.Context(), g.ns, "c", 0); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("what came after the snapshot: %v", err)
	}
	if _, err := f.Snapshot(t.Context(), path, store.SnapshotOptions{}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a file that exists: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
		t.Errorf("files beside the snapshot: %v, %v", left, err)
	}
}

func TestRestoreReplacesOnlyByForce(t *testing.T) {
	f := fresh(t)
	f.doc(t, "a", "new", "")
	path, _ := snapshot(t, f)
	dir := t.TempDir()
	old := open(t, filepath.Join(dir, store.DatabaseName))
	old.doc(t, "a", "old", "")
	freeze(t, old, filepath.Join(dir, "crashed.db"))
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	// As after a crash: the old database has a log.
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Rename(filepath.Join(dir, "crashed.db"+suffix), old.path+suffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, store.IndexName, "1-documents"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), path, dir, store.RestoreOptions{}); !errors.Is(err, ragctx.ErrConflict) {
		t.Fatalf("without force: %v", err)
	}
	if _, err := sqlite.Restore(t.Context(), path, dir, store.RestoreOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	g := open(t, old.path)
	if _, text, err := g.Document(t.Context(), g.ns, "a", 0); err != nil || text != "new" {
		t.Errorf("%q, %v", text, err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 { // the database and its state
		t.Errorf("left in the directory: %v, %v", left, err)
	}
}

// TestDamagedSnapshots changes a snapshot in every way, none of which touches
// the data directory.
func TestDamagedSnapshots(t *testing.T) {
	f := fresh(t)
	f.doc(t, "a", "one", "")
	path, _ := snapshot(t, f)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(name string, b []byte) {
		bad := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		_, err := sqlite.Restore(t.Context(), bad, dir, store.RestoreOptions{})
		if !errors.Is(err, ragctx.ErrInvalid) && !errors.Is(err, ragctx.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: left in the directory: %v, %v", name, left, err)
		}
	}
	try("nothing", nil)
	try("another file", []byte("hello"))
	try("more behind it", append(bytes.Clone(whole), 0))
	for i := 0; i < len(whole); i += 1 + len(whole)/60 {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 0x10
		try(fmt.Sprintf("byte %d of %d flipped", i, len(whole)), flipped)
		try(fmt.Sprintf("cut off at %d of %d", i, len(whole)), whole[:i])
	}
	newer := bytes.Replace(whole, []byte(`"format":1`), []byte(`"format":9`), 1)
	try("a newer format", newer)
	if _, err := store.ReadSnapshot(t.Context(), path+"?"); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestSnapshotDuringWrites takes snapshots while documents are replaced; each is
// whole and restores.
func TestSnapshotDuringWrites(t *testing.T) {
	f := fresh(t)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			f.doc(t, fmt.Sprint(i%3), strings.Repeat(fmt.Sprint("text ", i, " "), 50), "")
		}
	})
	for range 3 {
		path, info := snapshot(t, f)
		dir := t.TempDir()
		if _, err := sqlite.Restore(t.Context(), path, dir, store.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		g := open(t, filepath.Join(dir, store.DatabaseName))
		r, err := g.Verify(t.Context(), store.VerifyOptions{Embedder: g.embedder})
		if err != nil || r.Damaged() {
			t.Errorf("%+v, %v", r, err)
		}
		if n, err := g.DescribeNamespace(t.Context(), "default"); err != nil || n.Documents != info.Documents {
			t.Errorf("%d documents of %d, %v", n.Documents, info.Documents, err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
}
