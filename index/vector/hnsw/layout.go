package hnsw

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ragctx/ragctx/index/vector/kernel"
)

// Vectors live in slots, numbered from 0. Slots come in chunks of [chunkSlots],
// which never move, so that the graph grows beside searches. A chunk is one block
// of memory; its parts follow each other without gaps:
//
//	codes    int8    stride per slot  the vector: its direction is that of the codes
//	lists    uint32  2·M per slot     the neighbours at level 0
//	rows     row     one per slot     1 over the length of the codes, and their sum
//	ids      uint64  one per slot     whose vector it is
//	towers   uint32  one per slot     the lists of the levels above, below
//	parents  uint32  one per slot     the parent in the tree; of a twin, its head
//	states   5 × 512 bytes            bits: live, held, waiting, twin, head
//
// A neighbour, a parent and a head are stored as slot+1, so that zero means none
// and a new chunk needs no filling. A list ends at its first zero.
//
// The lists above level 0 lie in towers, blocks of [towerLists] lists of M words.
// Lists are numbered across blocks. A slot's word in towers is its level in the
// upper 4 bits and the number of its list of level 1 in the others; level 2 has
// the next number, and so on. A slot keeps level and lists for ever, also when it
// is used again.
//
// The states of a slot:
//
//	live     its vector is there
//	held     its vector is there, or was deleted but is in the graph or waits yet
//	waiting  held, and found by the scan of what waits
//	twin     held, and found through its head, whose codes are the same
//	head     it has twins; it stays a node, dead or not, while one of them lives
//	(none)   held only: it is a node of the graph
//
// What of it is in a file, see file.go. Free slots are those below slots that are
// not held; counts, byID and families follow from the states (see restore).
const (
	chunkShift = 12 // 2.2 MB at 384 dimensions: the unit of growth
	chunkSlots = 1 << chunkShift
	chunkMask  = chunkSlots - 1

	towerShift = 10 // 64 KB at M 16
	towerLists = 1 << towerShift

	levelShift = 28
	maxLevel   = 1<<(32-levelShift) - 1

	// maxSlots leaves entries of the pool two bits for marks.
	maxSlots = 1 << 30
)

// Graph finds near vectors. Make one with [New].
type Graph struct {
	shape

	opt     Options
	tuning  tuning
	kernels *kernel.Kernels
	dir     atomic.Pointer[directory]
	slots   atomic.Uint32 // the first that was never used
	entry   atomic.Uint64 // where searches begin: level<<32 | slot+1; 0: no node
	root    atomic.Uint32 // of the tree, slot+1; never freed

	counts   counts
	deleted  atomic.Uint64
	freed    atomic.Uint64 // see [Graph.Freed]
	stuck    atomic.Int64  // dead nodes that the last Tidy had to leave
	torn     atomic.Bool   // a Tidy did not come to its end: some parents do not know their children
	residual atomic.Uint32 // bits of the largest float32 |unit − scale·codes| so far
	families sync.Map      // head (uint32) -> *family

	mu    sync.Mutex // guards what follows; held briefly
	byID  map[uint64]uint32
	lists uint32   // of towers, used
	free  []uint32 // slots to use again

	epochs  epochs
	linking sync.RWMutex // read: a slot is just being linked
	writing sync.Mutex   // Write or Tidy; taken before shaping
	shaping sync.Mutex   // Link or Tidy; who holds it need not enter an epoch: no node goes away
	stripes [lockStripes]sync.Mutex
	scratch sync.Pool // *scratch

	mapped   []byte                // the file, if it was read from one
	unmap    func() error          // lets go of it
	unproven atomic.Pointer[proof] // nil: g can be used
}

// tuning decides between walk and scan. Tests change it.
type tuning struct {
	walkFrom   int     // nodes from which on walks are tried
	visitShare float64 // of the nodes: how many a walk may visit
}

// counts are numbers of slots: live; held; live and waiting; nodes of the graph.
type counts struct{ live, held, waiting, nodes atomic.Int64 }

// shape is what follows from dimensions and M.
type shape struct {
	dim, stride int
	m, m0       int // lengths of lists above and at level 0
}

// row is what a product needs besides the codes.
type row struct {
	scale float32
	sum   int32
}

// bitmap has one bit per slot of a chunk.
type bitmap [chunkSlots / 64]atomic.Uint64

func (b *bitmap) has(at uint32) bool { return b[at>>6].Load()>>(at&63)&1 != 0 }
func (b *bitmap) set(at uint32)      { b[at>>6].Or(1 << (at & 63)) }
func (b *bitmap) clear(at uint32)    { b[at>>6].And(^(uint64(1) << (at & 63))) }

// chunk is a view of a block. Codes, rows and ids of a slot are written before
// the slot is held and not again while a search may look at it; all else is
// atomic.
type chunk struct {
	block   []uint32
	codes   []int8
	lists   []atomic.Uint32
	rows    *[chunkSlots]row
	ids     *[chunkSlots]uint64
	towers  *[chunkSlots]uint32
	parents *[chunkSlots]atomic.Uint32

	live, held, waiting, twin, head *bitmap

	pending atomic.Int32 // how many bits of waiting are set
}

// directory says where chunks and towers are. It does not change: a larger one
// takes its place.
type directory struct {
	chunks []*chunk
	codes  kernel.Rows8 // those of chunks
	towers [][]atomic.Uint32
}

// chunkWords returns the length of a block.
func (s *shape) chunkWords() int {
	perSlot := s.stride/4 + s.m0 + int(unsafe.Sizeof(row{})+unsafe.Sizeof(uint64(0)))/4 + 2
	return chunkSlots*perSlot + 5*chunkSlots/32
}

// towerWords returns the length of a block of towers.
func (s *shape) towerWords() int { return towerLists * s.m }

// view returns the parts of a block of chunkWords words, which must begin at a
// multiple of 8 bytes and had better begin at one of 64.
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
	for _, b := range []**bitmap{&c.live, &c.held, &c.waiting, &c.twin, &c.head} {
		*b = (*bitmap)(cut(chunkSlots / 32))
	}
	return c
}

// atomics returns the words of a block of towers.
func atomics(block []uint32) []atomic.Uint32 {
	return unsafe.Slice((*atomic.Uint32)(unsafe.Pointer(unsafe.SliceData(block))), len(block))
}

// list returns the neighbours of a slot at a level that it has.
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

// chunk returns a slot's chunk, and its place there.
func (d *directory) chunk(slot uint32) (c *chunk, at uint32) {
	return d.chunks[slot>>chunkShift], slot & chunkMask
}

// has reports whether d is new enough to know a slot.
func (d *directory) has(slot uint32) bool { return int(slot>>chunkShift) < len(d.chunks) }

// level returns the level of a slot.
func (d *directory) level(slot uint32) int {
	c, at := d.chunk(slot)
	return int(c.towers[at] >> levelShift)
}

// grow adds a chunk, or blocks of towers until there is room for n lists. The
// caller holds mu.
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

// height draws the level of a slot, which depends on nothing but seed and slot:
// P(level ≥ l) = M^-l, the paper's mL = 1/ln M.
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
