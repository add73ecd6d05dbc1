package keyword

import (
	"context"
	"math"

	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/index"
)

// smoothing is added to lengths; see the package comment.
const smoothing = 20

// passageWeight is what a unit's own score counts beside that of its parent.
const passageWeight = 0.5

// scratch is the working memory of one search.
type scratch struct {
	postings []posting
	ends     []int // end of each term's postings in each part, term by term
	units    weights
	texts    weights
	scores   []float64 // by unit of the part at hand; all zero between parts
	seen     []uint32
	parents  parents
}

// weights are the idf of each term times its count in the query, and the length normalisation, among units or
// among parents.
type weights struct {
	idf []float64
	sat saturation
}

func (w *weights) sum() (sum float64) {
	for _, idf := range w.idf {
		sum += idf
	}
	return sum
}

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
	terms := analysis.QueryTerms(q.Text)
	if len(terms) == 0 {
		return index.LexicalResult{}, nil
	}
	s, _ := ix.scratch.Get().(*scratch)
	if s == nil {
		s = new(scratch)
	}
	if err := s.gather(ctx, v, terms); err != nil {
		if ctx.Err() != nil {
			return index.LexicalResult{}, ctx.Err()
		}
		return index.LexicalResult{}, ix.damaged("search", err)
	}
	s.weigh(v, terms, ix.opts.Params)
	s.scoreParents(v, terms)
	res := index.LexicalResult{Max: s.texts.sum() + passageWeight*s.units.sum()}
	hits, err := s.rank(ctx, v, q)
	if err != nil {
		return index.LexicalResult{}, err
	}
	s.parents.reset()
	res.Hits = hits
	ix.scratch.Put(s)
	return res, nil
}

// gather reads the live postings of all terms. Scores need the document
// frequencies, so nothing can be scored before.
func (s *scratch) gather(ctx context.Context, v *view, terms []analysis.QueryTerm) error {
	s.postings, s.ends = s.postings[:0], s.ends[:0]
	return guard(func() (err error) {
		for _, term := range terms {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, p := range v.parts {
				if s.postings, err = p.postings(term.Text, p.dead, s.postings); err != nil {
					return err
				}
				s.ends = append(s.ends, len(s.postings))
			}
		}
		return nil
	})
}

// of returns the postings of a term in a part.
func (s *scratch) of(term, part, parts int) []posting {
	at := term*parts + part
	start := 0
	if at > 0 {
		start = s.ends[at-1]
	}
	return s.postings[start:s.ends[at]]
}

// weigh computes the weights of the terms among units.
func (s *scratch) weigh(v *view, terms []analysis.QueryTerm, params Params) {
	s.units.idf = s.units.idf[:0]
	for t, term := range terms {
		df := 0
		for p := range v.parts {
			df += len(s.of(t, p, len(v.parts)))
		}
		s.units.idf = append(s.units.idf, float64(term.Count)*inverseFrequency(v.live, df))
	}
	s.units.sat = saturationOf(params, v.live, v.length)
	s.texts.sat = saturationOf(params, v.texts, v.length)
}

// scoreParents scores the parents of the matching units, and computes the
// weights of the terms among parents on the way.
func (s *scratch) scoreParents(v *view, terms []analysis.QueryTerm) {
	s.texts.idf = s.texts.idf[:0]
	ps := &s.parents
	for t, term := range terms {
		for i, p := range v.parts {
			cols := p.columns()
			for _, e := range s.of(t, i, len(v.parts)) {
				ps.count(cols.parents[e.unit], cols.whole[e.unit], e.tf)
			}
		}
		idf := float64(term.Count) * inverseFrequency(v.texts, len(ps.counted))
		s.texts.idf = append(s.texts.idf, idf)
		ps.add(idf, s.texts.sat)
	}
}

func inverseFrequency(units, df int) float64 {
	return math.Log1p((float64(units-df) + 0.5) / (float64(df) + 0.5))
}

// saturation holds k1·(1 - b + b·(dl+20)/(avgdl+20)) as base + slope·dl.
type saturation struct{ base, slope float64 }

func saturationOf(p Params, units int, length uint64) saturation {
	avg := float64(length)/float64(max(units, 1)) + smoothing
	return saturation{base: p.K1 * (1 - p.B + p.B*smoothing/avg), slope: p.K1 * p.B / avg}
}

// rank scores part by part. A unit's sum always runs over the terms in the order
// of the query, so it does not depend on the part that holds the unit.
func (s *scratch) rank(ctx context.Context, v *view, q index.LexicalQuery) ([]index.Scored, error) {
	if q.K <= 0 {
		return nil, nil
	}
	best := top{k: q.K}
	for i, p := range v.parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cols := p.columns()
		if n := len(cols.ids); len(s.scores) < n {
			s.scores = make([]float64, n)
		}
		s.scorePart(i, len(v.parts), cols)
		for _, unit := range s.seen {
			hit := index.Scored{
				ID:    cols.ids[unit],
				Score: s.parents.score(cols.parents[unit]) + passageWeight*s.scores[unit],
			}
			s.scores[unit] = 0
			if best.admits(hit) && (q.Accept == nil || q.Accept(hit.ID)) {
				best.push(hit)
			}
		}
	}
	return best.sorted(), nil
}

// scorePart leaves the scores of a part's matching units in scores and their
// numbers in seen.
func (s *scratch) scorePart(part, parts int, cols *columns) {
	s.seen = s.seen[:0]
	sat := s.units.sat
	for t, idf := range s.units.idf {
		for _, e := range s.of(t, part, parts) {
			if s.scores[e.unit] == 0 {
				s.seen = append(s.seen, e.unit)
			}
			tf := float64(e.tf)
			s.scores[e.unit] += idf * (tf / (tf + sat.base + sat.slope*float64(cols.lengths[e.unit])))
		}
	}
}
