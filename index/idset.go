package index

import "slices"

// idSet is a set of chunk ids: those of a view that every query without filter or time may see.
// Most of a collection are in it. A lookup here reads one bit that is likely cached, while looking
// up the item reads four places in memory that are not. A set is immutable, and sets share pages.
// The zero value is empty.
type idSet struct {
	first uint64 // number of the first page
	pages []*idPage
}

// idPage has one bit per id.
type idPage [64]uint64

const pageBits = 12

func (s idSet) has(id uint64) bool {
	n := id>>pageBits - s.first
	if n >= uint64(len(s.pages)) || s.pages[n] == nil {
		return false
	}
	return s.pages[n][id>>6&63]>>(id&63)&1 != 0
}

// idSetEditor builds a modified set. It copies a page at most once.
type idSetEditor struct {
	idSet

	own map[uint64]bool // pages that are not shared
}

func (s idSet) edit() idSetEditor {
	return idSetEditor{idSet{s.first, slices.Clone(s.pages)}, make(map[uint64]bool)}
}

// page returns the page of an id for writing, or nil if the set has no page for it.
func (e *idSetEditor) page(id uint64) *idPage {
	n := id>>pageBits - e.first
	if n >= uint64(len(e.pages)) {
		return nil
	}
	if !e.own[n] {
		page := new(idPage)
		if old := e.pages[n]; old != nil {
			*page = *old
		}
		e.pages[n], e.own[n] = page, true
	}
	return e.pages[n]
}

func (e *idSetEditor) set(id uint64) {
	if page := e.page(id); page != nil {
		page[id>>6&63] |= 1 << (id & 63)
	}
}

func (e *idSetEditor) clear(id uint64) {
	if e.has(id) {
		e.page(id)[id>>6&63] &^= 1 << (id & 63)
	}
}

// sparsePages bounds the number of pages by the number of chunks. Where ids lie far apart, as in
// small collections among large ones, pages would take more memory than they are worth.
const sparsePages = 64

// grow makes room for ids up to last among n chunks. If that takes too many pages the set does not
// grow, and remains a subset.
func (e *idSetEditor) grow(last uint64, n int) {
	pages := int(last>>pageBits-e.first) + 1 //nolint:gosec // bounded by the next line
	if last>>pageBits < e.first || pages > n/sparsePages+16 {
		return
	}
	if more := pages - len(e.pages); more > 0 {
		e.pages = append(e.pages, make([]*idPage, more)...)
	}
}

// withUnrestricted returns a view with the set of its unrestricted chunks.
func (c catalog) withUnrestricted() catalog {
	if len(c.ids) == 0 {
		return c
	}
	e := idSet{first: c.ids[0] >> pageBits}.edit()
	if e.grow(c.ids[len(c.ids)-1], len(c.ids)); len(e.pages) == 0 {
		return c
	}
	for i, p := range c.items {
		if p.unrestricted() {
			e.set(c.ids[i])
		}
	}
	c.unrestricted = e.idSet
	return c
}

// unrestrictedWith returns the set after chunks were added, which c already has.
func (c catalog) unrestrictedWith(chunks []catalogEntry) idSet {
	e := c.unrestricted.edit()
	e.grow(c.ids[len(c.ids)-1], len(c.ids))
	for _, u := range chunks {
		if u.item.unrestricted() {
			e.set(u.id)
		}
	}
	return e.idSet
}

// unrestrictedWithout returns the set without the chunks of some items.
func (c catalog) unrestrictedWithout(items []*item) idSet {
	e := c.unrestricted.edit()
	for _, p := range items {
		i, _ := c.at(p.firstChunk)
		for n := p.chunks.Load(); n > 0 && i < len(c.items); i++ {
			if c.items[i] == p {
				e.clear(c.ids[i])
				n--
			}
		}
	}
	return e.idSet
}
