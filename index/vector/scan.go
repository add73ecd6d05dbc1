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
	k = min(k, s.units)
	if k <= 0 {
		return nil, ctx.Err()
	}
	top := &topK{hits: make([]index.Scored, 0, k), k: k}
	for i, b := range s.blocks {
		if i%scanStep == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if b != nil {
			b.scan(q, top, accept)
		}
	}
	return top.sorted(), nil
}

// scan offers the rows of b to top.
func (b *block) scan(q []float32, top *topK, accept index.Accept) {
	var dots [4]float32
	last := b.n - 1
	for row := 0; row <= last; row += len(dots) {
		// Rows past n may be in the hands of the writer: repeat the last instead.
		dots[0], dots[1], dots[2], dots[3] = dot4(q, b.row(row, len(q)),
			b.row(min(row+1, last), len(q)), b.row(min(row+2, last), len(q)), b.row(min(row+3, last), len(q)))
		for i, d := range dots[:min(len(dots), b.n-row)] {
			if top.full() && cosine(d) < top.hits[0].Score || !b.alive(row+i) {
				continue
			}
			if h := (index.Scored{ID: b.ids[row+i], Score: cosine(d)}); top.admits(h) && (accept == nil || accept(h.ID)) {
				top.add(h)
			}
		}
	}
}
