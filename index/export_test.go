package index

import "context"

// Rank returns the chunks that a question finds, and whether the list is whole.
func (x Index) Rank(ctx context.Context, q Query) (ids []uint64, whole bool, err error) {
	r, err := x.rank(ctx, &q, nil)
	for _, c := range r.list {
		ids = append(ids, c.ID)
	}
	return ids, r.whole, err
}

// Items counts the catalogued items.
func (h *Hybrid) Items() int {
	h.write.Lock()
	defer h.write.Unlock()
	return len(h.byItem)
}
