package weaviate

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// vectorIndex is an [index.VectorIndex] in a tenant. The server's graph answers searches among all chunks; it compares all vectors
// where the class has flatCutoff or fewer chunks that pass a filter.
type vectorIndex struct {
	tenant

	dim int
}

var _ index.VectorIndex = (*vectorIndex)(nil)

// unit returns v at length 1, or nil for a zero vector.
func (x *vectorIndex) unit(v []float32) ([]float32, error) {
	if len(v) != x.dim {
		return nil, ragctx.Invalid("vector", "has %d components, the index has vectors of %d; use its embedder", len(v), x.dim)
	}
	sum := 0.0
	for i, c := range v {
		if math.IsNaN(float64(c)) || math.IsInf(float64(c), 0) {
			return nil, ragctx.Invalid("vector", "component %d is %v; components are finite numbers", i, c)
		}
		sum += float64(c) * float64(c)
	}
	if sum == 0 {
		return nil, nil
	}
	u, length := make([]float32, len(v)), math.Sqrt(sum)
	for i, c := range v {
		u[i] = float32(float64(c) / length)
	}
	return u, nil
}

// Apply implements [index.VectorIndex].
func (x *vectorIndex) Apply(ctx context.Context, seq uint64, upserts []index.VectorChunk, deletes []uint64) error {
	if x.closed.Load() {
		return index.ErrClosed
	}
	last := make(map[uint64][]float32, len(upserts))
	var order []uint64
	for _, u := range upserts {
		v, err := x.unit(u.Vector)
		if err != nil {
			return err
		}
		if _, again := last[u.ID]; !again {
			order = append(order, u.ID)
		}
		last[u.ID] = v
	}
	gone := slices.Clone(deletes)
	objects := make([]object, 0, len(order))
	for _, id := range order {
		switch {
		case slices.Contains(deletes, id):
		case last[id] == nil:
			gone = append(gone, id)
		default:
			objects = append(objects, object{
				Class: x.class, Tenant: x.name, ID: objectID(id), Properties: map[string]any{"chunk": true}, Vector: last[id],
			})
		}
	}
	return x.apply(ctx, seq, objects, gone)
}

// Search implements [index.VectorIndex].
func (x *vectorIndex) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	if x.closed.Load() {
		return nil, index.ErrClosed
	}
	v, err := x.unit(q.Vector)
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
func (x *vectorIndex) Similarity(v []float32, id uint64) (float64, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), searchTime)
	defer cancel()
	found, err := x.Similarities(ctx, v, []uint64{id})
	s, ok := found[id]
	return s, ok && err == nil
}

// Similarities returns the cosines between v and the vectors of chunks, by chunk, in one request.
func (x *vectorIndex) Similarities(ctx context.Context, v []float32, ids []uint64) (map[uint64]float64, error) {
	near, err := x.Search(ctx, index.VectorQuery{Vector: v, K: len(ids), Only: ids})
	found := make(map[uint64]float64, len(near))
	for _, s := range near {
		found[s.ID] = s.Score
	}
	return found, err
}
