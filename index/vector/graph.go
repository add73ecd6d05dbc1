//go:build !windows

package vector

import (
	"math/rand"

	"github.com/coder/hnsw"
)

const (
	// overFetch is the number of graph hits fetched per requested hit, and minFetch the minimum:
	// the graph misses neighbors, and a wider search finds more of them.
	overFetch = 4
	minFetch  = 64
	// A graph is stale when more than a third of its nodes, and at least minDead, are dead.
	minDead = 64
)

// graph is a coder/hnsw graph that never replaces or deletes its nodes, as the library does
// neither reliably. A node is live while a chunk is linked to it. A nil or broken graph ignores all
// changes.
type graph struct {
	hnsw   *hnsw.Graph[uint64]
	chunks map[uint64]uint64 // live node -> chunk
	nodes  map[uint64]uint64 // chunk -> live node
	size   uint64            // nodes, live and dead; they are numbered from 1
	broken bool              // the library panicked during a change
}

// newGraph returns an empty graph with the library's defaults, except for the random source: the
// default one is seeded with the time.
func newGraph() *graph {
	g := hnsw.NewGraph[uint64]()
	g.EfSearch = minFetch
	g.Rng = rand.New(rand.NewSource(1))
	return &graph{hnsw: g, chunks: make(map[uint64]uint64), nodes: make(map[uint64]uint64)}
}

// add adds a dead node that holds unit.
func (g *graph) add(unit []float32) (node uint64) {
	if g == nil || g.broken {
		return 0
	}
	g.broken = true // unless Add returns
	defer func() { _ = recover() }()
	g.size++
	g.hnsw.Add(hnsw.MakeNode(g.size, unit))
	g.broken = false
	return g.size
}

// link makes node the node of a chunk, and the chunk's former node dead. With node 0 it only does
// the latter.
func (g *graph) link(id, node uint64) {
	if g == nil || g.broken {
		return
	}
	delete(g.chunks, g.nodes[id])
	delete(g.nodes, id)
	if node != 0 {
		g.chunks[node], g.nodes[id] = id, node
	}
}

// relink links the chunks of all changes to their nodes.
func (g *graph) relink(changes []change, nodes []uint64) {
	for i, ch := range changes {
		g.link(ch.id, nodes[i])
	}
}

// stale reports whether a rebuild pays off.
func (g *graph) stale() bool {
	dead := int(g.size) - len(g.chunks)
	return dead >= minDead && dead > len(g.chunks)/2
}

// near returns more than k chunks near q, unordered. It returns false if that would cost as much as
// a scan, or if the library panics.
func (g *graph) near(q []float32, k int) (ids []uint64, ok bool) {
	live := len(g.chunks)
	if k > live/overFetch || live <= minFetch {
		return nil, false
	}
	defer func() {
		if recover() != nil {
			ids, ok = nil, false
		}
	}()
	// Dead nodes take places: fetch that many more. Staleness bounds the factor.
	fetch := max(k*overFetch, minFetch) * int(g.size) / live
	for _, n := range g.hnsw.Search(q, fetch) {
		if id, linked := g.chunks[n.Key]; linked {
			ids = append(ids, id)
		}
	}
	return ids, true
}
