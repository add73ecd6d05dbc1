package keyword

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ragctx/ragctx/index"
)

// Holding implements [index.KeywordIndex].
func (ix *Index) Holding(ctx context.Context, terms []string) ([]uint64, error) {
	v := ix.acquire()
	if v == nil {
		return nil, index.ErrClosed
	}
	defer v.release()
	// Long terms are mostly pairs of words, which are rare. Starting with them leaves few chunks to
	// intersect.
	terms = slices.Compact(slices.SortedFunc(slices.Values(terms), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	}))
	var ids []uint64
	for _, p := range v.parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := guard(func() (err error) {
			ids, err = p.holding(terms, ids)
			return err
		})
		if err != nil {
			return nil, ix.damaged("look up terms", err)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// holding appends the ids of the live chunks that have all of the terms.
func (p part) holding(terms []string, to []uint64) ([]uint64, error) {
	cols := p.columns()
	if len(terms) == 0 {
		for chunk := range uint32(cols.chunks()) { //nolint:gosec // at most 2³²
			if !p.dead.has(chunk) {
				to = append(to, cols.row(chunk).id)
			}
		}
		return to, nil
	}
	var held, list []posting
	for i, term := range terms {
		var err error
		if list, err = p.postings(lookup{term: term, maxTf: 1, limit: math.MaxInt}, p.dead, list[:0]); err != nil {
			return to, err
		}
		if i == 0 {
			held, list = list, nil
		} else {
			held = intersect(held, list)
		}
		if len(held) == 0 {
			return to, nil
		}
	}
	for _, e := range held {
		to = append(to, cols.row(e.chunk).id)
	}
	return to, nil
}

// intersect keeps the postings of a for chunks that also occur in b. It reuses the memory of a.
func intersect(a, b []posting) []posting {
	n, at := 0, 0
	for _, e := range a {
		for at < len(b) && b[at].chunk < e.chunk {
			at++
		}
		if at < len(b) && b[at].chunk == e.chunk {
			a[n] = e
			n++
		}
	}
	return a[:n]
}
