package engine_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// TestEraseBesideASlowSnapshot erases while a snapshot is read slowly: no file contains the erased
// text, compressed or encrypted with a known key, with or without a name.
func TestEraseBesideASlowSnapshot(t *testing.T) {
	f := open(t)
	f.put("d", "The ZqsnapshotXw is erased while it is read.")
	var slow sync.WaitGroup
	var readers []*io.PipeReader
	written := make([]*bytes.Buffer, engine.MaxSnapshots)
	for i := range engine.MaxSnapshots {
		r, w := io.Pipe()
		readers, written[i] = append(readers, r), new(bytes.Buffer)
		slow.Go(func() {
			_, err := f.Admin().WriteSnapshot(t.Context(), w, store.SnapshotOptions{})
			if err != nil {
				t.Error(err)
			}
			w.CloseWithError(err)
		})
		one := make([]byte, 1)
		if _, err := io.ReadFull(r, one); err != nil { // it is made, and now it is read
			t.Fatal(err)
		}
		written[i].Write(one)
	}
	if _, err := f.Admin().WriteSnapshot(t.Context(), io.Discard, store.SnapshotOptions{}); !errors.Is(err, ragctx.ErrLimited) {
		t.Errorf("one snapshot more than the limit: %v", err)
	}
	if e, err := f.Documents().Erase(t.Context(), "", "d"); err != nil || e.Documents != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	if in := tracesIn(t, f.opts.Dir, "ZqsnapshotXw"); len(in) > 0 {
		t.Errorf("it is still in %v", in)
	}
	open, err := filepath.Glob("/proc/self/fd/*") // where there is such a thing
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range open {
		to, err := os.Readlink(name)
		if err != nil || !strings.HasPrefix(to, f.opts.Dir) {
			continue
		}
		b, err := os.ReadFile(name)
		if err == nil && bytes.Contains(b, []byte("ragctx snapshot\n")) {
			t.Errorf("%s is a snapshot that anybody can read", to)
		}
	}
	for i, r := range readers {
		if _, err := io.Copy(written[i], r); err != nil {
			t.Error(err)
		}
	}
	slow.Wait()
	for _, w := range written {
		name := filepath.Join(t.TempDir(), "snapshot")
		if err := os.WriteFile(name, w.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if info, err := store.ReadSnapshot(t.Context(), name); err != nil || info.Documents != 1 {
			t.Errorf("what was read: %+v, %v", info, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(f.opts.Dir, store.SnapshotTempPrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := f.Admin().WriteSnapshot(t.Context(), io.Discard, store.SnapshotOptions{}); err != nil {
		t.Errorf("once they are done: %v", err)
	}
}
