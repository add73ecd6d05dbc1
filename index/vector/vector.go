// Package vector holds what is behind the dense leg of an index: an exact scan, in
// memory or over mapped files; the same with a graph of our own, which finds the
// nearest sooner; and an adapter around github.com/coder/hnsw, which lives in memory
// only. A leg in memory has cursor 0, and whoever opens it applies the stored
// vectors again.
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

// Options of a leg.
type Options struct {
	// Dir is where the leg keeps its files; "" keeps it in memory. One leg at a time
	// may have a directory open. It is made at the first flush.
	Dir string
	// Graph is "native" (also the default, ""), "flat", which compares with all
	// vectors, or "coder", which ignores what follows Dimensions and has no files.
	// The files of one of the first two are good for the other.
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
	Logger *slog.Logger  // silent by default
	FS     atomicfile.FS // that of the operating system by default

	// For tests: how graphs are made, for how many units at least, after how many
	// changes at least they are written, or how long after the last one, and with how
	// many places too many they are made again.
	graphs                            *graphs
	graphUnits, saveUnits, wasteLeast int
	restful, saveRest                 time.Duration
}

// New opens a leg. With a directory, that is a [Native] or [Stored] leg with what is
// stored there: if that is torn or damaged, or of another embedder, dimension,
// format or store, it is removed, the leg is empty and Cursor is 0;
// [Stored.Recovered] tells. Options out of range are errors that match
// [ragctx.ErrInvalid].
func New(o Options) (index.Dense, error) {
	switch {
	case o.FlushUnits < 0:
		return nil, ragctx.Invalid("flush_units", "%d is negative; use 0 for %d", o.FlushUnits, DefaultFlushUnits)
	case len(o.Identity) > maxIdentity:
		return nil, ragctx.Invalid("identity", "has %d bytes, the limit is %d; use a hash of it", len(o.Identity), maxIdentity)
	case o.Dimensions < 1 || o.Dimensions > MaxDimensions:
		return nil, ragctx.Invalid("dimensions", "%d is outside 1..%d; use the number the embedder states", o.Dimensions, MaxDimensions)
	}
	o = o.withDefaults()
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

// openExact opens a leg that compares with all vectors.
func openExact(o Options) (exact, error) {
	if o.Dir == "" {
		return NewFlat(o.Dimensions), nil
	}
	return openStored(o)
}

func openNative(o Options) (index.Dense, error) {
	rows, err := openExact(o)
	if err != nil {
		return nil, err
	}
	return newNative(rows, o), nil
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
