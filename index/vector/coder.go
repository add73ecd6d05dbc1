//go:build !windows

package vector

import (
	"context"
	"slices"
	"sync"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector/kernel"
)

var _ index.VectorIndex = (*coder)(nil)

// coder is a vector index over github.com/coder/hnsw that works around the library's defects. That
// library misses neighbors on clustered vectors, returns deleted keys, panics when a key is
// replaced, has no filters, and may not be read during writes. Therefore every vector gets its own
// node, which is never replaced. Nodes of deleted vectors are skipped until a rebuild. Searches
// over-fetch and rank by exact cosines from a separate copy of the vectors. A panic drops the
// graph, not the process. An exact scan serves everything that the graph cannot: filters, Exact,
// small indexes, too few hits, and all queries while there is no graph.
//
// Like [flat] it is in memory only. It holds each vector twice. Equal queries may find different
// neighbors, as the graph is built and entered at random. [coder.Recall] measures how much it
// finds.
type coder struct {
	flat  *flat
	apply sync.Mutex // held by Apply and Close

	mu            sync.RWMutex // guards graph, and changes of the whole index
	graph         *graph       // nil if there is no graph
	graphDisabled bool         // building the graph panicked; it is not tried again
}

// newCoder returns an empty index for vectors of dim components. It panics
// unless dim is within 1..[MaxDimensions]; [New] returns an error instead.
func newCoder(dim int) *coder {
	return &coder{flat: newFlat(dim), graph: newGraph()}
}

// Apply implements [index.VectorIndex]. It first adds the nodes, one lock each, which no search can see
// yet. It then publishes the whole batch at once. Occasionally it rebuilds the graph, which takes
// as long as filling it.
func (c *coder) Apply(ctx context.Context, _ uint64, upserts []index.VectorChunk, deletes []uint64) error {
	c.apply.Lock()
	defer c.apply.Unlock()
	if err := c.flat.usable(ctx); err != nil {
		return err
	}
	lengths, err := norms(upserts, c.flat.dim)
	if err != nil {
		return err
	}
	changes := c.plan(upserts, lengths, deletes)
	nodes, err := c.insert(ctx, changes)
	if err != nil {
		return err
	}
	c.publish(func() {
		c.flat.store(upserts, lengths, deletes)
		c.graph.relink(changes, nodes)
	})
	c.rebuildIfNeeded(ctx)
	return nil
}

// change is the effect of a batch on one chunk; unit is nil if the vector is removed.
type change struct {
	id   uint64
	unit []float32
}

// plan returns the changes of a batch, at most one per chunk, without those that have no effect.
func (c *coder) plan(upserts []index.VectorChunk, lengths []float64, deletes []uint64) []change {
	var changes []change
	seen := make(map[uint64]bool, len(upserts)+len(deletes))
	for _, id := range deletes { // backwards: the last change of a chunk counts
		if !seen[id] {
			changes = append(changes, change{id: id})
		}
		seen[id] = true
	}
	for i, u := range slices.Backward(upserts) {
		if seen[u.ID] {
			continue
		}
		seen[u.ID] = true
		next := change{id: u.ID}
		var row []int16
		if lengths[i] > 0 {
			row = make([]int16, c.flat.arena.stride)
			kernel.Encode16(row, u.Vector)
			next.unit = c.node(row)
		}
		if !slices.Equal(c.flat.arena.get(u.ID), row) {
			changes = append(changes, next)
		}
	}
	return changes
}

// node returns the vector of a row, padded as queries are.
func (c *coder) node(row []int16) []float32 {
	unit := make([]float32, len(row))
	kernel.Decode16(unit[:c.flat.dim], row)
	return unit
}

// insert adds nodes that are not linked to a chunk yet and returns them in the order of the
// changes. If ctx ends, the added nodes are dead until a rebuild.
func (c *coder) insert(ctx context.Context, changes []change) ([]uint64, error) {
	nodes := make([]uint64, len(changes))
	for i, ch := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if ch.unit != nil {
			c.publish(func() { nodes[i] = c.graph.add(ch.unit) })
		}
	}
	return nodes, nil
}

// publish runs change while no search reads the graph, and drops the graph if the library panics.
func (c *coder) publish(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	if c.graph != nil && c.graph.broken {
		c.graph = nil
	}
}

// rebuildIfNeeded rebuilds the graph if it was dropped or has many dead nodes. Searches continue.
// If ctx ends, the next batch tries again.
func (c *coder) rebuildIfNeeded(ctx context.Context) {
	if c.graphDisabled || c.graph != nil && !c.graph.stale() {
		return
	}
	state := c.flat.state.Load()
	fresh := newGraph()
	for _, b := range state.blocks {
		if b == nil {
			continue
		}
		for row := range b.rows {
			if ctx.Err() != nil {
				return
			}
			fresh.link(b.ids[row], fresh.add(c.node(b.row(row, c.flat.arena.stride))))
		}
	}
	c.graphDisabled = fresh.broken
	c.publish(func() { c.graph = fresh })
}

// Search implements [index.VectorIndex].
func (c *coder) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	if err := c.flat.usable(ctx); err != nil {
		return nil, err
	}
	unit, err := queryUnit(q.Vector, c.flat.dim)
	if err != nil || unit == nil {
		return nil, err
	}
	if !q.Exact && q.Accept == nil && q.Only == nil && q.K > 0 {
		if hits, ok := c.nearest(unit, q.K); ok {
			return hits, nil
		}
	}
	return c.flat.Search(ctx, q)
}

// nearest searches the graph. It returns false if an exact scan must answer.
func (c *coder) nearest(unit []float32, k int) ([]index.Scored, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.graph == nil {
		return nil, false
	}
	ids, ok := c.graph.near(unit, k)
	if !ok {
		return nil, false
	}
	top := &topK{k: k}
	for _, id := range ids {
		// publish changes the arena under c.mu, so reading it here is safe.
		h := index.Scored{ID: id, Score: cosine(dot(unit, c.flat.arena.get(id)))}
		if top.admits(h) {
			top.add(h)
		}
	}
	return top.sorted(), len(top.hits) == k
}

// Similarity implements [index.VectorIndex] like [flat.Similarity].
func (c *coder) Similarity(v []float32) func(id uint64) (float64, bool) { return c.flat.Similarity(v) }

// Cursor returns 0: nothing survives the process.
func (c *coder) Cursor() uint64 { return 0 }

// Flush does nothing.
func (c *coder) Flush(ctx context.Context) error { return c.flat.Flush(ctx) }

// Compact does nothing: there are no files.
func (c *coder) Compact(ctx context.Context) error { return c.flat.Compact(ctx) }

// Stats implements [index.VectorIndex].
func (c *coder) Stats() index.PartStats {
	s := c.flat.Stats()
	if s.Kind != "" {
		s.Kind = kindCoder
	}
	return s
}

// Close frees the vectors and the graph. Closing twice is harmless.
func (c *coder) Close() error {
	c.apply.Lock()
	defer c.apply.Unlock()
	c.publish(func() { c.graph = nil })
	return c.flat.Close()
}

func openCoder(dim int) (index.VectorIndex, error) { return newCoder(dim), nil }
