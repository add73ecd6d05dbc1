package keyword

import (
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// docFreq is the number of live chunks and of their items that have a term.
type docFreq struct{ chunks, texts int }

// docFreqCache caches the document frequencies of common terms in a part. Counting them takes long,
// and queries ask for them repeatedly.
type docFreqCache struct {
	mu sync.Mutex
	m  map[string]docFreq
}

// The cache holds terms of at least minCachedChunks chunks, and at most maxCachedTerms terms.
const (
	minCachedChunks = 32
	maxCachedTerms  = 1 << 15
)

func (k *docFreqCache) get(term string) (docFreq, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.m[term]
	return n, ok
}

func (k *docFreqCache) put(term string, n docFreq) {
	if n.chunks < minCachedChunks {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m == nil || len(k.m) >= maxCachedTerms {
		k.m = make(map[string]docFreq)
	}
	k.m[strings.Clone(term)] = n // term may be part of a long query
}

// deadSet is the set of dead chunks of a part.
type deadSet struct {
	once    sync.Once
	set     *roaring.Bitmap
	texts   bitset // the items without live chunks
	partial bool   // some item has both dead and live chunks
}

// of returns the dead chunks, and false if some of their items have live chunks.
func (d *deadSet) of(p part) (*roaring.Bitmap, bool) {
	d.once.Do(func() {
		d.set = roaring.FromDense(p.dead, true)
		cols := p.columns()
		dead := make([]uint32, len(cols.items))
		for chunk := range p.dead.all() {
			dead[cols.text[cols.place[chunk]]]++
		}
		d.texts = d.texts.clone(len(cols.items))
		for text, n := range dead {
			switch n {
			case 0:
			case cols.chunkCounts[text]:
				d.texts.set(uint32(text)) //nolint:gosec // at most 2³²
			default:
				d.partial = true
			}
		}
	})
	return d.set, !d.partial
}

// owners maps each chunk of a segment to the number of its item. The chunks of an item are
// written together, so they mostly have consecutive numbers.
type owners struct {
	of          []uint32
	consecutive bool
}

// owners returns the item number of each chunk.
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
	o.consecutive = runs == len(c.items)
	return o
}

// countDocs counts the live chunks among the given ones, and their items.
func countDocs(chunks []uint32, o owners, items int, dead bitset, seen *bitset) (n docFreq) {
	if o.consecutive {
		return o.countDocs(chunks, dead)
	}
	room := (items + 63) / 64
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

// countDocs counts chunks when the chunks of each item have consecutive numbers.
func (o owners) countDocs(chunks []uint32, dead bitset) (n docFreq) {
	last := ^uint32(0) // no item has this number
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
