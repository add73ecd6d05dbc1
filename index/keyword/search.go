package keyword

import (
	"context"
	"fmt"
	"math"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// kindFrequency is the maximum frequency of a feature in one chunk, by kind.
var kindFrequency = [...]uint32{analysis.Word: MaxFrequency, analysis.Pair: 1, analysis.Gram: 1}

// Search implements [index.KeywordIndex].
func (ix *Index) Search(ctx context.Context, q index.KeywordQuery) (index.KeywordResult, error) {
	v := ix.acquire()
	if v == nil {
		return index.KeywordResult{}, index.ErrClosed
	}
	defer v.release()
	if err := ctx.Err(); err != nil {
		return index.KeywordResult{}, err
	}
	if err := q.Params.Validate(); err != nil {
		return index.KeywordResult{}, fmt.Errorf("keyword: search: %w", err)
	}
	read, err := ix.respell(ctx, v, &q)
	if err != nil {
		return index.KeywordResult{}, err
	}
	features := featuresOf(&q)
	if len(features) == 0 {
		return index.KeywordResult{Groups: noGroups(q.Groups)}, nil
	}
	if q.Only != nil {
		err := guard(func() (err error) {
			v, err = v.narrow(q.Only)
			return err
		})
		if err != nil {
			return index.KeywordResult{}, ix.damaged("search", err)
		}
	}
	s, _ := ix.scratch.Get().(*scratch)
	if s == nil {
		s = new(scratch)
	}
	params := q.Params.WithDefaults()
	s.start(v, ix.opts.LongText, params)
	if !ix.opts.plain {
		s.useLists(v, true)
	}
	groups := newGroupScores(v, s, q.Groups, params)
	best, err := s.runPasses(ctx, v, &q, features, ix.opts.passes, groups)
	if err != nil {
		if ctx.Err() != nil {
			return index.KeywordResult{}, ctx.Err()
		}
		return index.KeywordResult{}, ix.damaged("search", err)
	}
	s.clear(v)
	s.release()
	res := index.KeywordResult{Hits: best.sorted(), Max: s.bound, Groups: groups.scores(), Corrections: read}
	ix.scratch.Put(s)
	return res, nil
}

// search adds the score of one feature of the query, and returns its document frequency, or 0 if it
// does not count.
func (s *scratch) search(ctx context.Context, v *view, f *feature, groups *groupScores) (chunks int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	weight := f.weight * s.weights[f.kind]
	if weight == 0 {
		return 0, nil
	}
	s.lists.docFreq = docFreq{}
	if s.skip = f.kind == analysis.Word && s.lists.inUse; s.skip {
		s.lookUp(v, f.text)
	}
	counts := false
	err = guard(func() (err error) {
		counts, err = s.gather(v, f.text, kindFrequency[f.kind], LimitOf(f.kind, v.live))
		return err
	})
	if err != nil || !counts {
		return 0, err
	}
	chunks = s.frequency()
	if f.kind == analysis.Word && groups != nil {
		groups.add(v, s, weight)
	}
	idf := s.add(v, weight)
	s.recordFeature()
	if f.kind == analysis.Word && s.opening > 0 {
		err = guard(func() error { return s.addOpenings(v, f.text, s.opening*idf) })
	}
	return chunks, err
}

// InverseFrequency returns the weight of a feature that df of all chunks (or items, or groups) have.
func InverseFrequency(chunks, df int) float64 {
	return math.Log1p((float64(chunks-df+index.UnseenTexts) + 0.5) / (float64(df) + 0.5))
}

// smoothing is added to lengths; see the package comment.
const smoothing = 20

// Saturation is the score of a frequency in a text, before the weight of the term. It holds k1·(1 - b + b·(dl+20)/(avgdl+20)) as
// Base + Slope·dl.
type Saturation struct{ Base, Slope float64 }

// SaturationOf returns the saturation in a number of texts with a length together. The parameters are complete.
func SaturationOf(p index.KeywordParams, texts int, length float64) Saturation {
	avg := length/float64(max(texts, 1)) + smoothing
	return Saturation{Base: p.K1 * (1 - p.B + p.B*smoothing/avg), Slope: p.K1 * p.B / avg}
}

// Of returns tf / (tf + k1·…).
func (s Saturation) Of(tf, length float64) float64 {
	return tf / (tf + s.Base + float64(s.Slope*length))
}

// weighed returns the weighted contribution of a feature to a score. The product is rounded before
// it is added, so that all machines give the same sum.
func (s Saturation) weighed(weight, tf float64, length uint32) float64 {
	return float64(weight * s.Of(tf, float64(length)))
}

// joined returns the score of a chunk from its text's score and its own.
func (s *scratch) joined(text, own float64) float64 {
	return min(text+float64(s.passage*own), s.bound) // rounding can exceed the bound
}

// rank returns the k best chunks that have a score, among the short list if there is one. The
// result is valid until the next call.
func (s *scratch) rank(ctx context.Context, v *view, k int, accept index.Accept) (top, error) {
	best := top{k: max(k, 0), hits: s.best[:0]}
	defer func() { s.best = best.hits }()
	for part := range v.parts {
		if err := ctx.Err(); err != nil {
			return best, err
		}
		r := s.ranker(v, part, &best, accept)
		switch chunks := s.chunkScores[v.firsts[part]:v.firsts[part+1]]; {
		case best.k == 0:
		case s.short != nil:
			for _, place := range s.short[part] {
				r.offer(int(place), chunks[place])
			}
		case s.lists.parts[part].words != nil:
		default:
			for place, own := range chunks {
				r.offer(place, own)
			}
		}
	}
	if s.short == nil && s.lists.inUse {
		err := s.rankLists(ctx, v, &best, accept)
		return best, err
	}
	return best, nil
}

// ranker offers the chunks of a part to the best hits.
type ranker struct {
	*scratch

	best   *top
	cols   *columns
	first  int       // number of the part's first place across all parts
	texts  []float64 // scores of the part's texts
	accept index.Accept
}

func (s *scratch) ranker(v *view, part int, best *top, accept index.Accept) ranker {
	texts := s.textScores[v.firstTexts[part]:v.firstTexts[part+1]]
	return ranker{scratch: s, best: best, cols: v.parts[part].columns(), first: v.firsts[part], texts: texts, accept: accept}
}

// offer adds a chunk with a score of its own to the best hits, if it is one of them.
func (r *ranker) offer(place int, own float64) {
	if own == 0 {
		return
	}
	score := r.joined(r.texts[r.cols.text[place]], own)
	if r.best.full() && score < r.best.hits[0].Score {
		return
	}
	hit := found{index.Scored{ID: r.cols.ids[place], Score: score}, r.first + place}
	if r.best.admits(hit) && (r.accept == nil || r.accept(hit.ID)) {
		r.best.push(hit)
	}
}
