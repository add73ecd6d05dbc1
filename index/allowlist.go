package index

import "slices"

// narrowShare: a scope of at most 1/narrowShare of all chunks is searched chunk by chunk.
const narrowShare = 16

// allowList returns the visible chunks if a user's scope makes them few, else nil.
func (h *Hybrid) allowList(c *catalog, w *Where) Only {
	if w.Scope.AnyUser || h.threads.unthreaded.Load() {
		return nil
	}
	n := 0
	h.threads.visitAll(w.Scope, func(t *thread) { n += int(t.chunks.Load()) })
	if n > len(c.ids)/narrowShare {
		return nil
	}
	ids := make(Only, 0, n)
	h.threads.visitAll(w.Scope, func(t *thread) {
		for _, m := range t.messages() {
			if !w.visible(m.item) {
				continue
			}
			for id := m.first; id < m.first+uint64(m.chunks); id++ { //nolint:gosec // not negative
				ids = append(ids, id)
			}
		}
	})
	slices.Sort(ids)
	return ids
}

// wholeItems returns all chunks of the items that some chunks belong to, or nil if they are too many, or not all known.
func (c *catalog) wholeItems(chunks []uint64) Only {
	only, seen := Only{}, make(map[*item]bool)
	for _, id := range chunks {
		i, ok := c.at(id)
		if !ok {
			return nil
		}
		of := c.items[i]
		if seen[of] {
			continue
		}
		seen[of] = true
		first, n := i-int(c.ordinal[i]), int(of.chunks.Load())
		if first < 0 || first+n > len(c.ids) || len(only)+n > len(c.ids)/narrowShare {
			return nil
		}
		if slices.ContainsFunc(c.items[first:first+n], func(other *item) bool { return other != of }) {
			return nil // it was written in several parts
		}
		only = append(only, c.ids[first:first+n]...)
	}
	slices.Sort(only)
	return only
}
