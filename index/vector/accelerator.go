package vector

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"

	"github.com/ragctx/ragctx/index/vector/hnsw"
)

// annGraph is the part of [hnsw.Graph] that [native] uses. Any number of searches may run
// concurrently with one goroutine that puts and deletes, one Link or Tidy, and one Write.
type annGraph interface {
	annMaintenance

	// Put sets the vector of an id, which has unit length. It can be found at once.
	Put(id uint64, unit []float32) error
	Delete(id uint64)
	// Same reports whether an id already has the data that Put would store for unit.
	Same(id uint64, unit []float32) bool
	IDs() iter.Seq[uint64] // concurrent changes may be included or not
	// Search appends the nearest vectors to a list, best first, by approximate score.
	Search(ctx context.Context, q hnsw.Query, to []hnsw.Near) ([]hnsw.Near, hnsw.Info, error)
	// Write writes the graph under a name. The file has nothing of vectors deleted before it
	// begins.
	Write(w io.Writer, name string) error
	Stats() hnsw.Stats
	Close() error
}

// annMaintenance links new vectors into a graph and removes deleted ones.
type annMaintenance interface {
	// Deleted counts the vectors that were deleted or replaced.
	Deleted() uint64
	// Freed counts the deleted vectors that no search can reach any more, not counting those
	// removed by Tidy.
	Freed() uint64
	// Link links the waiting vectors into the graph.
	Link(ctx context.Context) error
	Waiting() int
	// Tidy removes deleted vectors; Stale reports whether that pays off.
	Tidy(ctx context.Context) error
	Stale() bool
}

// graphFactory creates and opens graphs.
type graphFactory struct {
	empty func() (annGraph, error)
	// open reads a graph file and returns the graph and its name.
	open func(path string) (annGraph, string, error)
}

// accelerator is a graph for the rows of an index, with the state that relates the two.
type accelerator struct {
	annGraph
	refs atomic.Int64
	// complete reports that the graph has every row of the index, so that it may answer queries.
	complete atomic.Bool
	// synced is the sync point at the end of the last batch. Searches load it before their view of
	// the rows.
	synced atomic.Pointer[syncPoint]
	// tidies counts the beginnings and ends of Tidy: it is odd during one.
	tidies atomic.Uint64
	saved  atomic.Pointer[savedState]
	// tidiedAt is Deleted at the last Tidy, plus one.
	tidiedAt atomic.Uint64
	// puts counts the vectors put, from 1. linkedAt is the value of puts when the last completed
	// Link began.
	puts, linkedAt atomic.Uint64
}

func newAccelerator(g annGraph) *accelerator {
	a := &accelerator{annGraph: g}
	a.refs.Store(1)
	a.puts.Store(1)
	a.saved.Store(new(savedState))
	a.synced.Store(new(syncPoint))
	return a
}

// retain takes a reference; it returns false if the last one has been released.
func (a *accelerator) retain() bool {
	for {
		n := a.refs.Load()
		if n == 0 {
			return false
		}
		if a.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// put puts a vector unless the graph already has it.
func (a *accelerator) put(id uint64, unit []float32) error {
	if a.Same(id, unit) {
		return nil
	}
	err := a.Put(id, unit)
	a.puts.Add(1)
	return err
}

// linkable reports whether Link would do anything. Vectors that still wait after a complete Link
// stay with the scan.
func (a *accelerator) linkable() bool {
	return a.Waiting() > 0 && a.puts.Load() != a.linkedAt.Load()
}

// link links waiting vectors for at most linkTime.
func (a *accelerator) link(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, linkTime)
	defer cancel()
	begin := a.puts.Load()
	err := guard(func() error { return a.Link(within) })
	switch {
	case err == nil:
		a.linkedAt.Store(begin)
	case ctx.Err() == nil && errors.Is(err, within.Err()):
		return nil // the next call continues
	}
	return err
}

// release releases a reference; the last release closes the graph.
func (a *accelerator) release() {
	if a.refs.Add(-1) == 0 {
		_ = a.Close() // no user is left to report an error to
	}
}

// syncPoint is a moment at which a graph has exactly the vectors of the rows.
type syncPoint struct{ deleted, tidies, freed uint64 }

// markSynced records that graph and rows have the same vectors. The caller holds native.write.
func (a *accelerator) markSynced() {
	a.synced.Store(&syncPoint{deleted: a.Deleted(), tidies: a.tidies.Load(), freed: a.Freed()})
}

// deletedSince reports whether a vector may have been deleted since m that a view taken after m
// still has.
func (a *accelerator) deletedSince(m *syncPoint) bool { return a.Deleted() != m.deleted }

// freedSince reports whether a vector deleted since m may be out of reach even for a search with
// [hnsw.Query].Dead.
func (a *accelerator) freedSince(m *syncPoint) bool {
	return m.tidies%2 == 1 || a.tidies.Load() != m.tidies || a.Freed() != m.freed
}

// stale reports whether Tidy pays off and has not just run.
func (a *accelerator) stale() bool { return a.Stale() && a.tidiedAt.Load() != a.Deleted()+1 }

// tidy removes the deleted vectors.
func (a *accelerator) tidy(ctx context.Context) error {
	a.tidies.Add(1)
	defer a.tidies.Add(1)
	a.tidiedAt.Store(a.Deleted() + 1)
	return guard(func() error { return a.Tidy(ctx) })
}
