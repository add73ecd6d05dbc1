package retrieve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/index"
)

// Space is an embedding space: an embedder and its vectors.
type Space struct {
	ID       int64 // store id of the embedder
	Identity embed.Identity
	Embedder embed.Embedder // nil if unavailable: its vectors cannot be searched
	Calls    *Calls         // counts the calls of the embedder
	// Interim is the space of chunks without a vector of this one; nil for an embedder that is not
	// [embed.Gradual]. It has no ID.
	Interim *Space

	queries queryVectors
}

// NewSpace returns the space of an embedder with a store id. The embedder is nil if it is unavailable.
func NewSpace(id int64, identity embed.Identity, with embed.Embedder, calls *Calls) *Space {
	s := &Space{ID: id, Identity: identity, Embedder: with, Calls: calls}
	if g, ok := with.(embed.Gradual); ok {
		interim, _, _ := g.Interim()
		s.Interim = NewSpace(0, interim.Identity(), interim, calls)
	}
	return s
}

// Name returns the name of the space.
func (s *Space) Name() string { return SpaceName(s.ID) }

// SpaceName returns the name of the embedding space of an embedder's store id.
func SpaceName(embedder int64) string { return strconv.FormatInt(embedder, 10) }

// Recomputed reports whether the vectors of the space are computed again rather than stored.
func (s *Space) Recomputed() bool {
	c, ok := s.Embedder.(embed.Recomputed)
	return ok && c.Recomputed()
}

// Calibrate sets the embedder's calibration where the query leaves it open.
func (s *Space) Calibrate(f *index.Fusion) {
	c, ok := s.Embedder.(embed.Calibrated)
	if !ok {
		return
	}
	f.EmbedderWeight = cmp.Or(f.EmbedderWeight, c.VectorWeight())
	if f.Method != "vector" {
		f.VectorFloor = cmp.Or(f.VectorFloor, c.NoiseFloor())
	}
}

// Spaces has the embedding space that is searched, and the next one while the data directory changes
// embedders.
type Spaces struct {
	Current, Next atomic.Pointer[Space]
}

// Named returns the space with a name; nil if it is neither current nor next.
func (s *Spaces) Named(name string) *Space {
	for _, p := range []*Space{s.Current.Load(), s.Next.Load()} {
		if p != nil && p.Name() == name {
			return p
		}
	}
	return nil
}

var errNoEmbedder = errors.New("the embedder of the stored vectors is unavailable")

// queryVector embeds a query for a space. An interim space's vector follows that of the space itself; zeros
// stand for one of them. It returns nil for keyword-only queries and if the query has no direction.
func (s *Space) queryVector(ctx context.Context, q index.Query) ([]float32, error) {
	v, err := s.ownVector(ctx, q)
	if err != nil || s == nil || s.Interim == nil {
		return v, err
	}
	w, err := s.Interim.ownVector(ctx, q)
	if err != nil || v == nil && w == nil {
		return nil, err
	}
	both := make([]float32, s.Identity.Dimensions+s.Interim.Identity.Dimensions)
	copy(both, v)
	copy(both[s.Identity.Dimensions:], w)
	return both, nil
}

// ownVector embeds a query for a space without its interim space. It returns nil as queryVector does.
// With further wordings it is the weighted sum of their directions, normalized to length 1.
func (s *Space) ownVector(ctx context.Context, q index.Query) ([]float32, error) {
	if q.Fusion.Method == "keyword" {
		return nil, nil
	}
	if s == nil || s.Embedder == nil {
		return nil, errNoEmbedder
	}
	v, err := s.embedText(ctx, q.Text)
	if err != nil || len(q.More) == 0 {
		return v, err
	}
	sum := make([]float64, s.Identity.Dimensions)
	addDirection(sum, v, 1)
	for _, w := range q.More {
		if v, err = s.embedText(ctx, w.Text); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // the vector of the query itself suffices
		}
		addDirection(sum, v, w.Weight)
	}
	length := math.Sqrt(sumSquares(sum))
	if length == 0 {
		return nil, nil
	}
	out := make([]float32, len(sum))
	for i, x := range sum {
		out[i] = float32(x / length)
	}
	return out, nil
}

// addDirection adds weight times the direction of v to sum.
func addDirection(sum []float64, v []float32, weight float64) {
	length := math.Sqrt(sumSquares(v))
	if length == 0 {
		return
	}
	for i, x := range v {
		sum[i] += weight * float64(x) / length
	}
}

func sumSquares[T float32 | float64](v []T) (sum float64) {
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum
}

// embedText embeds one text of a query, shared by concurrent callers.
func (s *Space) embedText(ctx context.Context, text string) ([]float32, error) {
	return s.queries.vector(ctx, text, s.embedQuery)
}

func (s *Space) embedQuery(ctx context.Context, text string) ([]float32, error) {
	began := time.Now()
	v, err := s.Embedder.EmbedQuery(ctx, text)
	s.Calls.Queries.add(1, began, err)
	if err != nil || !UsableVector(v, s.Identity.Dimensions) {
		return nil, err
	}
	return v, nil
}

// EmbedTexts embeds texts. A text without a usable vector gets an empty one.
func (s *Space) EmbedTexts(ctx context.Context, texts []string) ([][]float32, error) {
	if s.Embedder == nil {
		return nil, errNoEmbedder
	}
	began := time.Now()
	vectors, err := s.Embedder.EmbedDocuments(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("embedder returned %d vectors for %d texts", len(vectors), len(texts))
	}
	s.Calls.Documents.add(len(texts), began, err)
	if err != nil {
		return nil, err
	}
	for i, v := range vectors {
		if !UsableVector(v, s.Identity.Dimensions) {
			vectors[i] = []float32{}
		}
	}
	return vectors, nil
}

// UsableVector reports whether an embedder's vector can be stored: it has the right length and finite
// values.
func UsableVector(v []float32, dim int) bool {
	if len(v) != dim {
		return false
	}
	for _, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}
