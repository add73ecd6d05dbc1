package keyword

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/logtest"
)

// fullDisk is a store whose writes fail while full is set.
type fullDisk struct {
	store
	full *atomic.Bool
}

var errFull = errors.New("no space left on device")

func (s fullDisk) write(b batch) error {
	if s.full.Load() {
		return errFull
	}
	return s.store.write(b)
}

func openFull(full *atomic.Bool) func(string) (store, error) {
	return func(dir string) (store, error) {
		s, err := openScorch(dir)
		return fullDisk{s, full}, err
	}
}

func TestDiskFull(t *testing.T) {
	var full atomic.Bool
	log := new(logtest.Buffer)
	dir := t.TempDir()
	ix, err := open(dir, Options{FlushChunks: 4, Logger: slog.New(slog.NewTextHandler(log, nil))}, openFull(&full))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, ix, 10)
	full.Store(true)
	for i := uint64(10); i < 60; i++ {
		if err := ix.Apply(t.Context(), i+1, []index.TextChunk{{ID: i, Item: i, Text: "shared"}}, []uint64{i - 10}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ix.Flush(t.Context()); !errors.Is(err, errFull) {
		t.Errorf("Flush: %v, want the disk's error", err)
	}
	if n, st := len(search(t, ix, "shared").Hits), ix.Stats(); n != 10 || st.Pending != 10 || ix.Cursor() != 10 {
		t.Errorf("%d hits, %+v, Cursor %d; want 10 hits, all pending, Cursor 10", n, st, ix.Cursor())
	}
	if !strings.Contains(log.String(), errFull.Error()) {
		t.Error("the failure in the background was not logged")
	}
	full.Store(false)
	flush(t, ix)
	if n, st := len(search(t, ix, "shared").Hits), ix.Stats(); n != 10 || st.Pending != 0 || ix.Cursor() != 60 {
		t.Errorf("after the disk has room: %d hits, %+v, Cursor %d", n, st, ix.Cursor())
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, dir, Options{})
	if n := len(search(t, again, "shared").Hits); n != 10 || again.Recovered() != "" {
		t.Errorf("after reopening: %d hits, recovered %q", n, again.Recovered())
	}
}

// A flush can be cancelled between its batches.
func TestFlushCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	ix, err := open(dir, Options{FlushChunks: 1 << 20}, func(dir string) (store, error) {
		s, err := openScorch(dir)
		return cancelling{s, cancel}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	chunks := make([]index.TextChunk, 3*segmentChunks) // of a word each: it is about their number
	for i := range chunks {
		chunks[i] = index.TextChunk{ID: uint64(i), Item: uint64(i), Text: "storm"}
	}
	if err := ix.Apply(t.Context(), 1, chunks, nil); err != nil {
		t.Fatal(err)
	}
	if err := ix.Flush(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Flush: %v, want context.Canceled", err)
	}
	if st := ix.Stats(); st.Chunks != len(chunks) || st.Pending != len(chunks) || ix.Cursor() != 0 {
		t.Errorf("after it was called off: %+v, Cursor %d", st, ix.Cursor())
	}
	flush(t, ix)
	if st := ix.Stats(); st.Chunks != len(chunks) || st.Pending != 0 || ix.Cursor() != 1 {
		t.Errorf("after another: %+v, Cursor %d", st, ix.Cursor())
	}
}

type cancelling struct {
	store
	cancel context.CancelFunc
}

func (s cancelling) write(b batch) error {
	s.cancel()
	return s.store.write(b)
}

// rotten is a segment that panics when it is read.
type rotten struct{ segment }

func (rotten) postings(lookup, bitset, []posting) ([]posting, error) {
	panic("rotten")
}

func (rotten) among(subsetLookup, []posting) ([]posting, docFreq, error) { panic("rotten") }

func (rotten) locate([]uint64, []uint32) ([]uint32, error) { panic("rotten") }

func TestPanicInSegment(t *testing.T) {
	dir := stored(t)
	ix := mustOpen(t, dir, Options{})
	v := ix.view.Load()
	v.parts[0].segment = rotten{v.parts[0].segment}
	if _, err := ix.Search(t.Context(), index.KeywordQuery{Text: "shared", K: 1}); err == nil {
		t.Error("Search: no error")
	}
	if err := ix.Apply(t.Context(), 99, nil, []uint64{1}); err == nil {
		t.Error("Apply: no error")
	}
	if _, err := os.Stat(filepath.Join(dir, damagedFile)); err != nil {
		t.Errorf("the damage was not noted: %v", err)
	}
	_ = ix.Close()
	if again := mustOpen(t, dir, Options{}); again.Recovered() == "" {
		t.Error("a damaged index was opened")
	}
}

func TestOptions(t *testing.T) {
	for _, opts := range []Options{{FlushChunks: -1}, {LongText: -1}} {
		if ix, err := Open("", opts); err == nil {
			_ = ix.Close()
			t.Errorf("%+v was accepted", opts)
		}
	}
}
