package vector

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// interimDir is the directory of the interim vectors, within that of the index.
const interimDir = "interim"

// interim is an index of chunks with a vector of a space or of its interim space; see [index.Interim].
// Each space has an index of its own. A chunk that gets a vector of the first loses its interim one,
// and an interim vector of a chunk that has one of the first does not count.
type interim struct {
	first, second index.VectorIndex
	dim           int // of the first space
	of            index.Interim
	any           []float32 // a vector of the first space
}

// openInterim opens the indexes of both spaces.
func openInterim(o Options) (index.VectorIndex, error) {
	of := *o.Interim
	switch {
	case of.Dimensions == o.Dimensions:
		return nil, ragctx.Invalid("interim", "has %d dimensions like the space itself; they tell the vectors apart", of.Dimensions)
	case !(of.Scale > 0):
		return nil, ragctx.Invalid("interim", "has the scale %v; it must be above 0", of.Scale)
	}
	o.Interim = nil
	first, err := New(o)
	if err != nil {
		return nil, err
	}
	dim := o.Dimensions
	o.Dimensions, o.Identity = of.Dimensions, of.Identity
	if o.Dir != "" {
		o.Dir = filepath.Join(o.Dir, interimDir)
	}
	second, err := New(o)
	if err != nil {
		return nil, errors.Join(err, first.Close())
	}
	x := &interim{first: first, second: second, dim: dim, of: of, any: make([]float32, dim)}
	x.any[0] = 1
	return x, nil
}

// Apply implements [index.VectorIndex]. The number of its components says which space a vector is of.
func (x *interim) Apply(ctx context.Context, seq uint64, upserts []index.VectorChunk, deletes []uint64) error {
	var first, second []index.VectorChunk
	gone := slices.Clone(deletes) // from the interim vectors
	inFirst := x.first.Similarity(x.any)
	for _, u := range upserts {
		switch len(u.Vector) {
		case x.dim:
			first = append(first, u)
			gone = append(gone, u.ID)
		case x.of.Dimensions:
			// It may come late, when the index is fed older changes.
			if _, better := inFirst(u.ID); !better || slices.Contains(deletes, u.ID) {
				second = append(second, u)
			}
		default:
			return ragctx.Invalid("vector", "has %d components, the index holds vectors of %d and %d; embed with the index's embedder",
				len(u.Vector), x.dim, x.of.Dimensions)
		}
	}
	if _, err := norms(second, x.of.Dimensions); err != nil {
		return err
	}
	// In this order every chunk can be found at any moment.
	if err := x.first.Apply(ctx, seq, first, deletes); err != nil {
		return err
	}
	return x.second.Apply(ctx, seq, second, gone)
}

// split returns the parts of a query's vector: one after the other, or a vector of one space alone.
func (x *interim) split(v []float32) (first, second []float32, err error) {
	switch len(v) {
	case x.dim + x.of.Dimensions:
		return v[:x.dim], v[x.dim:], nil
	case x.dim:
		return v, nil, nil
	case x.of.Dimensions:
		return nil, v, nil
	}
	return nil, nil, ragctx.Invalid("vector", "has %d components; the index needs %d, %d or both one after the other",
		len(v), x.dim, x.of.Dimensions)
}

// Search implements [index.VectorIndex]. Cosines of interim vectors count as the space's.
func (x *interim) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	first, second, err := x.split(q.Vector)
	if err != nil {
		return nil, err
	}
	var near []index.Scored
	if q.Vector = first; first != nil {
		if near, err = x.first.Search(ctx, q); err != nil {
			return nil, err
		}
	}
	if second == nil {
		return near, nil
	}
	q.Vector = second
	more, err := x.second.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, s := range more {
		// A chunk may get its vector during the search.
		if slices.ContainsFunc(near, func(n index.Scored) bool { return n.ID == s.ID }) {
			continue
		}
		near = append(near, index.Scored{ID: s.ID, Score: x.onScale(s.Score, first)})
	}
	slices.SortFunc(near, func(a, b index.Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return near[:max(0, min(q.K, len(near)))], nil
}

// onScale returns an interim cosine on the scale of the first space, unless the query has no vector of that.
func (x *interim) onScale(cosine float64, first []float32) float64 {
	if first == nil {
		return cosine
	}
	return max(-1, min(1, x.of.Scale*cosine+x.of.Offset))
}

// Similarity implements [index.VectorIndex].
func (x *interim) Similarity(v []float32) func(id uint64) (float64, bool) {
	first, second, err := x.split(v)
	if err != nil {
		return dissimilar
	}
	inFirst, inSecond := dissimilar, dissimilar
	if first != nil {
		inFirst = x.first.Similarity(first)
	}
	if second != nil {
		inSecond = x.second.Similarity(second)
	}
	return func(id uint64) (float64, bool) {
		if cos, ok := inFirst(id); ok {
			return cos, true
		}
		if cos, ok := inSecond(id); ok {
			return x.onScale(cos, first), true
		}
		return inFirst(id) // it may have got its vector in between
	}
}

// Cursor implements [index.VectorIndex].
func (x *interim) Cursor() uint64 { return min(x.first.Cursor(), x.second.Cursor()) }

// Flush implements [index.VectorIndex].
func (x *interim) Flush(ctx context.Context) error {
	return errors.Join(x.first.Flush(ctx), x.second.Flush(ctx))
}

// Compact implements [index.VectorIndex].
func (x *interim) Compact(ctx context.Context) error {
	return errors.Join(x.first.Compact(ctx), x.second.Compact(ctx))
}

// Stats implements [index.VectorIndex].
func (x *interim) Stats() index.PartStats {
	st, more := x.first.Stats(), x.second.Stats()
	answers := st.Graph.Answers || st.Chunks == 0
	st.Chunks, st.Pending, st.Bytes = st.Chunks+more.Chunks, st.Pending+more.Pending, st.Bytes+more.Bytes
	st.Interim = more.Chunks
	g, h := &st.Graph, more.Graph
	g.Answers = st.Chunks > 0 && answers && (h.Answers || st.Interim == 0)
	g.Linked, g.Waiting, g.Deleted, g.Bytes = g.Linked+h.Linked, g.Waiting+h.Waiting, g.Deleted+h.Deleted, g.Bytes+h.Bytes
	return st
}

// Close implements [index.VectorIndex].
func (x *interim) Close() error { return errors.Join(x.first.Close(), x.second.Close()) }
