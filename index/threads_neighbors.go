package index

import "context"

// Neighbors are the items around a chunk in its session, nearest first.
type Neighbors struct{ Before, After []uint64 }

// Neighbors implements [Finder].
func (h *Hybrid) Neighbors(_ context.Context, w Where, chunks []uint64, n int) ([]Neighbors, error) {
	h.fixState(&w)
	c := h.view.Load()
	out := make([]Neighbors, len(chunks))
	for i, id := range chunks {
		place, ok := c.at(id)
		if !ok {
			continue
		}
		p := c.items[place]
		if p.thread == nil || p.thread.session == "" {
			continue
		}
		list := p.thread.messages()
		if m, ok := messageAt(list, p, id); ok {
			out[i] = Neighbors{Before: visibleNeighbors(list, m, -1, &w, n), After: visibleNeighbors(list, m, 1, &w, n)}
		}
	}
	return out, nil
}

// visibleNeighbors returns the n nearest visible items in one direction from a message.
func visibleNeighbors(list []message, place, step int, w *Where, n int) (items []uint64) {
	var last *item
	for i := place + step; 0 <= i && i < len(list) && len(items) < n && (i-place)*step <= neighborReach+n; i += step {
		m := list[i]
		if m.item != last && m.item != list[place].item && w.visible(m.item) {
			last = m.item
			items = append(items, m.item.ID)
		}
	}
	return items
}
