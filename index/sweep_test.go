package index_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
)

// farWords and farArrows are indexes that others can add chunks to. Their copies do not answer while broken.
type (
	farWords  struct{ *words }
	farArrows struct{ *arrows }
)

func visitAll[V any](mu sync.Locker, chunks map[uint64]V, broken error, visit func([]uint64) error) error {
	mu.Lock()
	all := slices.Sorted(maps.Keys(chunks))
	mu.Unlock()
	for some := range slices.Chunk(all, 3) {
		if err := visit(some); err != nil {
			return err
		}
	}
	return broken
}

func (w farWords) Stored(_ context.Context, visit func([]uint64) error) error {
	return visitAll(&w.mu, w.chunks, w.broken, visit)
}

func (w farWords) Purge(ctx context.Context, chunks []uint64) error {
	return w.Apply(ctx, 0, nil, chunks)
}

func (a farArrows) Stored(_ context.Context, visit func([]uint64) error) error {
	return visitAll(&a.mu, a.chunks, a.broken, visit)
}

func (a farArrows) Purge(ctx context.Context, chunks []uint64) error {
	return a.Apply(ctx, 0, nil, chunks)
}

// TestSweep adds chunks to both indexes that were removed, that never were, and those of changes that the catalog does not have yet. A
// sweep leaves exactly the chunks of the store.
func TestSweep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, a := newWords(), newArrows()
		h := newHarness(t, index.Options{
			Keyword: func(context.Context) (index.KeywordIndex, error) { return farWords{w}, nil },
			Vector:  func(context.Context, index.Space) (index.VectorIndex, error) { return farArrows{a}, nil },
		})
		defer h.Close()
		live := make(map[uint64]bool)
		var gone []uint64
		put := func(id uint64) {
			w.mu.Lock()
			w.chunks[id] = "apple"
			w.mu.Unlock()
			a.mu.Lock()
			a.chunks[id] = []float32{1, 0}
			a.mu.Unlock()
		}
		for seq := range uint64(rapid.IntRange(1, 30).Draw(t, "changes")) {
			seq++
			b := one(seq, "apple", 1, 0)
			if ids := slices.Sorted(maps.Keys(live)); len(ids) > 0 && rapid.Bool().Draw(t, "remove") {
				id := rapid.SampledFrom(ids).Draw(t, "removed")
				b = index.Batch{Seq: seq, Removed: []index.Removal{{Item: id, Chunks: []uint64{id}}}}
				delete(live, id)
				gone = append(gone, id)
			} else {
				live[seq] = true
			}
			if rapid.Bool().Draw(t, "applied") {
				apply(t, h, b)
			} else if h.feed.add(b); len(b.Add) > 0 {
				put(seq) // fed before the catalog has it
			}
			if len(gone) > 0 && rapid.Bool().Draw(t, "returns") {
				put(rapid.SampledFrom(gone).Draw(t, "returned"))
			}
			if rapid.Bool().Draw(t, "foreign") {
				put(1000 + seq)
			}
			if rapid.Bool().Draw(t, "swept") {
				if _, err := h.hybrid.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				for id := range live {
					if w.chunks[id] == "" || a.chunks[id] == nil {
						t.Fatalf("chunk %d of the store was deleted", id)
					}
				}
			}
		}
		if err := h.CatchUp(t.Context(), 30); err != nil {
			t.Fatal(err)
		}
		if _, err := h.hybrid.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(maps.Keys(live))
		if got := slices.Sorted(maps.Keys(w.chunks)); !slices.Equal(got, want) {
			t.Fatalf("words of %v, want %v", got, want)
		}
		if got := slices.Sorted(maps.Keys(a.chunks)); !slices.Equal(got, want) {
			t.Fatalf("vectors of %v, want %v", got, want)
		}
	})
}

// TestSweepFails deletes what the store does not have, and reports a copy that does not answer.
func TestSweepFails(t *testing.T) {
	w := newWords()
	h := newHarness(t, index.Options{Keyword: func(context.Context) (index.KeywordIndex, error) { return farWords{w}, nil }})
	defer h.Close()
	apply(t, h, one(1, "apple"))
	w.chunks[7] = "apple"
	deleted, err := h.hybrid.Sweep(t.Context())
	if deleted != 1 || err != nil || len(w.chunks) != 1 {
		t.Fatalf("deleted %d, %v; %v remain", deleted, err, w.chunks)
	}
	w.broken = errBroken
	if _, err := h.hybrid.Sweep(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("a copy that does not answer: %v", err)
	}
}
