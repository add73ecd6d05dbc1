package index

import "slices"

// narrowShare is what part of all units the scope of a query has at most for each
// of them to be looked at alone.
const narrowShare = 16

// only returns the units that q may see, where a user's scope makes them few; nil
// where it does not.
func (h *Hybrid) only(c *catalog, q *Query, state uint64) Only {
	if q.Scope.AnyUser || h.threads.loose.Load() {
		return nil
	}
	n := 0
	h.threads.visitAll(q.Scope, func(t *thread) { n += int(t.units.Load()) })
	if n > len(c.ids)/narrowShare {
		return nil
	}
	ids := make(Only, 0, n)
	h.threads.visitAll(q.Scope, func(t *thread) {
		for _, m := range t.messages() {
			if !q.visible(m.parent, state) {
				continue
			}
			for id := m.first; id < m.first+uint64(m.units); id++ { //nolint:gosec // not negative
				ids = append(ids, id)
			}
		}
	})
	slices.Sort(ids)
	return ids
}
