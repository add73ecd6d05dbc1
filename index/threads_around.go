package index

// Around is what was said around a unit in its session: the ids of other parents,
// nearest first.
type Around struct{ Before, After []uint64 }

// Around returns what q may see around units that a search found in a state, at
// most n parents on either side. What has no session has nothing around it.
func (h *Hybrid) Around(q Query, state uint64, units []uint64, n int) []Around {
	c := h.view.Load()
	out := make([]Around, len(units))
	for i, id := range units {
		place, ok := c.at(id)
		if !ok {
			continue
		}
		p := c.parents[place]
		if p.thread == nil || p.thread.session == "" {
			continue
		}
		list := p.thread.messages()
		if m, ok := at(list, p, id); ok {
			out[i] = Around{Before: beside(list, m, -1, &q, state, n), After: beside(list, m, 1, &q, state, n)}
		}
	}
	return out
}

// beside returns the n visible parents beside the message at a place, in one
// direction.
func beside(list []message, place, step int, q *Query, state uint64, n int) (parents []uint64) {
	var last *parent
	for i := place + step; 0 <= i && i < len(list) && len(parents) < n && (i-place)*step <= reach+n; i += step {
		m := list[i]
		if m.parent != last && m.parent != list[place].parent && q.visible(m.parent, state) {
			last = m.parent
			parents = append(parents, m.parent.ID)
		}
	}
	return parents
}
