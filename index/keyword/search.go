package keyword

import (
	"context"
	"math"

	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/index"
)

// smoothing is added to lengths; see the package comment.
const smoothing = 20

// scratch is the working memory of one search.
type scratch struct {
	postings []posting
	ends     []int // end of each term's postings in each part, term by term
	idf      []float64
	scores   []float64 // by unit of the part at hand; all zero between parts
	seen     []uint32
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
	terms := analysis.Query(q.Text)
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
	res := index.LexicalResult{Max: s.weigh(v, len(terms))}
	hits, err := s.rank(ctx, v, q, ix.opts.Params)
	if err != nil {
		return index.LexicalResult{}, err
	}
	res.Hits = hits
	ix.scratch.Put(s)
	return res, nil
}

// gather reads the live postings of all terms. Scores need the document
// frequencies, so nothing can be scored before.
func (s *scratch) gather(ctx context.Context, v *view, terms []string) error {
	s.postings, s.ends = s.postings[:0], s.ends[:0]
	return guard(func() (err error) {
		for _, term := range terms {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, p := range v.parts {
				if s.postings, err = p.postings(term, p.dead, s.postings); err != nil {
					return err
				}
				s.ends = append(s.ends, len(s.postings))
			}
		}
		return nil
	})
}

// weigh computes the idf of each term and returns their sum.
func (s *scratch) weigh(v *view, terms int) (sum float64) {
	s.idf = s.idf[:0]
	start := 0
	for t := range terms {
		end := start
		if n := len(v.parts); n > 0 {
			end = s.ends[t*n+n-1]
		}
		idf := inverseFrequency(v.live, end-start)
		s.idf = append(s.idf, idf)
		sum += idf
		start = end
	}
	return sum
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
func (s *scratch) rank(ctx context.Context, v *view, q index.LexicalQuery, params Params) ([]index.Scored, error) {
	if q.K <= 0 {
		return nil, nil
	}
	sat := saturationOf(params, v.live, v.length)
	best := top{k: q.K}
	for i, p := range v.parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cols := p.columns()
		if n := len(cols.ids); len(s.scores) < n {
			s.scores = make([]float64, n)
		}
		s.scorePart(i, len(v.parts), cols, sat)
		for _, unit := range s.seen {
			hit := index.Scored{ID: cols.ids[unit], Score: s.scores[unit]}
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
func (s *scratch) scorePart(part, parts int, cols *columns, sat saturation) {
	s.seen = s.seen[:0]
	for t, idf := range s.idf {
		at := t*parts + part
		start := 0
		if at > 0 {
			start = s.ends[at-1]
		}
		for _, e := range s.postings[start:s.ends[at]] {
			if s.scores[e.unit] == 0 {
				s.seen = append(s.seen, e.unit)
			}
			tf := float64(e.tf)
			s.scores[e.unit] += idf * (tf / (tf + sat.base + sat.slope*float64(cols.lengths[e.unit])))
		}
	}
}
