package index_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// words is a keyword index whose score is the number of query words that a chunk has,
// each by the weight of the wording that it is in.
type words struct {
	mu     sync.Mutex
	chunks map[uint64]string
	cursor uint64
	broken error
	asked  index.KeywordQuery // the last one
}

func newWords() *words { return &words{chunks: make(map[uint64]string)} }

func (w *words) Apply(_ context.Context, _ uint64, up []index.TextChunk, del []uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range up {
		w.chunks[u.ID] = u.Title + " " + u.Text
	}
	for _, id := range del {
		delete(w.chunks, id)
	}
	return w.broken
}

func (w *words) Search(_ context.Context, q index.KeywordQuery) (index.KeywordResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = q
	var res index.KeywordResult
	for _, wording := range q.Wordings() {
		res.Max += wording.Weight * float64(len(strings.Fields(wording.Text)))
	}
	if q.Groups != nil {
		res.Groups = make([]float64, len(q.Groups.Sizes))
	}
	for id, text := range w.chunks {
		if !among(q.Only, id) {
			continue
		}
		n := 0.0
		for _, wording := range q.Wordings() {
			for t := range strings.FieldsSeq(wording.Text) {
				if slices.Contains(strings.Fields(text), t) {
					n += wording.Weight
				}
			}
		}
		if q.Groups != nil {
			if g := q.Groups.Of(id); g >= 0 {
				res.Groups[g] += n
			}
		}
		if n > 0 && (q.Accept == nil || q.Accept(id)) {
			res.Hits = append(res.Hits, index.Scored{ID: id, Score: n})
		}
	}
	for g := range res.Groups {
		res.Groups[g] /= float64(q.Groups.Sizes[g])
	}
	res.Hits = best(res.Hits, q.K)
	return res, w.broken
}

func (w *words) Holding(_ context.Context, terms []string) (ids []uint64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, text := range w.chunks {
		have := make(map[string]bool)
		analysis.Features(text, func(_ analysis.Kind, term []byte) { have[string(term)] = true })
		if !slices.ContainsFunc(terms, func(t string) bool { return !have[t] }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, w.broken
}

func (w *words) Words(_ context.Context, p analysis.Pattern, n int) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []string
	for _, text := range w.chunks {
		for _, word := range analysis.Index(text) {
			if p.Kind == analysis.Prefix && strings.HasPrefix(word, p.Text) && !slices.Contains(found, word) {
				found = append(found, word)
			}
		}
	}
	slices.Sort(found)
	return found[:min(n, len(found))], w.broken
}

func among(only index.Only, id uint64) bool { return only == nil || slices.Contains(only, id) }

func best(hits []index.Scored, k int) []index.Scored {
	slices.SortFunc(hits, func(a, b index.Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(k, len(hits))]
}

func (w *words) Cursor() uint64              { return w.cursor }
func (w *words) Flush(context.Context) error { return nil }

func (w *words) Stats() index.PartStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return index.PartStats{Chunks: len(w.chunks), Kind: "words"}
}

func (w *words) Close() error { return nil }

// arrows is a vector index that compares vectors of length 1 one by one.
type arrows struct {
	mu        sync.Mutex
	chunks    map[uint64][]float32
	cursor    uint64
	broken    error
	compacted []int // how many chunks there were each time
}

func newArrows() *arrows { return &arrows{chunks: make(map[uint64][]float32)} }

func (a *arrows) Apply(_ context.Context, _ uint64, up []index.VectorChunk, del []uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, u := range up {
		a.chunks[u.ID] = u.Vector
	}
	for _, id := range del {
		delete(a.chunks, id)
	}
	return a.broken
}

func (a *arrows) Search(_ context.Context, q index.VectorQuery) ([]index.Scored, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var hits []index.Scored
	for id, v := range a.chunks {
		if among(q.Only, id) && (q.Accept == nil || q.Accept(id)) {
			hits = append(hits, index.Scored{ID: id, Score: dot(q.Vector, v)})
		}
	}
	return best(hits, q.K), a.broken
}

func (a *arrows) Similarity(q []float32) func(id uint64) (float64, bool) {
	return func(id uint64) (float64, bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		v, ok := a.chunks[id]
		return dot(q, v), ok
	}
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range b {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func (a *arrows) Cursor() uint64              { return a.cursor }
func (a *arrows) Flush(context.Context) error { return nil }

func (a *arrows) Stats() index.PartStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	return index.PartStats{Chunks: len(a.chunks), Kind: "arrows"}
}

func (a *arrows) Close() error { return nil }

var errBroken = errors.New("broken on purpose")

func (w *words) Compact(context.Context) error { return nil }

func (a *arrows) Compact(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.compacted = append(a.compacted, len(a.chunks))
	return nil
}
