package keyword

import (
	"context"
	"fmt"
	"math"

	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/index"
)

// kindFrequency is how often a feature counts in one unit at most, by kind.
var kindFrequency = [...]uint32{analysis.Word: MaxFrequency, analysis.Pair: 1, analysis.Gram: 1}

// Search implements [index.Lexical].
func (ix *Index) Search(ctx context.Context, q index.LexicalQuery) (index.LexicalResult, error) {
	v := ix.acquire()
	if v == nil {
		return index.LexicalResult{}, index.ErrClosed
	}
	defer v.release()
	if err := ctx.Err(); err != nil {
		return index.LexicalResult{}, err
	}
	if err := q.Params.Validate(); err != nil {
		return index.LexicalResult{}, fmt.Errorf("keyword: search: %w", err)
	}
	features := featuresOf(&q)
	if len(features) == 0 {
		return index.LexicalResult{Groups: noGroups(q.Groups)}, nil
	}
	if q.Only != nil {
		err := guard(func() (err error) {
			v, err = v.narrow(q.Only)
			return err
		})
		if err != nil {
			return index.LexicalResult{}, ix.damaged("search", err)
		}
	}
	s, _ := ix.scratch.Get().(*scratch)
	if s == nil {
		s = new(scratch)
	}
	params := q.Params.WithDefaults()
	s.start(v, ix.opts.LongText, params)
	groups := newGroupScores(v, s, q.Groups, params)
	for _, f := range features {
		if err := s.search(ctx, v, f, groups); err != nil {
			if ctx.Err() != nil {
				return index.LexicalResult{}, ctx.Err()
			}
			return index.LexicalResult{}, ix.damaged("search", err)
		}
	}
	hits, err := s.rank(ctx, v, q)
	if err != nil {
		return index.LexicalResult{}, err
	}
	res := index.LexicalResult{Hits: hits, Max: s.bound, Groups: groups.scores()}
	ix.scratch.Put(s)
	return res, nil
}

// search adds what one feature of the query scores.
func (s *scratch) search(ctx context.Context, v *view, f feature, groups *groupScores) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	weight := f.weight * s.weights[f.kind]
	if weight == 0 {
		return nil
	}
	counts := false
	err := guard(func() (err error) {
		counts, err = s.gather(v, f.text, kindFrequency[f.kind], limitOf(f.kind, v.live))
		return err
	})
	if err != nil || !counts {
		return err
	}
	if f.kind == analysis.Word && groups != nil {
		groups.add(v, s, weight)
	}
	idf := s.add(v, weight)
	if f.kind == analysis.Word && s.opening > 0 {
		return guard(func() error { return s.addOpenings(v, f.text, s.opening*idf) })
	}
	return nil
}

func inverseFrequency(units, df int) float64 {
	return math.Log1p((float64(units-df) + 0.5) / (float64(df) + 0.5))
}

// smoothing is added to lengths; see the package comment.
const smoothing = 20

// saturation holds k1·(1 - b + b·(dl+20)/(avgdl+20)) as base + slope·dl.
type saturation struct{ base, slope float64 }

func saturationOf(p index.LexicalParams, units int, length float64) saturation {
	avg := length/float64(max(units, 1)) + smoothing
	return saturation{base: p.K1 * (1 - p.B + p.B*smoothing/avg), slope: p.K1 * p.B / avg}
}

// of returns tf / (tf + k1·…).
func (s saturation) of(tf, length float64) float64 { return tf / (tf + s.base + s.slope*length) }

// rank returns the best units and sets the scores to zero.
func (s *scratch) rank(ctx context.Context, v *view, q index.LexicalQuery) ([]index.Scored, error) {
	best := top{k: max(q.K, 0)}
	for i, p := range v.parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		units, texts := s.units[v.firsts[i]:v.firsts[i+1]], s.texts[v.firstTexts[i]:v.firstTexts[i+1]]
		if best.k > 0 {
			s.rankPart(&best, p.columns(), units, texts, q.Accept)
		}
		clear(units)
		clear(texts)
	}
	return best.sorted(), nil
}

func (s *scratch) rankPart(best *top, cols *columns, units, texts []float64, accept index.Accept) {
	for place, own := range units {
		if own == 0 {
			continue
		}
		score := min(texts[cols.text[place]]+s.passage*own, s.bound) // rounding can reach beyond
		if best.full() && score < best.hits[0].Score {
			continue
		}
		hit := index.Scored{ID: cols.ids[place], Score: score}
		if best.admits(hit) && (accept == nil || accept(hit.ID)) {
			best.push(hit)
		}
	}
}
