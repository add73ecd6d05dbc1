package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// embeddingSpace is an embedding space: an embedder and its vectors.
type embeddingSpace struct {
	id       int64 // store id of the embedder
	identity embed.Identity
	embedder embed.Embedder // nil if unavailable: its vectors cannot be searched
	queries  queryVectors
	calls    *embedderCalls
}

func (s *embeddingSpace) name() string { return embeddingSpaceName(s.id) }

// calibrate sets the embedder's calibration where the query leaves it open.
func (s *embeddingSpace) calibrate(f *index.Fusion) {
	c, ok := s.embedder.(embed.Calibrated)
	if !ok {
		return
	}
	f.EmbedderWeight = cmp.Or(f.EmbedderWeight, c.VectorWeight())
	if f.Method != "vector" {
		f.VectorFloor = cmp.Or(f.VectorFloor, c.NoiseFloor())
	}
}

// embeddingSpaces holds the embedding space that is searched, and the next one while the data directory
// changes embedders.
type embeddingSpaces struct {
	current  atomic.Pointer[embeddingSpace]
	next     atomic.Pointer[embeddingSpace]
	changing sync.Mutex // held while a change is requested
}

// named returns the space with a name; nil if it is neither current nor next.
func (s *embeddingSpaces) named(name string) *embeddingSpace {
	for _, p := range []*embeddingSpace{s.current.Load(), s.next.Load()} {
		if p != nil && p.name() == name {
			return p
		}
	}
	return nil
}

// openEmbeddingSpaces determines the embedding space of the data directory. A new directory takes the
// options' embedder. A directory filled by another one is rejected, or changed in the background.
func (e *core) openEmbeddingSpaces(ctx context.Context) error {
	active, err := e.activeEmbedder(ctx)
	if err == nil {
		err = e.sizeEmbedder(ctx, active)
	}
	if err != nil {
		return err
	}
	want := e.opts.Embedder
	if want == nil && active == 0 {
		want = builtin.Default()
	}
	if active == 0 {
		return e.setEmbedder(ctx, want)
	}
	identity, err := e.store.EmbedderIdentity(ctx, active)
	if err != nil {
		return err
	}
	e.spaces.current.Store(&embeddingSpace{
		id: active, identity: identity, embedder: e.findEmbedder(identity),
		calls: &e.embedderCalls,
	})
	if want == nil && e.spaces.current.Load().embedder == nil {
		if next, ok := builtin.Successor(identity); ok {
			e.opts.Logger.WarnContext(ctx,
				"the built-in embedding table has changed; all texts are being embedded again, and "+
					"queries use only the keyword index until then",
				"from", identity.String(), "to", next.Identity().String())
			e.opts.Embedder, e.opts.Reembed = next, true
			return nil
		}
	}
	switch {
	case want == nil && e.spaces.current.Load().embedder == nil:
		return fmt.Errorf("%w: the data directory holds vectors of embedder %s, which is not built in; open it with that embedder "+
			"(the setting embedder names a table, embed_shape a service), or change it with \"ragctx reembed\"",
			ragctx.ErrConflict, identity)
	case want == nil || want.Identity() == identity || e.opts.Reembed:
		return nil
	}
	if _, to, changing, err := e.Indexes().Reembedding(ctx); err != nil || changing && to == want.Identity() {
		return err
	}
	return fmt.Errorf("%w: the data directory holds vectors of embedder %s, which cannot be compared with those of %s; "+
		"open it with that embedder, or change it in the background with \"ragctx reembed\" (in Go: Options.Reembed)",
		ragctx.ErrConflict, identity, want.Identity())
}

// activeEmbedder returns the store id of the active embedder; 0 in a new data
// directory.
func (e *core) activeEmbedder(ctx context.Context) (int64, error) {
	v, err := e.store.Setting(ctx, store.SettingEmbedder)
	if err != nil {
		return 0, err
	}
	if v == "" { // new, or older than this setting
		return e.store.AnyEmbedder(ctx)
	}
	id, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("setting %s of the data directory: %w", store.SettingEmbedder, err)
	}
	return id, nil
}

// setEmbedder makes an embedder the data directory's.
func (e *core) setEmbedder(ctx context.Context, with embed.Embedder) error {
	id, err := e.store.Embedder(ctx, with.Identity())
	if err != nil {
		return err
	}
	e.spaces.current.Store(&embeddingSpace{id: id, identity: with.Identity(), embedder: with, calls: &e.embedderCalls})
	return e.store.SetSetting(ctx, store.SettingEmbedder, embeddingSpaceName(id))
}

// findEmbedder returns an embedder by identity; nil if unavailable.
func (e *core) findEmbedder(id embed.Identity) embed.Embedder {
	if w := e.opts.Embedder; w != nil && w.Identity() == id {
		return w
	}
	if e.opts.Embedders != nil {
		if found, ok := e.opts.Embedders(id); ok && found.Identity() == id {
			return found
		}
	}
	if found, ok := builtin.OpenIdentity(id); ok {
		return found
	}
	return nil
}

// Embedder returns the identity of the active embedder, which made the vectors that are searched.
func (e Indexes) Embedder() embed.Identity { return e.spaces.current.Load().identity }

var errNoEmbedder = errors.New("the embedder of the stored vectors is unavailable")

// vectorFor embeds a query for a space. It returns nil for keyword-only queries and if the query
// has no direction. With further wordings it is the weighted sum of their directions, normalized to
// length 1.
func (s *embeddingSpace) vectorFor(ctx context.Context, q index.Query, more []index.Wording) ([]float32, error) {
	if q.Fusion.Method == "keyword" {
		return nil, nil
	}
	if s == nil || s.embedder == nil {
		return nil, errNoEmbedder
	}
	v, err := s.embedText(ctx, q.Text)
	if err != nil || len(more) == 0 {
		return v, err
	}
	sum := make([]float64, s.identity.Dimensions)
	addDirection(sum, v, 1)
	for _, w := range more {
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
func (s *embeddingSpace) embedText(ctx context.Context, text string) ([]float32, error) {
	return s.queries.vector(ctx, text, s.embedQuery)
}

func (s *embeddingSpace) embedQuery(ctx context.Context, text string) ([]float32, error) {
	began := time.Now()
	v, err := s.embedder.EmbedQuery(ctx, text)
	s.calls.queries.add(1, began, err)
	if err != nil || !usableVector(v, s.identity.Dimensions) {
		return nil, err
	}
	return v, nil
}

// embedTexts embeds texts. A text without a usable vector gets an empty one.
func (s *embeddingSpace) embedTexts(ctx context.Context, texts []string) ([][]float32, error) {
	if s.embedder == nil {
		return nil, errNoEmbedder
	}
	began := time.Now()
	vectors, err := s.embedder.EmbedDocuments(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("embedder returned %d vectors for %d texts", len(vectors), len(texts))
	}
	s.calls.documents.add(len(texts), began, err)
	if err != nil {
		return nil, err
	}
	for i, v := range vectors {
		if !usableVector(v, s.identity.Dimensions) {
			vectors[i] = []float32{}
		}
	}
	return vectors, nil
}
