package vector

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"

	"github.com/ragctx/ragctx/index/vector/hnsw"
)

// neighbours is what the leg asks of a graph; see [hnsw.Graph]. Any number of
// searches run beside one that puts and deletes, one Link or Tidy, and one Write.
type neighbours interface {
	// Put makes the vector of unit length the one of an id, found at once.
	Put(id uint64, unit []float32) error
	Delete(id uint64)
	// Same reports whether an id is there with what Put would make of unit.
	Same(id uint64, unit []float32) bool
	IDs() iter.Seq[uint64] // what changes meanwhile may be among them or not
	// Search adds to a list what is near, best first, by approximate score.
	Search(ctx context.Context, q hnsw.Query, to []hnsw.Near) ([]hnsw.Near, hnsw.Info, error)
	// Deleted counts the vectors that were deleted or replaced.
	Deleted() uint64
	// Freed counts the deleted vectors that are out of reach for good, but for those
	// that Tidy takes out.
	Freed() uint64
	// Link connects the vectors that wait for it.
	Link(ctx context.Context) error
	Waiting() int
	// Tidy takes out what was deleted; Stale says when that pays.
	Tidy(ctx context.Context) error
	Stale() bool
	// Write writes the graph, with a name of the caller's. Nothing of what is deleted
	// when it begins is in it.
	Write(w io.Writer, name string) error
	Stats() hnsw.Stats
	Close() error
}

// graphs makes graphs.
type graphs struct {
	empty func() (neighbours, error)
	// open reads one that was written, and its name.
	open func(path string) (neighbours, string, error)
}

// accelerator is a graph beside the rows of a leg, and how the two stand.
type accelerator struct {
	neighbours
	refs atomic.Int64
	// whole says that the graph has every row of the leg, so that it may answer.
	whole atomic.Bool
	// mark is how it stood at the end of the last batch. Searches take it before
	// their view of the rows.
	mark atomic.Pointer[mark]
	// tidies is odd while what was deleted is taken out for good.
	tidies atomic.Uint64
	saved  atomic.Pointer[saved]
	// tidiedAt is Deleted as of the last Tidy, plus one.
	tidiedAt atomic.Uint64
	// puts counts the vectors that were put, from 1, and linkedAt is what it was when
	// a complete Link began.
	puts, linkedAt atomic.Uint64
}

func newAccelerator(g neighbours) *accelerator {
	a := &accelerator{neighbours: g}
	a.refs.Store(1)
	a.puts.Store(1)
	a.saved.Store(new(saved))
	a.mark.Store(new(mark))
	return a
}

// retain takes a reference, unless the last one is gone.
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

// put puts a vector, unless it is there.
func (a *accelerator) put(id uint64, unit []float32) error {
	if a.Same(id, unit) {
		return nil
	}
	err := a.Put(id, unit)
	a.puts.Add(1)
	return err
}

// linkable reports whether Link would do something. What waits when it begins and
// still does when it ends, a graph leaves to the scan.
func (a *accelerator) linkable() bool {
	return a.Waiting() > 0 && a.puts.Load() != a.linkedAt.Load()
}

// link links what waits, for a while.
func (a *accelerator) link(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, linkTime)
	defer cancel()
	begin := a.puts.Load()
	err := guard(func() error { return a.Link(within) })
	switch {
	case err == nil:
		a.linkedAt.Store(begin)
	case ctx.Err() == nil && errors.Is(err, within.Err()):
		return nil // to be gone on with
	}
	return err
}

// release gives a reference back; with the last one the graph goes.
func (a *accelerator) release() {
	if a.refs.Add(-1) == 0 {
		_ = a.Close() // nothing is left that could use it
	}
}

// mark is a moment in which a graph has all that the rows have, and no more.
type mark struct{ deleted, tidies, freed uint64 }

// settle notes that graph and rows are level. Its caller holds Native.write.
func (a *accelerator) settle() {
	a.mark.Store(&mark{deleted: a.Deleted(), tidies: a.tidies.Load(), freed: a.Freed()})
}

// overtaken reports whether something that a view after m has may have been
// deleted since.
func (a *accelerator) overtaken(m *mark) bool { return a.Deleted() != m.deleted }

// tidied reports whether something that was deleted since m may be out of reach
// even for a search among the dead.
func (a *accelerator) tidied(m *mark) bool {
	return m.tidies%2 == 1 || a.tidies.Load() != m.tidies || a.Freed() != m.freed
}

// stale reports whether it pays to take out what was deleted, unless that was just
// done.
func (a *accelerator) stale() bool { return a.Stale() && a.tidiedAt.Load() != a.Deleted()+1 }

// tidy takes out what was deleted.
func (a *accelerator) tidy(ctx context.Context) error {
	a.tidies.Add(1)
	defer a.tidies.Add(1)
	a.tidiedAt.Store(a.Deleted() + 1)
	return guard(func() error { return a.Tidy(ctx) })
}
