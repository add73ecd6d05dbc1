package vector

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ragctx/ragctx/index/vector/kernel"
)

// Rows per block. Blocks start small, so that ten thousand small collections are cheap. They grow
// with the arena up to 256 rows, so that rewriting one block stays cheap.
const (
	minBlockRows = 16
	maxBlockRows = 256
)

// block is a run of rows. The part of a block that a snapshot shows never changes: rows are written
// only past the n of every published header, and changes of live go to a copy of the header. Blocks
// that lost many rows are abandoned as a whole; the garbage collector frees them after their last
// reader.
type block struct {
	vecs []int16 // rows of the arena's stride, allocated up front
	ids  []uint64
	live [maxBlockRows / 64]uint64 // one bit per row
	n    int                       // rows written
	dead int                       // dead rows among them
	gen  uint64                    // the transaction that may modify the header
}

// rows iterates over the live rows of b.
func (b *block) rows(yield func(row int) bool) {
	for w, word := range b.live {
		for ; word != 0; word &= word - 1 {
			if !yield(w<<6 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// row returns a padded row.
func (b *block) row(i, stride int) []int16 { return b.vecs[i*stride : (i+1)*stride] }

// slot is the position of a row.
type slot struct{ block, row uint32 }

// snapshot is an immutable state of the arena that readers share without a lock.
type snapshot struct {
	blocks []*block // nil where a block was abandoned
	rows   int
	arena  *arena // nil if the snapshot is empty
	gen    uint64 // the transaction that made it
}

// arena stores the directions of vectors by id in rows of [kernel.Encode16]. It has one writer, which
// brackets its changes with begin and commit. The snapshot returned by commit stays valid and
// unchanged as long as it is referenced. Growth copies no vectors.
type arena struct {
	dim, stride int
	reading     sync.RWMutex // guards slots against readers; the writer reads without it
	slots       map[uint64]slot
	blocks      []*block
	tail        int   // the block that takes new rows, or -1
	freeBlocks  []int // unused positions in blocks
	gen         uint64
	begun       atomic.Uint64 // gen, for readers
	scratch     []int16
}

// newArena returns an empty arena for vectors of dim components.
func newArena(dim int) *arena {
	return &arena{dim: dim, stride: stride(dim), slots: make(map[uint64]slot), tail: -1}
}

// begin starts a transaction.
func (a *arena) begin() {
	a.blocks = slices.Clone(a.blocks)
	a.gen++
	a.begun.Store(a.gen)
}

// commit ends a transaction and returns the resulting state.
func (a *arena) commit() *snapshot {
	for i := range len(a.blocks) { // blocks added in this loop have no dead rows
		b := a.blocks[i]
		// At most a quarter of the rows that scans and memory pay for are dead.
		if b != nil && (b.dead == b.n || b.dead*4 > b.n && i != a.tail) {
			a.abandon(i)
		}
	}
	return &snapshot{blocks: a.blocks, rows: len(a.slots), arena: a, gen: a.gen}
}

// get returns the row of an id, or nil.
func (a *arena) get(id uint64) []int16 {
	s, ok := a.slots[id]
	if !ok {
		return nil
	}
	return a.blocks[s.block].row(int(s.row), a.stride)
}

// put stores the direction of v under id. An equal existing row stays in place.
func (a *arena) put(id uint64, v []float32) {
	if a.scratch == nil {
		a.scratch = make([]int16, a.stride)
	}
	kernel.Encode16(a.scratch, v)
	if slices.Equal(a.get(id), a.scratch) {
		return
	}
	a.remove(id)
	a.add(id, a.scratch)
}

// remove marks the row of an id as dead.
func (a *arena) remove(id uint64) {
	s, ok := a.slots[id]
	if !ok {
		return
	}
	a.reading.Lock()
	delete(a.slots, id)
	a.reading.Unlock()
	b := a.writable(int(s.block))
	b.live[s.row>>6] &^= 1 << (s.row & 63)
	b.dead++
}

// add appends a row.
func (a *arena) add(id uint64, row []int16) {
	if a.tail < 0 || a.blocks[a.tail].n == len(a.blocks[a.tail].ids) {
		a.grow()
	}
	b := a.writable(a.tail)
	copy(b.row(b.n, a.stride), row)
	b.ids[b.n] = id
	b.live[b.n>>6] |= 1 << (b.n & 63)
	a.reading.Lock()
	a.slots[id] = slot{block: uint32(a.tail), row: uint32(b.n)}
	a.reading.Unlock()
	b.n++
}

// grow adds a block and makes it the tail.
func (a *arena) grow() {
	rows := min(max(len(a.slots), minBlockRows), maxBlockRows)
	b := &block{vecs: make([]int16, rows*a.stride), ids: make([]uint64, rows), gen: a.gen}
	if n := len(a.freeBlocks); n > 0 {
		a.tail, a.freeBlocks = a.freeBlocks[n-1], a.freeBlocks[:n-1]
		a.blocks[a.tail] = b
		return
	}
	a.tail = len(a.blocks)
	a.blocks = append(a.blocks, b)
}

// writable returns the header of block i for writing, copied if a snapshot shares it.
func (a *arena) writable(i int) *block {
	b := a.blocks[i]
	if b.gen != a.gen {
		header := *b
		b = &header
		b.gen = a.gen
		a.blocks[i] = b
	}
	return b
}

// abandon moves the live rows of block i to the tail and drops the block.
func (a *arena) abandon(i int) {
	b := a.blocks[i]
	if i == a.tail {
		a.tail = -1
	}
	for row := range b.rows {
		a.add(b.ids[row], b.row(row, a.stride))
	}
	a.blocks[i] = nil
	a.freeBlocks = append(a.freeBlocks, i)
}
