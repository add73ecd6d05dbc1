package index_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
)

// TestDeferred has an index that takes nothing until it is released. Changes do not wait for it, what was removed is hidden at once, and
// searches are degraded until the index has the rest.
func TestDeferred(t *testing.T) {
	q := index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s", K: 9}
	for _, away := range []string{"keyword", "vector", "opening"} {
		t.Run(away, func(t *testing.T) {
			release := make(chan struct{})
			o := index.Options{Space: index.Space{Name: "s"}, Deferred: true}
			words, near := newWords(), newArrows()
			switch away {
			case "keyword":
				o.Keyword = func(context.Context) (index.KeywordIndex, error) { return laboriousWords{words, release}, nil }
			case "vector":
				o.Vector = func(context.Context, index.Space) (index.VectorIndex, error) {
					return laboriousArrows{near, release}, nil
				}
			case "opening":
				o.Keyword = func(context.Context) (index.KeywordIndex, error) { <-release; return words, nil }
			}
			h := newHarness(t, o)
			defer h.Close()
			h.feed.add(one(1, "apple", 1, 0))
			h.feed.add(one(2, "apple pie", 1, 0))
			h.feed.add(index.Batch{Seq: 3, Removed: []index.Removal{{Item: 1, Chunks: []uint64{1}}}})
			if err := h.CatchUp(t.Context(), 3); err != nil { // returns while nothing is released
				t.Fatal(err)
			}
			r, err := h.Search(t.Context(), q)
			if err == nil && (len(r.Degraded) == 0 || slices.Contains(ids(r), 1)) {
				t.Errorf("while an index is away: %v, degraded %v", ids(r), r.Degraded)
			}
			close(release)
			for err != nil { // until both indexes are open
				_, err = h.Search(t.Context(), q)
			}
			if r := settle(t, h, q); !slices.Equal(ids(r), []uint64{2}) {
				t.Errorf("afterwards: %v", ids(r))
			}
			for n := uint64(4); n < 50; n++ {
				h.feed.add(one(n, "apple", 1, 0))
				if err := h.CatchUp(t.Context(), n); err != nil {
					t.Fatal(err)
				}
				if r := search(t, h, q); len(r.Degraded) == 0 && len(ids(r)) != min(9, int(n)-2) {
					t.Errorf("after change %d: %v, not degraded", n, ids(r))
				}
			}
			if err := h.Compact(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCompactWhileWritten compacts an index in the background to which each batch brings the next. That ends with what was there
// when it began.
func TestCompactWhileWritten(t *testing.T) {
	var h *harness
	busy := &busyWords{words: newWords()}
	h = newHarness(t, index.Options{
		Deferred: true, Keyword: func(context.Context) (index.KeywordIndex, error) { return busy, nil },
	})
	defer h.Close()
	defer busy.next.Store(nil)
	write := func() {
		seq := busy.seq.Add(1)
		h.feed.add(one(seq, "apple", 1, 0))
		_ = h.CatchUp(t.Context(), seq)
	}
	busy.next.Store(&write)
	write()
	ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	if err := h.Compact(ctx); err != nil {
		t.Fatal(err)
	}
}

// busyWords call next with each batch.
type busyWords struct {
	*words

	seq  atomic.Uint64
	next atomic.Pointer[func()]
}

func (b *busyWords) Apply(ctx context.Context, seq uint64, upserts []index.TextChunk, deletes []uint64) error {
	if next := b.next.Load(); next != nil {
		(*next)()
	}
	return b.words.Apply(ctx, seq, upserts, deletes)
}

// laboriousArrows take a batch once they are released.
type laboriousArrows struct {
	*arrows

	release <-chan struct{}
}

func (l laboriousArrows) Apply(ctx context.Context, seq uint64, up []index.VectorChunk, del []uint64) error {
	<-l.release
	return l.arrows.Apply(ctx, seq, up, del)
}
