package keyword

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/index"
)

// longText returns the chunks of an item.
func longText(item, first uint64, n int) (chunks []index.TextChunk) {
	r := rand.New(rand.NewPCG(item, 3)) //nolint:gosec // repeatable
	for i := range uint64(n) {          //nolint:gosec // not negative
		chunks = append(chunks, index.TextChunk{
			ID: first + i, Item: item, Title: "part", Extra: "2026",
			Text: fmt.Sprint("shared w", r.IntN(40), " w", r.IntN(900), " only", item, "x", i),
		})
	}
	return chunks
}

// checkLong compares an index that writes long texts to files with one in memory.
func checkLong(t *testing.T, ix, memory *Index) {
	t.Helper()
	for _, q := range []string{"shared w3", "w3 w4 w850", "only7x0 part", "only7x4100", "only5x3"} {
		if d := cmp.Diff(search(t, memory, q), search(t, ix, q)); d != "" {
			t.Errorf("%q (-in memory +in files):\n%s", q, d)
		}
	}
	seen := make(map[uint64]int)
	for i, p := range ix.view.Load().parts {
		for _, id := range p.columns().items {
			if !p.holdsItem(id) {
				continue
			}
			if other, ok := seen[id]; ok && other != i {
				t.Errorf("item %d is in more than one part", id)
			}
			seen[id] = i
		}
	}
}

// A long text is written while it is applied, ends up in one part, and is found as in a memory
// index. That also holds when it is applied again and after reopening.
func TestLongTexts(t *testing.T) {
	dir := t.TempDir()
	memory, ix := mustOpen(t, "", Options{}), mustOpen(t, dir, Options{})
	apply := func(seq uint64, chunks []index.TextChunk, gone ...uint64) {
		for _, to := range []*Index{memory, ix} {
			if err := to.Apply(t.Context(), seq, chunks, gone); err != nil {
				t.Fatal(err)
			}
		}
	}
	apply(1, append(longText(4, 5, 2), longText(5, 10, 5)...))
	batch := append(longText(6, 100, 30), longText(7, 1000, longItem+300)...)
	batch = append(batch, longText(8, 20_000, 3)...)
	apply(2, batch, 5, 6)
	checkLong(t, ix, memory)
	if n := ix.Stats().Pending; n != 33 {
		t.Errorf("%d chunks are in memory, want the short texts' 33", n)
	}
	if ix.Cursor() > 1 {
		t.Errorf("Cursor is %d before the short texts of the batch are written", ix.Cursor())
	}
	apply(2, batch, 5, 6)
	checkLong(t, ix, memory)
	flush(t, ix)
	checkLong(t, ix, memory)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	ix = mustOpen(t, dir, Options{})
	if ix.Recovered() != "" || ix.Cursor() != 2 {
		t.Errorf("opened again: recovered %q, Cursor %d", ix.Recovered(), ix.Cursor())
	}
	checkLong(t, ix, memory)
	var gone []uint64
	for _, u := range longText(7, 1000, longItem+300) {
		gone = append(gone, u.ID)
	}
	apply(3, nil, gone...)
	checkLong(t, ix, memory)
}

// failing is a store whose nth write or merge fails.
type failing struct {
	store
	writes *atomic.Int64 // until the failure
}

func (s failing) write(b batch) error {
	if s.writes.Add(-1) == 0 {
		return errFull
	}
	return s.store.write(b)
}

func (s failing) mergeSmall(ctx context.Context, chunks int) error {
	if s.writes.Add(-1) == 0 {
		return errFull
	}
	return s.store.mergeSmall(ctx, chunks)
}

// After a failure in the middle of a long text, the index accepts the text again. A text that
// cannot be written at all stays in memory and is found.
func TestLongTextCutOff(t *testing.T) {
	memory := mustOpen(t, "", Options{})
	chunks := longText(7, 1000, longItem+10)
	for seq, some := range [][]index.TextChunk{longText(5, 10, 5), chunks} {
		if err := memory.Apply(t.Context(), uint64(seq+1), some, nil); err != nil { //nolint:gosec // not negative
			t.Fatal(err)
		}
	}
	const writes = longItem/longBatch + 3 // batches, the merge, the last state
	for _, fails := range []int64{1, 2, writes - 2, writes - 1, writes} {
		var left atomic.Int64
		dir := t.TempDir()
		ix, err := open(dir, Options{}, func(dir string) (store, error) {
			s, err := openScorch(dir)
			return failing{s, &left}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := ix.Apply(t.Context(), 1, longText(5, 10, 5), nil); err != nil {
			t.Fatal(err)
		}
		flush(t, ix)
		left.Store(fails)
		if err := ix.applyLong(t.Context(), [][]index.TextChunk{slices.Clone(chunks)}); !errors.Is(err, errFull) {
			t.Fatalf("write %d of %d fails: %v", fails, writes, err)
		}
		left.Store(0)
		if err := ix.Close(); err != nil { // like the end of the process: nothing is left in memory
			t.Fatal(err)
		}
		ix = mustOpen(t, dir, Options{})
		if ix.Recovered() != "" || ix.Cursor() != 1 {
			t.Errorf("write %d failed: recovered %q, Cursor %d", fails, ix.Recovered(), ix.Cursor())
		}
		if err := ix.Apply(t.Context(), 2, chunks, nil); err != nil {
			t.Fatal(err)
		}
		checkLong(t, ix, memory)
		_ = ix.Close()
	}
	var left atomic.Int64
	ix, err := open(filepath.Join(t.TempDir(), "kept"), Options{}, func(dir string) (store, error) {
		s, err := openScorch(dir)
		return failing{s, &left}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	if err := ix.Apply(t.Context(), 1, longText(5, 10, 5), nil); err != nil {
		t.Fatal(err)
	}
	flush(t, ix)
	left.Store(1)
	if err := ix.Apply(t.Context(), 2, chunks, nil); err != nil {
		t.Fatal(err)
	}
	checkLong(t, ix, memory)
	flush(t, ix)
	checkLong(t, ix, memory)
}
