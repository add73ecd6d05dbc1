package vector

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ragctx/ragctx/index"
)

const kindFlat = "flat"

var _ index.VectorIndex = (*flat)(nil)

// flat is a vector index that compares the query with every vector. Its recall is 1; a search of
// 30,000 vectors of 256 components takes about 3 ms. It is in memory only, so Cursor is always 0,
// Flush does nothing, and all chunks are pending.
//
// A search works on a snapshot: it never waits for Apply, nor Apply for it, and it sees a batch
// entirely or not at all. Accept may be slow and may call the index.
type flat struct {
	dim   int
	state atomic.Pointer[snapshot] // nil once closed

	mu    sync.RWMutex // guards arena
	arena *arena
}

// newFlat returns an empty exact index for vectors of dim components. It panics
// unless dim is within 1..[MaxDimensions]; [New] returns an error instead.
func newFlat(dim int) *flat {
	checkDim(dim)
	f := &flat{dim: dim, arena: newArena(dim)}
	f.state.Store(&snapshot{})
	return f
}

// checkDim panics if dim is out of range.
func checkDim(dim int) {
	if dim < 1 || dim > MaxDimensions {
		panic(fmt.Sprintf("vector: dimension %d is outside 1..%d", dim, MaxDimensions))
	}
}

// Apply implements [index.VectorIndex].
func (f *flat) Apply(ctx context.Context, _ uint64, upserts []index.VectorChunk, deletes []uint64) error {
	if err := f.usable(ctx); err != nil {
		return err
	}
	lengths, err := norms(upserts, f.dim)
	if err != nil {
		return err
	}
	return f.change(0, upserts, lengths, deletes)
}

// change implements [exactIndex].
func (f *flat) change(_ uint64, upserts []index.VectorChunk, lengths []float64, deletes []uint64) error {
	if !f.store(upserts, lengths, deletes) {
		return index.ErrClosed
	}
	return nil
}

// flushIfDue implements [exactIndex]: there is nothing to flush.
func (f *flat) flushIfDue(context.Context) {}

// failed implements [exactIndex]: nothing fails in memory.
func (f *flat) failed(_ string, err error) error { return err }

// current implements [exactIndex].
func (f *flat) current() (*storedView, error) {
	state := f.state.Load()
	if state == nil {
		return nil, index.ErrClosed
	}
	return newStoredView(nil, state), nil
}

// store applies a validated batch. It returns false if the index has been closed.
func (f *flat) store(upserts []index.VectorChunk, lengths []float64, deletes []uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state.Load() == nil {
		return false
	}
	f.state.Store(f.arena.apply(upserts, lengths, deletes))
	return true
}

// apply runs a batch as one transaction.
func (a *arena) apply(upserts []index.VectorChunk, lengths []float64, deletes []uint64) *snapshot {
	a.begin()
	for i, u := range upserts {
		if lengths[i] == 0 {
			a.remove(u.ID) // the old vector no longer applies
		} else {
			a.put(u.ID, u.Vector)
		}
	}
	for _, id := range deletes {
		a.remove(id)
	}
	return a.commit()
}

// Search implements [index.VectorIndex].
func (f *flat) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	state := f.state.Load()
	if state == nil {
		return nil, index.ErrClosed
	}
	unit, err := queryUnit(q.Vector, f.dim)
	if err != nil || unit == nil {
		return nil, err
	}
	return state.scan(ctx, search{unit: unit, k: q.K, accept: q.Accept, only: q.Only})
}

// queryUnit returns v normalized and padded, or nil for the zero vector.
func queryUnit(v []float32, dim int) ([]float32, error) {
	length, err := norm(v, dim)
	if err != nil || length == 0 {
		return nil, err
	}
	unit := make([]float32, stride(dim))
	normalize(unit, v, length)
	return unit, nil
}

// Unit returns v at length 1, or nil for the zero vector. It rejects vectors of other dimensions, and components that are
// NaN or infinite.
func Unit(v []float32, dim int) ([]float32, error) {
	padded, err := queryUnit(v, dim)
	return padded[:min(dim, len(padded))], err
}

// Units returns the vectors that remain after a batch, at length 1, and the chunks that have none: deleted ones, and those whose vector is
// zero. It rejects a batch with a vector that [Unit] rejects.
func Units(upserts []index.VectorChunk, deletes []uint64, dim int) (kept []index.VectorChunk, gone []uint64, err error) {
	gone = slices.Clone(deletes)
	for _, u := range upserts {
		if _, err := norm(u.Vector, dim); err != nil {
			return nil, nil, err
		}
	}
	for _, u := range index.Effective(upserts, deletes, func(u index.VectorChunk) uint64 { return u.ID }) {
		if u.Vector, err = Unit(u.Vector, dim); err != nil {
			return nil, nil, err
		}
		if u.Vector == nil {
			gone = append(gone, u.ID)
			continue
		}
		kept = append(kept, u)
	}
	return kept, gone, nil
}

// Similarity implements [index.VectorIndex]. It finds nothing if v is zero, not finite, or of another dimension.
func (f *flat) Similarity(v []float32) func(id uint64) (float64, bool) {
	unit, _ := queryUnit(v, f.dim)
	if unit == nil {
		return dissimilar
	}
	return func(id uint64) (float64, bool) {
		f.mu.RLock()
		defer f.mu.RUnlock()
		row := f.arena.get(id)
		if row == nil {
			return 0, false
		}
		return cosine(dot(unit, row)), true
	}
}

// dissimilar compares nothing.
func dissimilar(uint64) (float64, bool) { return 0, false }

// Cursor returns 0: nothing survives the process.
func (f *flat) Cursor() uint64 { return 0 }

// Flush does nothing.
func (f *flat) Flush(ctx context.Context) error { return f.usable(ctx) }

// Compact does nothing: there are no files.
func (f *flat) Compact(ctx context.Context) error { return f.usable(ctx) }

// usable returns the error of a closed index or an ended context.
func (f *flat) usable(ctx context.Context) error {
	if f.state.Load() == nil {
		return index.ErrClosed
	}
	return ctx.Err()
}

// Stats implements [index.VectorIndex].
func (f *flat) Stats() index.PartStats {
	state := f.state.Load()
	if state == nil {
		return index.PartStats{}
	}
	return index.PartStats{Chunks: state.rows, Pending: state.rows, Kind: kindFlat}
}

// Close frees the vectors. Running searches finish on their snapshot. Closing twice is harmless.
func (f *flat) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.Store(nil)
	f.arena = newArena(f.dim)
	return nil
}
