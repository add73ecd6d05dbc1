// Package vector holds the graphs behind the dense leg of an index: an exact
// scan, in memory or over mapped files, and an adapter around
// github.com/coder/hnsw, which lives in memory only. A graph in memory has cursor
// 0, and whoever opens it applies the stored vectors again.
package vector

import (
	"log/slog"
	"math"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/durable"
	"github.com/ragctx/ragctx/index"
)

const kindCoder = "coder"

// MaxDimensions is the largest number of components a vector may have.
const MaxDimensions = 1 << 16

// Options of a leg.
type Options struct {
	// Dir is where the leg keeps its files; "" keeps it in memory. One leg at a time
	// may have a directory open. It is made at the first flush.
	Dir string
	// Graph is "flat" (also the default, "") or "coder", which ignores what follows
	// Dimensions and has no files.
	Graph string
	// Dimensions is the number of components of a vector, within 1..[MaxDimensions].
	Dimensions int
	// Identity names the embedder, in at most 4,096 bytes. Stored vectors of another
	// one are thrown away.
	Identity string
	// FlushUnits is how many changes wait in memory before they are written in the
	// background; 1,000 by default. Apply waits for the writer when four times as
	// many are pending.
	FlushUnits int
	// Origin names the state of the store that the units come from; what it returns
	// at a flush is kept with them. Knows tells on open whether an origin belongs
	// to the store's past: units of another store, or of one that was set back to
	// an older copy, are thrown away. Without Origin it is "", and a nil Knows
	// knows all.
	Origin func() string
	Knows  func(origin string) bool
	Logger *slog.Logger // silent by default
	FS     durable.FS   // that of the operating system by default
}

// New opens a leg. With a directory, that is a [Stored] leg with what is stored
// there: if that is torn or damaged, or of another embedder, dimension, format or
// store, it is removed, the leg is empty and Cursor is 0; [Stored.Recovered]
// tells. Options out of range are errors that match [ragctx.ErrInvalid].
func New(o Options) (index.Dense, error) {
	switch {
	case o.FlushUnits < 0:
		return nil, ragctx.Invalid("flush_units", "%d is negative; use 0 for %d", o.FlushUnits, DefaultFlushUnits)
	case len(o.Identity) > maxIdentity:
		return nil, ragctx.Invalid("identity", "has %d bytes, the limit is %d; use a hash of it", len(o.Identity), maxIdentity)
	}
	leg, err := Open(o.Graph, o.Dimensions)
	if err != nil || o.Dir == "" || leg.Stats().Kind != kindFlat {
		return leg, err
	}
	return openStored(o.withDefaults())
}

// Open returns an empty graph of the given kind for vectors of dim components:
// "flat" (also the default, "") or "coder". Unknown kinds and dimensions outside
// 1..[MaxDimensions] are errors that match [ragctx.ErrInvalid].
func Open(kind string, dim int) (index.Dense, error) {
	if dim < 1 || dim > MaxDimensions {
		return nil, ragctx.Invalid("dimensions", "%d is outside 1..%d; use the number the embedder states", dim, MaxDimensions)
	}
	switch kind {
	case "", kindFlat:
		return NewFlat(dim), nil
	case kindCoder:
		return openCoder(dim)
	}
	return nil, ragctx.Invalid("vector_graph", "%q is unknown; use %q or %q", kind, kindFlat, kindCoder)
}

// norm returns the Euclidean length of v, or an error if v has another dimension
// or a component that is NaN or infinite. The sum runs in float64, where squares
// of float32 values neither overflow nor vanish.
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

// norms returns the lengths of all vectors of a batch, or the first error, so
// that a bad batch is refused before anything of it is applied.
func norms(units []index.VectorUnit, dim int) ([]float64, error) {
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

// normalize writes v/length to row, whose padding stays zero.
func normalize(row, v []float32, length float64) {
	inverse := 1 / length
	for i, x := range v {
		row[i] = float32(float64(x) * inverse)
	}
}

// cosine turns the dot product of two unit vectors into a score; rounding may
// have carried it past 1.
func cosine(dot float32) float64 { return float64(min(max(dot, -1), 1)) }
