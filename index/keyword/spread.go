package keyword

import (
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// docFreq is the number of live chunks and of their parents that have a term.
type spread struct{ chunks, texts int }

// docFreqCache caches the document frequencies of common terms in a part. Counting them takes long,
// and queries ask for them repeatedly.
type knownSpread struct {
	mu sync.Mutex
	m  map[string]spread
}

// The cache holds terms of at least minCachedChunks chunks, and at most maxCachedTerms terms.
const (
	minCachedChunks = 32
	spreadTerms     = 1 << 15
)

func (k *knownSpread) get(term string) (spread, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.m[term]
	return n, ok
}

func (k *knownSpread) put(term string, n spread) {
	if n.chunks < minCachedChunks {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m == nil || len(k.m) >= spreadTerms {
		k.m = make(map[string]spread)
	}
	k.m[strings.Clone(term)] = n // term may be part of a long query
}

// deadSet is the set of dead chunks of a part.
type departed struct {
	once sync.Once
	set  *roaring.Bitmap
	text bitset // the parents without live chunks
	torn bool   // some parent has both dead and live chunks
}

// of returns the dead chunks, and false if some of their parents have live chunks.
func (d *departed) of(p part) (*roaring.Bitmap, bool) {
	d.once.Do(func() {
		d.set = roaring.FromDense(p.dead, true)
		cols := p.columns()
		dead := make([]uint32, len(cols.parents))
		for chunk := range p.dead.all() {
			dead[cols.text[cols.place[chunk]]]++
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

// owners maps each chunk of a segment to the number of its parent. The chunks of a parent are
// written together, so they mostly have consecutive numbers.
type owners struct {
	of          []uint32
	consecutive bool
}

// owners returns the parent number of each chunk.
func (c *columns) owners() owners {
	o := owners{of: make([]uint32, len(c.place))}
	for chunk, place := range c.place {
		o.of[chunk] = c.text[place]
	}
	runs := 0
	for chunk, text := range o.of {
		if chunk == 0 || text != o.of[chunk-1] {
			runs++
		}
	}
	o.consecutive = runs == len(c.parents)
	return o
}

// countDocs counts the live chunks among the given ones, and their parents.
func spreadOf(chunks []uint32, o owners, parents int, dead bitset, seen *bitset) (n spread) {
	if o.consecutive {
		return o.spreadOf(chunks, dead)
	}
	room := (parents + 63) / 64
	if len(*seen) < room {
		*seen = make(bitset, room)
	}
	set := (*seen)[:room]
	for _, chunk := range chunks {
		if dead.has(chunk) {
			continue
		}
		n.chunks++
		word, bit := &set[o.of[chunk]>>6], uint64(1)<<(o.of[chunk]&63)
		if *word&bit == 0 {
			*word |= bit
			n.texts++
		}
	}
	if n.texts > room {
		clear(set)
		return n
	}
	for _, chunk := range chunks {
		set[o.of[chunk]>>6] = 0
	}
	return n
}

// countDocs counts chunks when those of each parent have consecutive numbers.
func (o owners) spreadOf(chunks []uint32, dead bitset) (n spread) {
	last := ^uint32(0) // no parent has this number
	for _, chunk := range chunks {
		if dead.has(chunk) {
			continue
		}
		n.chunks++
		if text := o.of[chunk]; text != last {
			last = text
			n.texts++
		}
	}
	return n
}
