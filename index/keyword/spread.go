package keyword

import (
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// spread is how many live units and parents have a term.
type spread struct{ units, texts int }

// knownSpread keeps how far terms are spread in a part that many of its units
// have. Counting those takes long, and questions have them again and again.
type knownSpread struct {
	mu sync.Mutex
	m  map[string]spread
}

// Spreads are kept of terms that so many units of a part have, of so many terms.
const (
	spreadUnits = 32
	spreadTerms = 1 << 15
)

func (k *knownSpread) get(term string) (spread, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.m[term]
	return n, ok
}

func (k *knownSpread) put(term string, n spread) {
	if n.units < spreadUnits {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m == nil || len(k.m) >= spreadTerms {
		k.m = make(map[string]spread)
	}
	k.m[strings.Clone(term)] = n // which may be part of a long question
}

// departed are the dead units of a part.
type departed struct {
	once sync.Once
	set  *roaring.Bitmap
	text bitset // the parents of which no unit is alive
	torn bool   // some parent has living ones as well
}

// of returns the dead units, and false if their parents are not all dead with them.
func (d *departed) of(p part) (*roaring.Bitmap, bool) {
	d.once.Do(func() {
		d.set = roaring.FromDense(p.dead, true)
		cols := p.columns()
		dead := make([]uint32, len(cols.parents))
		for unit := range p.dead.all() {
			dead[cols.text[cols.place[unit]]]++
		}
		d.text = d.text.clone(len(cols.parents))
		for text, n := range dead {
			switch n {
			case 0:
			case cols.count[text]:
				d.text.set(uint32(text)) //nolint:gosec // at most 2³²
			default:
				d.torn = true
			}
		}
	})
	return d.set, !d.torn
}

// owners has the parent's number of each unit of a segment. Mostly the units of a
// parent have consecutive numbers, as they were written together.
type owners struct {
	of          []uint32
	consecutive bool
}

// owners returns the parent's number of each unit.
func (c *columns) owners() owners {
	o := owners{of: make([]uint32, len(c.place))}
	for unit, place := range c.place {
		o.of[unit] = c.text[place]
	}
	runs := 0
	for unit, text := range o.of {
		if unit == 0 || text != o.of[unit-1] {
			runs++
		}
	}
	o.consecutive = runs == len(c.parents)
	return o
}

// spreadOf counts the live ones among units, and their parents.
func spreadOf(units []uint32, o owners, parents int, dead bitset, seen *bitset) (n spread) {
	if o.consecutive {
		return o.spreadOf(units, dead)
	}
	room := (parents + 63) / 64
	if len(*seen) < room {
		*seen = make(bitset, room)
	}
	set := (*seen)[:room]
	for _, unit := range units {
		if dead.has(unit) {
			continue
		}
		n.units++
		word, bit := &set[o.of[unit]>>6], uint64(1)<<(o.of[unit]&63)
		if *word&bit == 0 {
			*word |= bit
			n.texts++
		}
	}
	if n.texts > room {
		clear(set)
		return n
	}
	for _, unit := range units {
		set[o.of[unit]>>6] = 0
	}
	return n
}

// spreadOf counts where a parent's units follow each other.
func (o owners) spreadOf(units []uint32, dead bitset) (n spread) {
	last := ^uint32(0) // no parent's
	for _, unit := range units {
		if dead.has(unit) {
			continue
		}
		n.units++
		if text := o.of[unit]; text != last {
			last = text
			n.texts++
		}
	}
	return n
}
