package hnsw

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ragctx/ragctx/index/vector/kernel"
)

// Vectors are stored in slots, numbered from 0. Slots come in chunks of [chunkSlots], which never
// move, so the graph can grow during searches. A chunk is one block of memory; its parts follow
// each other without gaps:
//
//	codes    int8    stride per slot  the vector: only the direction of the codes counts
//	lists    uint32  2·M per slot     the neighbors at level 0
//	rows     row     one per slot     1 over the length of the codes, and their sum
//	ids      uint64  one per slot     the id of the vector
//	towers   uint32  one per slot     the location of the lists above level 0, see below
//	parents  uint32  one per slot     the parent in the tree; for a duplicate, its head
//	states   5 × 512 bytes            bits: live, held, waiting, duplicate, head
//
// Neighbors, parents and heads are stored as slot+1, so that zero means none and a new chunk needs
// no initialization. A list ends at its first zero.
//
// The lists above level 0 are in towers: blocks of [towerLists] lists of M words. Lists are
// numbered across blocks. A slot's word in towers holds its level in the upper 4 bits and the
// number of its level 1 list in the others; the level 2 list has the next number, and so on. A slot
// keeps its level and its lists permanently, even when it is reused.
//
// The states of a slot:
//
//	live       its vector exists
//	held       its vector exists, or was deleted but is still in the graph or still waits
//	waiting    held, and found by the scan of waiting slots
//	duplicate  held, and found through its head, which has the same codes
//	head       it has duplicates; it remains a node, even dead, while one of them is live
//	(no other) held alone: it is a node of the graph
//
// file.go describes which parts a file contains. Free slots are those below slots that are not
// holds. counts, byID and groups are derived from the states (see restore).
const (
	chunkShift = 12 // 2.2 MB at 384 dimensions: the allocation unit
	chunkSlots = 1 << chunkShift
	chunkMask  = chunkSlots - 1

	towerShift = 10 // 64 KB at M 16
	towerLists = 1 << towerShift

	levelShift = 28
	maxLevel   = 1<<(32-levelShift) - 1

	// maxSlots leaves pool entries two bits for marks.
	maxSlots = 1 << 30
)

// Graph is an approximate nearest neighbor index. Create one with [New].
type Graph struct {
	shape

	opt     Options
	tuning  tuning
	kernels *kernel.Kernels
	dir     atomic.Pointer[directory]
	slots   atomic.Uint32 // the first slot that was never used
	entry   atomic.Uint64 // where searches begin: level<<32 | slot+1; 0 without nodes
	root    atomic.Uint32 // root of the tree, slot+1; never freed

	counts         counts
	deleted        atomic.Uint64
	freed          atomic.Uint64 // see [Graph.Freed]
	retained       atomic.Int64  // dead nodes that the last Tidy could not remove
	tidyIncomplete atomic.Bool   // the last Tidy did not finish: some parents do not list their children
	residual       atomic.Uint32 // bits of the largest float32 |unit − scale·codes| so far
	groups         sync.Map      // head (uint32) -> *dupGroup

	mu    sync.Mutex // guards the fields below; held briefly
	byID  map[uint64]uint32
	lists uint32   // tower lists in use
	free  []uint32 // slots to reuse

	epochs  epochs
	linking sync.RWMutex // read-locked while a slot is being linked
	writing sync.Mutex   // Write or Tidy; taken before shaping
	shaping sync.Mutex   // Link or Tidy; the holder need not enter an epoch, as no node is removed
	stripes [lockStripes]sync.Mutex
	scratch sync.Pool // *scratch

	mapped     []byte                       // the file, if the graph was read from one
	unmap      func() error                 // releases mapped
	unverified atomic.Pointer[verification] // nil when the graph is ready for use
}

// tuning holds the thresholds between walk and scan. Tests change it.
type tuning struct {
	walkFrom   int     // number of nodes from which walks are tried
	visitShare float64 // share of the nodes that a walk may visit
}

// counts holds numbers of slots: live, held, live and waiting, and graph nodes.
type counts struct{ live, held, waiting, nodes atomic.Int64 }

// shape holds the sizes derived from dimensions and M.
type shape struct {
	dim, stride int
	m, m0       int // lengths of lists above and at level 0
}

// row is the data of a vector, besides its codes, that a product needs.
type row struct {
	scale float32
	sum   int32
}

// bitmap has one bit per slot of a chunk.
type bitmap [chunkSlots / 64]atomic.Uint64

func (b *bitmap) has(at uint32) bool { return b[at>>6].Load()>>(at&63)&1 != 0 }
func (b *bitmap) set(at uint32)      { b[at>>6].Or(1 << (at & 63)) }
func (b *bitmap) clear(at uint32)    { b[at>>6].And(^(uint64(1) << (at & 63))) }

// chunk is a view of a block. Codes, rows and ids of a slot are written before the slot is held,
// and not again while a search may read it. All other parts are atomic.
type chunk struct {
	block   []uint32
	codes   []int8
	lists   []atomic.Uint32
	rows    *[chunkSlots]row
	ids     *[chunkSlots]uint64
	towers  *[chunkSlots]uint32
	parents *[chunkSlots]atomic.Uint32

	live, held, waiting, duplicate, head *bitmap

	pending atomic.Int32 // number of bits set in waiting
}

// directory lists the chunks and towers. It is immutable: a larger one replaces it.
type directory struct {
	chunks []*chunk
	codes  kernel.Rows8 // the codes of chunks
	towers [][]atomic.Uint32
}

// chunkWords returns the length of a block.
func (s *shape) chunkWords() int {
	perSlot := s.stride/4 + s.m0 + int(unsafe.Sizeof(row{})+unsafe.Sizeof(uint64(0)))/4 + 2
	return chunkSlots*perSlot + 5*chunkSlots/32
}

// towerWords returns the length of a block of towers.
func (s *shape) towerWords() int { return towerLists * s.m }

// view returns the parts of a block of chunkWords words. The block must be aligned to 8 bytes and
// should be aligned to 64.
func (s *shape) view(block []uint32) *chunk {
	rest := block[:s.chunkWords()]
	cut := func(words int) unsafe.Pointer {
		part := rest[:words]
		rest = rest[words:]
		return unsafe.Pointer(unsafe.SliceData(part))
	}
	c := &chunk{block: block}
	c.codes = unsafe.Slice((*int8)(cut(chunkSlots*s.stride/4)), chunkSlots*s.stride)
	c.lists = unsafe.Slice((*atomic.Uint32)(cut(chunkSlots*s.m0)), chunkSlots*s.m0)
	c.rows = (*[chunkSlots]row)(cut(2 * chunkSlots))
	c.ids = (*[chunkSlots]uint64)(cut(2 * chunkSlots))
	c.towers = (*[chunkSlots]uint32)(cut(chunkSlots))
	c.parents = (*[chunkSlots]atomic.Uint32)(cut(chunkSlots))
	for _, b := range []**bitmap{&c.live, &c.held, &c.waiting, &c.duplicate, &c.head} {
		*b = (*bitmap)(cut(chunkSlots / 32))
	}
	return c
}

// atomics returns a block of towers as atomic words, without a copy.
func atomics(block []uint32) []atomic.Uint32 {
	return unsafe.Slice((*atomic.Uint32)(unsafe.Pointer(unsafe.SliceData(block))), len(block))
}

// list returns the neighbors of a slot at a level, which the slot must have.
func (g *Graph) list(d *directory, slot uint32, level int) []atomic.Uint32 {
	c, at := d.chunk(slot)
	if level == 0 {
		from := int(at) * g.m0
		return c.lists[from : from+g.m0 : from+g.m0]
	}
	n := c.towers[at]&(1<<levelShift-1) + uint32(level) - 1 //nolint:gosec // a level is within 1..15
	from := int(n&(towerLists-1)) * g.m
	return d.towers[n>>towerShift][from : from+g.m : from+g.m]
}

// chunk returns the chunk of a slot and the slot's position in it.
func (d *directory) chunk(slot uint32) (c *chunk, at uint32) {
	return d.chunks[slot>>chunkShift], slot & chunkMask
}

// has reports whether d is recent enough to contain a slot.
func (d *directory) has(slot uint32) bool { return int(slot>>chunkShift) < len(d.chunks) }

// level returns the level of a slot.
func (d *directory) level(slot uint32) int {
	c, at := d.chunk(slot)
	return int(c.towers[at] >> levelShift)
}

// grow adds chunks and tower blocks until there are that many chunks and room for that many lists.
// The caller holds mu.
func (g *Graph) grow(chunks int, lists uint32) {
	old := g.dir.Load()
	next := &directory{chunks: old.chunks, codes: old.codes, towers: old.towers}
	for len(next.chunks) < chunks {
		c := g.view(kernel.Aligned[uint32](g.chunkWords()))
		next.chunks = append(slices.Clip(next.chunks), c)
		next.codes.Chunks = append(slices.Clip(next.codes.Chunks), c.codes)
	}
	for len(next.towers) < int(lists+towerLists-1)>>towerShift {
		block := atomics(kernel.Aligned[uint32](g.towerWords()))
		next.towers = append(slices.Clip(next.towers), block)
	}
	g.dir.Store(next)
}

// height returns the level of a slot, drawn from seed and slot alone: P(level ≥ l) = M^-l, the
// paper's mL = 1/ln M.
func (g *Graph) height(slot uint32) int {
	r := rand.NewPCG(g.opt.Seed, uint64(slot))
	level := 0
	for range maxLevel {
		if r.Uint64()%uint64(g.m) != 0 { //nolint:gosec // M is within 2..64
			break
		}
		level++
	}
	return level
}
