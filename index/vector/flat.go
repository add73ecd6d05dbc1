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

var _ index.Dense = (*Flat)(nil)

// Flat is a dense leg that compares the query with every vector: its recall is
// 1, and 30,000 vectors of 256 components take about 3 ms. It lives in memory
// only, so Cursor is always 0, Flush does nothing, and all units are pending.
//
// A search works on a snapshot: it never waits for Apply, nor Apply for it, and
// it sees all of a batch or nothing. Accept may take its time and may call the
// leg.
type Flat struct {
	dim   int
	state atomic.Pointer[snapshot] // nil once closed

	mu    sync.RWMutex // guards arena
	arena *arena
}

// NewFlat returns an empty exact index for vectors of dim components. It panics
// unless dim is within 1..[MaxDimensions]; [New] returns an error instead.
func NewFlat(dim int) *Flat {
	checkDim(dim)
	f := &Flat{dim: dim, arena: newArena(dim)}
	f.state.Store(&snapshot{})
	return f
}

// checkDim panics for dimensions that no embedder has.
func checkDim(dim int) {
	if dim < 1 || dim > MaxDimensions {
		panic(fmt.Sprintf("vector: dimension %d is outside 1..%d", dim, MaxDimensions))
	}
}

// Apply implements [index.Dense].
func (f *Flat) Apply(ctx context.Context, _ uint64, upserts []index.VectorUnit, deletes []uint64) error {
	if err := f.usable(ctx); err != nil {
		return err
	}
	lengths, err := norms(upserts, f.dim)
	if err != nil {
		return err
	}
	return f.change(0, upserts, lengths, deletes)
}

// change implements [exact].
func (f *Flat) change(_ uint64, upserts []index.VectorUnit, lengths []float64, deletes []uint64) error {
	if !f.store(upserts, lengths, deletes) {
		return index.ErrClosed
	}
	return nil
}

// keepUp implements [exact]: there is nothing to keep up with.
func (f *Flat) keepUp(context.Context) {}

// failed implements [exact]: nothing fails in memory.
func (f *Flat) failed(_ string, err error) error { return err }

// current implements [exact].
func (f *Flat) current() (*storedView, error) {
	state := f.state.Load()
	if state == nil {
		return nil, index.ErrClosed
	}
	return newStoredView(nil, state), nil
}

// store applies a checked batch, unless the leg was closed meanwhile.
func (f *Flat) store(upserts []index.VectorUnit, lengths []float64, deletes []uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state.Load() == nil {
		return false
	}
	f.state.Store(f.arena.apply(upserts, lengths, deletes))
	return true
}

// apply runs a batch as one transaction.
func (a *arena) apply(upserts []index.VectorUnit, lengths []float64, deletes []uint64) *snapshot {
	a.begin()
	for i, u := range upserts {
		if lengths[i] == 0 {
			a.remove(u.ID) // the old vector is not this unit's any more
		} else {
			a.put(u.ID, u.Vector, lengths[i])
		}
	}
	for _, id := range deletes {
		a.remove(id)
	}
	return a.commit()
}

// Search implements [index.Dense].
func (f *Flat) Search(ctx context.Context, q index.DenseQuery) ([]index.Scored, error) {
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

// queryUnit returns the padded direction of v, nil for the zero vector.
func queryUnit(v []float32, dim int) ([]float32, error) { return unitIn(nil, v, dim) }

// unitIn is queryUnit in the memory of room, if there is enough.
func unitIn(room, v []float32, dim int) ([]float32, error) {
	length, err := norm(v, dim)
	if err != nil || length == 0 {
		return nil, err
	}
	unit := slices.Grow(room[:0], stride(dim))[:stride(dim)]
	clear(unit[dim:])
	normalize(unit, v, length)
	return unit, nil
}

// directions are padded vectors between their uses: whoever asks for cosines asks for
// those of a hundred units.
var directions sync.Pool // of *[]float32

// direction returns the padded direction of v until release, nil if it has none.
func direction(v []float32, dim int) (unit []float32, release func()) {
	kept, _ := directions.Get().(*[]float32)
	if kept == nil {
		kept = new([]float32)
	}
	unit, err := unitIn(*kept, v, dim)
	if err != nil || unit == nil {
		directions.Put(kept)
		return nil, nil
	}
	*kept = unit
	return unit, func() { directions.Put(kept) }
}

// Similarity implements [index.Dense]. It is also false for a v that has no
// cosine: zero, not finite, or of another dimension.
func (f *Flat) Similarity(v []float32, id uint64) (float64, bool) {
	unit, release := direction(v, f.dim)
	if unit == nil {
		return 0, false
	}
	defer release()
	f.mu.RLock()
	defer f.mu.RUnlock()
	row := f.arena.get(id)
	if row == nil {
		return 0, false
	}
	return cosine(dot(unit, row)), true
}

// Cursor returns 0: nothing survives the process.
func (f *Flat) Cursor() uint64 { return 0 }

// Flush does nothing.
func (f *Flat) Flush(ctx context.Context) error { return f.usable(ctx) }

// Compact does nothing: there are no files.
func (f *Flat) Compact(ctx context.Context) error { return f.usable(ctx) }

// usable returns the error of a closed leg or an ended context.
func (f *Flat) usable(ctx context.Context) error {
	if f.state.Load() == nil {
		return index.ErrClosed
	}
	return ctx.Err()
}

// Stats implements [index.Dense].
func (f *Flat) Stats() index.LegStats {
	state := f.state.Load()
	if state == nil {
		return index.LegStats{}
	}
	return index.LegStats{Units: state.units, Pending: state.units, Kind: kindFlat}
}

// Close frees the vectors. Searches under way end on their snapshot. Closing
// twice is harmless.
func (f *Flat) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.Store(nil)
	f.arena = newArena(f.dim)
	return nil
}
