package index

import "slices"

// plainUnits tells by their ids which units of a view every query without filter or time
// may see. Most of a collection are such, and to look one up here takes a bit that is
// likely cached, where its parent takes four places in memory that are not. A version of
// it never changes: others share its pages. The zero value tells of none.
type plainUnits struct {
	first uint64 // number of the first page
	pages []*plainPage
}

// plainPage has a bit for each of its ids.
type plainPage [64]uint64

const pageBits = 12

func (s plainUnits) has(id uint64) bool {
	n := id>>pageBits - s.first
	if n >= uint64(len(s.pages)) || s.pages[n] == nil {
		return false
	}
	return s.pages[n][id>>6&63]>>(id&63)&1 != 0
}

// plainEditor makes another version. Pages are copied once.
type plainEditor struct {
	plainUnits

	own map[uint64]bool // pages that are not shared
}

func (s plainUnits) edit() plainEditor {
	return plainEditor{plainUnits{s.first, slices.Clone(s.pages)}, make(map[uint64]bool)}
}

// page returns the page of an id for writing, nil for one that lies beyond the pages.
func (e *plainEditor) page(id uint64) *plainPage {
	n := id>>pageBits - e.first
	if n >= uint64(len(e.pages)) {
		return nil
	}
	if !e.own[n] {
		page := new(plainPage)
		if old := e.pages[n]; old != nil {
			*page = *old
		}
		e.pages[n], e.own[n] = page, true
	}
	return e.pages[n]
}

func (e *plainEditor) set(id uint64) {
	if page := e.page(id); page != nil {
		page[id>>6&63] |= 1 << (id & 63)
	}
}

func (e *plainEditor) clear(id uint64) {
	if e.has(id) {
		e.page(id)[id>>6&63] &^= 1 << (id & 63)
	}
}

// sparsePages bounds the pages by the units: where ids lie far apart, as those of small
// collections among large ones do, the pages would take more than they save.
const sparsePages = 64

// reach makes room for ids up to last among n units. Where that is too much the set
// stays as it is, and tells of fewer than there are.
func (e *plainEditor) reach(last uint64, n int) {
	pages := int(last>>pageBits-e.first) + 1 //nolint:gosec // bounded by the next line
	if last>>pageBits < e.first || pages > n/sparsePages+16 {
		return
	}
	if more := pages - len(e.pages); more > 0 {
		e.pages = append(e.pages, make([]*plainPage, more)...)
	}
}

// withPlain returns a view that tells its plain units by their ids.
func (c catalog) withPlain() catalog {
	if len(c.ids) == 0 {
		return c
	}
	e := plainUnits{first: c.ids[0] >> pageBits}.edit()
	if e.reach(c.ids[len(c.ids)-1], len(c.ids)); len(e.pages) == 0 {
		return c
	}
	for i, p := range c.parents {
		if p.plain() {
			e.set(c.ids[i])
		}
	}
	c.plain = e.plainUnits
	return c
}

// morePlain returns the plain units of a view that got others, which c has already.
func (c catalog) morePlain(units []known) plainUnits {
	e := c.plain.edit()
	e.reach(c.ids[len(c.ids)-1], len(c.ids))
	for _, u := range units {
		if u.parent.plain() {
			e.set(u.id)
		}
	}
	return e.plainUnits
}

// lessPlain returns the plain units of a view without those of some parents.
func (c catalog) lessPlain(parents []*parent) plainUnits {
	e := c.plain.edit()
	for _, p := range parents {
		i, _ := c.at(p.first)
		for n := p.units; n > 0 && i < len(c.parents); i++ {
			if c.parents[i] == p {
				e.clear(c.ids[i])
				n--
			}
		}
	}
	return e.plainUnits
}
