package hnsw

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/bits"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/ragctx/ragctx/index/vector/kernel"
)

const (
	// Measured on the same embeddings: with M 24, walks visit as many nodes for the same recall,
	// and a vector takes 64 bytes more.
	defaultM = 16

	// Linking takes 56 to 70 µs of CPU time per vector. With 80 it takes a third less, and walks visit a
	// third more nodes for a recall of .99.
	defaultEfConstruction = 128

	minM, maxM = 4, 64
)

// Options configure a graph. Zero fields other than Dimensions get defaults.
type Options struct {
	Dimensions int // components of a vector, 1..65,536

	// M is how many neighbors a node chooses, 4..64. Lists at level 0 hold twice as many. Default
	// 16.
	M int

	// EfConstruction is the number of candidates from which neighbors are chosen, M..10,000.
	// Default 128.
	EfConstruction int

	// Workers is the number of goroutines that link. Default GOMAXPROCS.
	Workers int

	// LinkFrom is the number of vectors from which a graph is built, and of nodes from which it is
	// walked. Fewer are scanned. Default [ScanBelow].
	LinkFrom int

	// Kernels compute the products. Default [kernel.Best].
	Kernels *kernel.Kernels

	// Seed determines the levels of nodes. With one worker and the same calls, graphs are equal.
	Seed uint64
}

// withDefaults validates o and fills in the defaults.
func (o Options) withDefaults() (Options, error) {
	o.M = cmp.Or(o.M, defaultM)
	o.EfConstruction = cmp.Or(o.EfConstruction, max(o.M, defaultEfConstruction))
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.LinkFrom = cmp.Or(o.LinkFrom, ScanBelow)
	if o.Kernels == nil {
		o.Kernels = kernel.Best()
	}
	for _, limit := range []struct {
		name         string
		n, low, high int
	}{
		{"Dimensions", o.Dimensions, 1, kernel.MaxStride8},
		{"M", o.M, minM, maxM},
		{"EfConstruction", o.EfConstruction, o.M, 10_000},
		{"Workers", o.Workers, 1, 1024},
		{"LinkFrom", o.LinkFrom, 1, maxSlots},
	} {
		if limit.n < limit.low || limit.n > limit.high {
			return o, fmt.Errorf("hnsw: %s is %d, must be within %d..%d", limit.name, limit.n, limit.low, limit.high)
		}
	}
	return o, nil
}

// New returns an empty graph.
func New(o Options) (*Graph, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &Graph{
		shape:   shape{dim: o.Dimensions, stride: kernel.Stride8(o.Dimensions), m: o.M, m0: 2 * o.M},
		opt:     o,
		tuning:  tuning{walkFrom: o.LinkFrom, visitShare: visitShare},
		kernels: o.Kernels,
		byID:    make(map[uint64]uint32),
	}
	g.dir.Store(&directory{codes: kernel.Rows8{Shift: chunkShift, Stride: g.stride}})
	g.scratch.New = func() any { return g.newScratch() }
	return g, nil
}

// IDs iterates over the ids of live vectors in no particular order. It may or may not include ids
// put or deleted during the iteration.
func (g *Graph) IDs() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if err := g.ready(context.Background()); err != nil {
			return
		}
		defer g.catch(nil, debug.SetPanicOnFault(true))
		defer g.epochs.leave(g.epochs.enter())
		for _, c := range g.dir.Load().chunks {
			for at := range c.live.all {
				if !yield(c.ids[at]) {
					return
				}
			}
		}
	}
}

// all iterates over the bits that are set.
func (b *bitmap) all(yield func(at uint32) bool) {
	for i := range b {
		for word := b[i].Load(); word != 0; word &= word - 1 {
			if !yield(uint32(i<<6 + bits.TrailingZeros64(word))) { //nolint:gosec // below chunkSlots
				return
			}
		}
	}
}

// Waiting returns the number of live vectors that are not linked yet.
func (g *Graph) Waiting() int { return int(g.counts.waiting.Load()) }

// Deleted returns the number of vectors deleted or replaced so far.
func (g *Graph) Deleted() uint64 { return g.deleted.Load() }

// Freed returns the number of deleted vectors that were never linked and are already freed. A
// search with [Query].Dead no longer finds these.
func (g *Graph) Freed() uint64 { return g.freed.Load() }

// Stats describe a graph.
type Stats struct {
	Live     int   // vectors
	Dead     int   // deleted vectors that are still in the graph or still wait
	Retained int   // dead nodes that the last Tidy could not remove
	Slots    int   // slots for vectors, used or free
	Waiting  int   // live vectors not linked yet
	Nodes    int   // of the graph, live and dead; vectors with the same codes share one
	Levels   int   // of the graph; 0 without nodes
	Bytes    int64 // memory in total
}

// bytesPerID is the memory per id in the map: a Swiss table at its average load of two thirds has
// 17 bytes for each of 1.5 places.
const bytesPerID = 26

// Stats returns the current state. It reads only counters.
func (g *Graph) Stats() (st Stats) {
	d := g.dir.Load()
	live, held := g.counts.live.Load(), g.counts.held.Load()
	st = Stats{
		Live:     int(live),
		Dead:     int(max(held-live, 0)),
		Retained: int(g.retained.Load()),
		Slots:    int(g.slots.Load()),
		Waiting:  g.Waiting(),
		Nodes:    int(g.counts.nodes.Load()),
		Bytes:    int64(len(d.chunks)*g.chunkWords()+len(d.towers)*g.towerWords())*4 + live*bytesPerID,
	}
	if e := g.entry.Load(); e != 0 {
		st.Levels = int(e>>32) + 1
	}
	return st
}

// degree returns the average length of the lists at level 0. It reads all lists. It returns 0 until
// the file that the graph was read from is verified.
func (g *Graph) degree() (degree float64) {
	if g.unverified.Load() != nil {
		return 0
	}
	defer g.catch(nil, debug.SetPanicOnFault(true))
	defer g.epochs.leave(g.epochs.enter())
	d := g.dir.Load()
	links := 0
	for slot := range g.slots.Load() {
		links += length(g.list(d, slot, 0))
	}
	return float64(links) / float64(max(g.counts.nodes.Load(), 1))
}

// length returns the number of neighbors in a list.
func length(list []atomic.Uint32) int {
	for i := range list {
		if list[i].Load() == 0 {
			return i
		}
	}
	return len(list)
}
