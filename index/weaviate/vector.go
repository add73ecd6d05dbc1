package weaviate

import (
	"context"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector"
)

// vectorIndex is an [index.VectorIndex] in a tenant. The server's graph answers searches among all chunks; it compares all vectors
// where the class has flatCutoff or fewer chunks that pass a filter.
type vectorIndex struct {
	tenant

	dim int
}

var _ index.VectorIndex = (*vectorIndex)(nil)

// Apply implements [index.VectorIndex].
func (x *vectorIndex) Apply(ctx context.Context, seq uint64, upserts []index.VectorChunk, deletes []uint64) error {
	if x.closed.Load() {
		return index.ErrClosed
	}
	kept, gone, err := vector.Units(upserts, deletes, x.dim)
	if err != nil {
		return err
	}
	objects := make([]object, 0, len(kept))
	for _, u := range kept {
		objects = append(objects, object{
			Class: x.class, Tenant: x.name, ID: objectID(u.ID), Properties: map[string]any{"chunk": true}, Vector: u.Vector,
		})
	}
	return x.apply(ctx, seq, objects, gone)
}

// Search implements [index.VectorIndex].
func (x *vectorIndex) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	if x.closed.Load() {
		return nil, index.ErrClosed
	}
	v, err := vector.Unit(q.Vector, x.dim)
	if err != nil || v == nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(",nearVector:{vector:[")
	for i, c := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatFloat(float64(c), 'g', -1, 32))
	}
	b.WriteString("]}")
	return x.best(ctx, b.String(), q.Exact, q.K, q.Accept, q.Only, func(h hit) (float64, error) {
		return max(-1, min(1, 1-h.Distance)), nil
	})
}

// Similarity implements [index.VectorIndex]. It asks the server.
func (x *vectorIndex) Similarity(v []float32) func(id uint64) (float64, bool) {
	return index.SimilarityBySearch(x.Search, v)
}

// MaxOnly returns the number of chunks that a search of a few may name.
func (x *vectorIndex) MaxOnly() int { return maxOnly }
