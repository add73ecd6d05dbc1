package vector

import (
	"context"

	"github.com/ragctx/ragctx/index"
)

// scanStep is how many blocks are scanned between two looks at the context.
const scanStep = 16

// scan returns the k units of s nearest to the padded unit vector q, best first.
// accept is asked only about units that would be among the best so far.
func (s *snapshot) scan(ctx context.Context, q []float32, k int, accept index.Accept) ([]index.Scored, error) {
	top := newTopK(min(k, s.units))
	if top == nil {
		return nil, ctx.Err()
	}
	if err := s.offer(ctx, q, top, accept); err != nil {
		return nil, err
	}
	return top.sorted(), nil
}

// offer offers the rows of s to top.
func (s *snapshot) offer(ctx context.Context, q []float32, top *topK, accept index.Accept) error {
	for i, b := range s.blocks {
		if i%scanStep == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if b != nil {
			b.scan(q, top, accept)
		}
	}
	return nil
}

// scan offers the rows of b to top. Rows past n may be in the hands of the
// writer, and are not looked at.
func (b *block) scan(q []float32, top *topK, accept index.Accept) {
	for from := 0; from < b.n; from += 64 {
		to := min(from+64, b.n)
		scanRows(q, b.vecs[from*len(q):to*len(q)], b.ids[from:to], b.live[from>>6], top, accept)
	}
}

// scanRows offers up to 64 rows to top, those whose bit is set in live.
func scanRows(q, vecs []float32, ids []uint64, live uint64, top *topK, accept index.Accept) {
	var dots [4]float32
	row := func(i int) []float32 { return vecs[i*len(q) : (i+1)*len(q)] }
	last := len(ids) - 1
	for first := 0; first <= last; first += len(dots) {
		if live>>first&(1<<len(dots)-1) == 0 {
			continue
		}
		dots[0], dots[1], dots[2], dots[3] = dot4(q, row(first),
			row(min(first+1, last)), row(min(first+2, last)), row(min(first+3, last)))
		for i, d := range dots[:min(len(dots), len(ids)-first)] {
			if top.full() && cosine(d) < top.hits[0].Score || live>>(first+i)&1 == 0 {
				continue
			}
			if h := (index.Scored{ID: ids[first+i], Score: cosine(d)}); top.admits(h) && (accept == nil || accept(h.ID)) {
				top.add(h)
			}
		}
	}
}
