// Package vector holds the graphs behind the dense leg of an index: an exact
// scan, and an adapter around github.com/coder/hnsw. Both live in memory only.
// The store keeps the one copy of the vectors that must survive, so a graph has
// no files that could disagree with it: its cursor is always 0, and whoever
// opens it applies the stored vectors again.
package vector

import (
	"math"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

const kindCoder = "coder"

// MaxDimensions is the largest number of components a vector may have.
const MaxDimensions = 1 << 16

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
