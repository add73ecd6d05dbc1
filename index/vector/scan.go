package vector

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx/index"
)

// scanStep is how many blocks are scanned between two checks of the context.
const scanStep = 16

// search is a request for the k chunks nearest to a padded unit vector.
type search struct {
	unit   []float32
	k      int
	accept index.Accept
	only   index.Only
}

// within returns the ids of only that are within first..last.
func (q *search) within(first, last uint64) []uint64 {
	from, _ := slices.BinarySearch(q.only, first)
	to, found := slices.BinarySearch(q.only, last)
	if found {
		to++
	}
	return q.only[from:to]
}

// offer offers a row to top if it is accepted.
func (q *search) offer(row []int16, id uint64, top *topK) {
	h := index.Scored{ID: id, Score: cosine(dot(q.unit, row))}
	if top.admits(h) && (q.accept == nil || q.accept(id)) {
		top.add(h)
	}
}

// scan returns the k chunks of s nearest to q, best first. It calls accept only for chunks that
// would be among the best so far.
func (s *snapshot) scan(ctx context.Context, q search) ([]index.Scored, error) {
	top := newTopK(min(q.k, s.rows))
	if top == nil {
		return nil, ctx.Err()
	}
	if err := s.offer(ctx, q, top); err != nil {
		return nil, err
	}
	return top.sorted(), nil
}

// offer offers the rows of s to top.
func (s *snapshot) offer(ctx context.Context, q search, top *topK) error {
	for i, b := range s.blocks {
		if i%scanStep == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case b == nil:
		case q.only != nil:
			b.scanOnly(q, top)
		default:
			b.scan(q, top)
		}
	}
	return nil
}

// scan offers the rows of b to top. It does not read rows past n, which the writer may be writing.
func (b *block) scan(q search, top *topK) {
	for from := 0; from < b.n; from += blockRows {
		to := min(from+blockRows, b.n)
		scanRows(q, b.vecs[from*len(q.unit):to*len(q.unit)], b.ids[from:to], b.live[from>>6], top)
	}
}

// scanOnly is scan restricted to the ids of q.only. Rows in memory are unordered.
func (b *block) scanOnly(q search, top *topK) {
	for row := range b.rows {
		if _, ok := slices.BinarySearch(q.only, b.ids[row]); ok {
			q.offer(b.row(row, len(q.unit)), b.ids[row], top)
		}
	}
}

// scanRows offers up to 64 rows to top: those with their bit set in live.
func scanRows(q search, vecs []int16, ids []uint64, live uint64, top *topK) {
	if live == 0 {
		return
	}
	var products [blockRows]float32
	kernels.Scan16(q.unit, vecs, products[:len(ids)])
	for i, p := range products[:len(ids)] {
		if top.full() && cosine(p) < top.hits[0].Score || live>>i&1 == 0 {
			continue
		}
		if h := (index.Scored{ID: ids[i], Score: cosine(p)}); top.admits(h) && (q.accept == nil || q.accept(h.ID)) {
			top.add(h)
		}
	}
}
