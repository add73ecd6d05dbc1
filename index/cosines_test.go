package index_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// TestCosinesOfWhatWordsFound checks the cosines of what only the words found, whether it is of few chunks or of many, which
// are filled in from two goroutines.
func TestCosinesOfWhatWordsFound(t *testing.T) {
	const depth = 100 // of each index
	for _, lacking := range []int{0, 1, 16, 17, 60, depth} {
		h, _, _ := open(t)
		var b index.Batch
		want := make(map[uint64]float64)
		// The words find the first chunks, the vectors the last, and depth less lacking are both's.
		total := depth + lacking
		for i := range total {
			id, angle := uint64(i+1), math.Pi/2*float64(total-i)/float64(total+1) //nolint:gosec // small
			v := []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}
			p := &index.Item{ID: id, Source: "s", Recorded: t0}
			b.Add = append(b.Add, entry(id, id, p, "pear", v...))
			want[id] = dot([]float32{1, 0}, v)
		}
		b.Seq = uint64(total) //nolint:gosec // small
		apply(t, h, b)
		r := search(t, h, index.Query{Text: "pear", Vector: []float32{1, 0}, K: total, Fusion: index.Fusion{VectorFloor: -1}})
		if len(r.Hits) != total {
			t.Fatalf("%d lacking: %d hits of %d", lacking, len(r.Hits), total)
		}
		for _, hit := range r.Hits {
			if hit.Signals.Vector != want[hit.ID] {
				t.Errorf("%d lacking: chunk %d has the cosine %v, want %v", lacking, hit.ID, hit.Signals.Vector, want[hit.ID])
			}
		}
	}
}

// distantArrows answers as a vector index in another process does.
type distantArrows struct{ *arrows }

func (a distantArrows) Similarity([]float32) func(uint64) (float64, bool) {
	panic("a request for each chunk")
}

func (distantArrows) MaxOnly() int { return 2 }

func (a distantArrows) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	if q.Only == nil {
		return a.arrows.Search(ctx, q)
	}
	var found []index.Scored
	for i, id := range q.Only {
		if i == a.MaxOnly() || q.K != len(q.Only) || i > 0 && id <= q.Only[i-1] {
			return nil, fmt.Errorf("%d of the chunks %v are asked for", q.K, q.Only)
		}
		if s, ok := a.arrows.Similarity(q.Vector)(id); ok {
			found = append(found, index.Scored{ID: id, Score: s})
		}
	}
	return found, nil
}

// TestCosinesAround: a third of a chunk's cosine is the mean of the chunks before and after it in its item, as far as they
// have vectors, whether a search returned their cosines or not.
func TestCosinesAround(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		name    string
		cosines [][]float64 // of the chunks of each item
		want    [][]float64
	}{
		{"alone", [][]float64{{.8}, {.2}}, [][]float64{{.8}, {.2}}},
		{"two", [][]float64{{.8, .2}}, [][]float64{{.8*2/3 + .2/3, .2*2/3 + .8/3}}},
		{"between", [][]float64{{.9}, {.8, .2, .4}, {.9}}, [][]float64{{.9}, {.8*2/3 + .2/3, .2*2/3 + .6/3, .4*2/3 + .2/3}, {.9}}},
		{"without a vector", [][]float64{{.6, none, .3}, {none}}, [][]float64{{.6, .45 / 3, .3}, {0}}},
	} {
		for _, filler := range []int{0, 100} { // better chunks of other items, so that the vector search returns no others
			for _, far := range []bool{false, true} {
				var o index.Options
				if far {
					vectors := distantArrows{newArrows()}
					o.Vector = func(context.Context, index.Space) (index.VectorIndex, error) { return vectors, nil }
				}
				h := newHarness(t, o)
				want := make(map[uint64]float64)
				b := index.Batch{Seq: 1}
				id, item := uint64(1), uint64(1)
				put := func(text string, cosines, scores []float64) {
					p := &index.Item{ID: item, Recorded: t0}
					for i, x := range cosines {
						e := entry(id, 1, p, text)
						if e.Ordinal = i; x != none {
							e.Vector = []float32{float32(x), float32(math.Sqrt(1 - x*x))}
						}
						b.Add, want[id], id = append(b.Add, e), (1+scores[i])/2, id+1
					}
					item++
				}
				for i := range c.cosines {
					put("apple", c.cosines[i], c.want[i])
				}
				asked := id
				for range filler {
					put("pear", []float64{1}, []float64{0})
				}
				apply(t, h, b)
				q := index.Query{Text: "apple", Vector: []float32{1, 0}, K: 200, Fusion: index.Fusion{VectorWeight: 1}}
				seen := 0
				for _, hit := range search(t, h, q).Hits {
					if hit.ID >= asked {
						continue
					}
					if seen++; math.Abs(hit.Score-want[hit.ID]) > 1e-6 {
						t.Errorf("%s, %d others, far %v: chunk %d scores %v, want %v", c.name, filler, far, hit.ID, hit.Score, want[hit.ID])
					}
				}
				if seen != int(asked-1) { //nolint:gosec // small
					t.Errorf("%s, %d others, far %v: %d hits of %d", c.name, filler, far, seen, asked-1)
				}
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestCosinesAroundUnused: a search that does not use the chunks around its hits asks for no cosine of theirs.
func TestCosinesAroundUnused(t *testing.T) {
	vectors := distantArrows{newArrows()}
	h := newHarness(t, index.Options{Vector: func(context.Context, index.Space) (index.VectorIndex, error) { return silentArrows{vectors}, nil }})
	b := index.Batch{Seq: 1}
	p := &index.Item{ID: 1, Recorded: t0}
	for i, x := range []float32{.9, .1, .2} {
		e := entry(uint64(i+1), 1, p, "apple") //nolint:gosec // not negative
		e.Ordinal, e.Vector = i, []float32{x, float32(math.Sqrt(float64(1 - x*x)))}
		b.Add = append(b.Add, e)
	}
	apply(t, h, b)
	for _, f := range []index.Fusion{{Method: "vector"}, {Method: "rrf"}, {VectorWeight: -1}} {
		if hits := search(t, h, index.Query{Text: "apple", Vector: []float32{1, 0}, K: 10, Fusion: f}).Hits; len(hits) != 3 {
			t.Errorf("%+v: %d hits", f, len(hits))
		}
	}
}

// silentArrows finds all vectors, so nothing is left to ask for.
type silentArrows struct{ distantArrows }

func (s silentArrows) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	if q.Only != nil {
		panic("a request for the chunks around")
	}
	return s.distantArrows.Search(ctx, q)
}

// TestLoneVectorKeepsAScore: a hit of the vector index alone counts, however far from the question the chunks around it are.
func TestLoneVectorKeepsAScore(t *testing.T) {
	h := newHarness(t, index.Options{})
	b := index.Batch{Seq: 1}
	p := &index.Item{ID: 1, Recorded: t0}
	for i, x := range []float32{-.9, .36, -.9} {
		e := entry(uint64(i+1), 1, p, "apple") //nolint:gosec // not negative
		e.Ordinal, e.Vector = i, []float32{x, float32(math.Sqrt(float64(1 - x*x)))}
		b.Add = append(b.Add, e)
	}
	apply(t, h, b)
	q := index.Query{Text: "orchard", Vector: []float32{1, 0}, K: 10, Fusion: index.Fusion{VectorWeight: 1, VectorFloor: .35}}
	if hits := search(t, h, q).Hits; len(hits) != 1 || hits[0].ID != 2 || hits[0].Score <= 0 {
		t.Errorf("%+v", hits)
	}
}
