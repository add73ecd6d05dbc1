// Package vector implements vector indexes: an exact scan, in memory or over mapped files; the same
// with a graph that finds the nearest vectors sooner; and an adapter for github.com/coder/hnsw in
// memory. An index in memory has cursor 0; after opening it, the caller applies all stored vectors
// again.
package vector

import (
	"log/slog"
	"math"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

const kindCoder = "coder"

// MaxDimensions is the largest number of components a vector may have.
const MaxDimensions = 1 << 16

// Options configure an index.
type Options struct {
	// Dir is the directory of the index's files; "" keeps it in memory. Only one index at a time
	// may have a directory open. The directory is created at the first flush.
	Dir string
	// Graph is "native" (the default), "flat", which compares with all vectors, or "coder", which
	// ignores the fields after Dimensions and has no files. "native" and "flat" can use each
	// other's files.
	Graph string
	// Dimensions is the number of components of a vector, within 1..[MaxDimensions].
	Dimensions int
	// Identity names the embedder, in at most 4,096 bytes. Stored vectors of another identity are
	// discarded.
	Identity string
	// Interim adds the vectors of a second space; nil is none. A vector of the index is one of the
	// two, and a query's has both, one after the other, or one.
	Interim *index.Interim
	// FlushChanges is how many changes are collected in memory before they are written in the
	// background; 1,000 by default. Apply waits for the writer when four times as many are pending.
	FlushChanges int
	// Origin returns the name of the store's current state; it is stored with the vectors at each
	// flush. Knows reports on open whether a stored origin belongs to the store's past. Vectors of
	// another store, or of a store that was reset to an older copy, are discarded. Without Origin
	// the name is ""; a nil Knows accepts all.
	Origin func() string
	Knows  func(origin string) bool
	Logger *slog.Logger  // silent by default
	FS     atomicfile.FS // the operating system's by default

	// For tests: the graph implementation, the minimum number of chunks for a graph, the changes or
	// the quiet time after which it is written, and the surplus slots at which it is rebuilt.
	graphs                                   *graphFactory
	minGraphChunks, minSaveChanges, minWaste int
	quietAfter, savePause                    time.Duration
}

// New opens an index. With a directory it is a [native] or [stored] with the data stored there. If
// that is torn or damaged, or of another embedder, dimension, format or store, it is removed: the
// index is empty, Cursor is 0, and the method Recovered of the result returns the reason. Options
// out of range are errors that match [ragctx.ErrInvalid].
func New(o Options) (index.VectorIndex, error) {
	switch {
	case o.FlushChanges < 0:
		return nil, ragctx.Invalid("flush_changes", "%d is negative; use 0 for %d", o.FlushChanges, DefaultFlushChanges)
	case len(o.Identity) > maxIdentity:
		return nil, ragctx.Invalid("identity", "has %d bytes, the limit is %d; use a hash of it", len(o.Identity), maxIdentity)
	case o.Dimensions < 1 || o.Dimensions > MaxDimensions:
		return nil, ragctx.Invalid("dimensions", "%d is outside 1..%d; use the number the embedder states", o.Dimensions, MaxDimensions)
	}
	o = o.withDefaults()
	if o.Interim != nil {
		return openInterim(o)
	}
	switch o.Graph {
	case kindNative:
		return openNative(o)
	case kindFlat:
		return openExact(o)
	case kindCoder:
		return openCoder(o.Dimensions)
	}
	return nil, ragctx.Invalid("vector_graph", "%q is unknown; use %q, %q or %q", o.Graph, kindNative, kindFlat, kindCoder)
}

// openExact opens an index that compares with all vectors.
func openExact(o Options) (exactIndex, error) {
	if o.Dir == "" {
		return newFlat(o.Dimensions), nil
	}
	return openStored(o)
}

func openNative(o Options) (index.VectorIndex, error) {
	rows, err := openExact(o)
	if err != nil {
		return nil, err
	}
	return newNative(rows, o), nil
}

// norm returns the Euclidean length of v, or an error if v has another dimension or a component
// that is NaN or infinite. The sum is computed in float64, where squares of float32 values neither
// overflow nor vanish.
func norm(v []float32, dim int) (float64, error) {
	if len(v) != dim {
		return 0, ragctx.Invalid("vector", "has %d components, the index holds vectors of %d; embed with the index's embedder", len(v), dim)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, ragctx.Invalid("vector", "has a component that is NaN or infinite; all must be finite")
	}
	return math.Sqrt(sum), nil
}

// norms returns the lengths of all vectors of a batch, or the first error, so that an invalid batch
// is rejected before any of it is applied.
func norms(units []index.VectorChunk, dim int) ([]float64, error) {
	lengths := make([]float64, len(units))
	for i, u := range units {
		n, err := norm(u.Vector, dim)
		if err != nil {
			return nil, err
		}
		lengths[i] = n
	}
	return lengths, nil
}

// normalize writes v/length to row. It leaves the padding of row as zeros.
func normalize(row, v []float32, length float64) {
	inverse := 1 / length
	for i, x := range v {
		row[i] = float32(float64(x) * inverse)
	}
}

// cosine converts the dot product of two unit vectors to a score within -1..1, as rounding may
// exceed it.
func cosine(dot float32) float64 { return float64(min(max(dot, -1), 1)) }
