package index_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
)

// TestLegThatGetsTheRestDuringASearch has the indexes given what they lack after they
// were searched, and before the search ends. What they found is not all there is,
// and the answer must say so.
func TestLegThatGetsTheRestDuringASearch(t *testing.T) {
	for _, ix := range []string{"keyword", "vector"} {
		t.Run(ix, func(t *testing.T) {
			f := &gated{gate: make(chan struct{})}
			f.add(one(1, "apple", 1, 0))
			var h *harness
			fed := func() {
				close(f.gate)
				for h.health(t).Keyword.State != index.Ready || h.health(t).Vector.State != index.Ready {
					time.Sleep(time.Millisecond)
				}
			}
			o := index.Options{Feed: f, Space: index.Space{Name: "s"}, OpenWait: 10 * time.Millisecond}
			if ix == "keyword" {
				o.Keyword = func(context.Context) (index.KeywordIndex, error) { return lateWords{newWords(), fed}, nil }
			} else {
				o.Vector = func(context.Context, index.Space) (index.VectorIndex, error) {
					return lateArrows{newArrows(), fed}, nil
				}
			}
			h = newHarness(t, o)
			defer h.Close()
			q := index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s", Fusion: index.Fusion{Method: ix}}
			if r := search(t, h, q); len(r.Hits) > 0 || !slices.Equal(r.Degraded, []string{ix}) {
				t.Errorf("found %v, degraded %v; want nothing by a degraded index", ids(r), r.Degraded)
			}
		})
	}
}

// Opening an index waits for its indexes as long as it is told to, whatever an index makes of what
// it is given, and questions are answered by the others.
func TestOpenBesideALegThatTakesLong(t *testing.T) {
	var f history
	f.add(one(1, "apple", 1, 0))
	release := make(chan struct{})
	h := newHarness(t, index.Options{
		Feed: &f, Space: index.Space{Name: "s"}, OpenWait: 10 * time.Millisecond,
		Keyword: func(context.Context) (index.KeywordIndex, error) { return laboriousWords{newWords(), release}, nil },
	})
	defer h.Close()
	defer close(release)
	q := index.Query{Text: "apple", Vector: []float32{1, 0}, Space: "s"}
	if r := search(t, h, q); !slices.Contains(r.Degraded, "keyword") {
		t.Errorf("degraded is %v, beside a keyword index that writes", r.Degraded)
	}
}

// Closing an index ends what its indexes have begun, whoever waits for it.
func TestCloseBesideALegThatTakesLong(t *testing.T) {
	var f history
	begun := make(chan struct{})
	h := newHarness(t, index.Options{
		Feed: &f, Space: index.Space{Name: "s"}, Keyword: func(context.Context) (index.KeywordIndex, error) { return endlessWords{newWords(), begun}, nil },
	})
	f.add(one(1, "apple", 1, 0))
	go func() { _ = h.CatchUp(t.Context(), 1) }()
	<-begun
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// endlessWords take a batch until they are told to end.
type endlessWords struct {
	*words

	begun chan<- struct{}
}

func (e endlessWords) Apply(ctx context.Context, _ uint64, _ []index.TextChunk, _ []uint64) error {
	close(e.begun)
	<-ctx.Done()
	return ctx.Err()
}

// laboriousWords take a batch once they are released.
type laboriousWords struct {
	*words

	release <-chan struct{}
}

func (l laboriousWords) Apply(ctx context.Context, seq uint64, upserts []index.TextChunk, deletes []uint64) error {
	<-l.release
	return l.words.Apply(ctx, seq, upserts, deletes)
}

// gated is a feed that gives single indexes nothing until its gate opens.
type gated struct {
	history

	gate chan struct{}
}

func (f *gated) Follow(ctx context.Context, after uint64, want index.Want) (index.Batch, error) {
	if want.Texts != (want.Space != "") {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return index.Batch{Seq: after}, ctx.Err()
		}
	}
	return f.history.Follow(ctx, after, want)
}

// lateWords and lateArrows call fed after a search.
type (
	lateWords struct {
		*words

		fed func()
	}
	lateArrows struct {
		*arrows

		fed func()
	}
)

func (l lateWords) Search(ctx context.Context, q index.KeywordQuery) (index.KeywordResult, error) {
	defer l.fed()
	return l.words.Search(ctx, q)
}

func (l lateArrows) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	defer l.fed()
	return l.arrows.Search(ctx, q)
}
