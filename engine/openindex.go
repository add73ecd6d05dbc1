package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/ragctx/ragctx/internal/retrieve"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword"
	"github.com/ragctx/ragctx/index/vector"
	"github.com/ragctx/ragctx/internal/store"
)

// indexDir returns the directory of a collection's index files.
func (e *core) indexDir(id store.Collection) string {
	return filepath.Join(e.opts.Dir, store.IndexName, fmt.Sprintf("%d-%s", id.Namespace, id.Kind))
}

// vectorPrefix begins the name of a directory of vectors; the embedding space's name follows.
const vectorPrefix = "vector-"

// openIndex opens the index of a collection.
func (e *core) openIndex(ctx context.Context, id store.Collection) (index.Engine, error) {
	in := e.spaces.Current.Load()
	h, err := index.Open(ctx, index.Options{
		Dir: e.indexDir(id), Feed: feed{e.store, id},
		Keyword: func() (index.KeywordIndex, error) { return e.openKeyword(id) },
		Space:   indexSpace(in),
		Vector:  func(s index.Space) (index.VectorIndex, error) { return e.openVector(id, s) },
		Origin:  e.store.Token, Knows: e.store.KnowsToken,
		Monitor: e.recallMonitors[id.Kind],
		Logger:  e.opts.Logger.With("namespace", id.Namespace, "kind", id.Kind.String()),
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (e *core) openKeyword(id store.Collection) (index.KeywordIndex, error) {
	return keyword.Open(filepath.Join(e.indexDir(id), "keyword"), keyword.Options{
		Origin: e.store.Token, Knows: e.store.KnowsToken, Logger: e.opts.Logger,
	})
}

// openVector opens the vector index for an embedding space.
func (e *core) openVector(id store.Collection, in index.Space) (index.VectorIndex, error) {
	return vector.New(vector.Options{
		Dir:   filepath.Join(e.indexDir(id), vectorPrefix+in.Name),
		Graph: e.opts.VectorGraph, Dimensions: in.Dimensions, Identity: in.Identity,
		Origin: e.store.Token, Knows: e.store.KnowsToken, Logger: e.opts.Logger,
	})
}

// indexSpace describes an embedding space to an index.
func indexSpace(s *retrieve.Space) index.Space {
	return index.Space{Name: s.Name(), Dimensions: s.Identity.Dimensions, Identity: s.Identity.Key()}
}

// feed reads a collection's changes from the store for its index.
type feed struct {
	store store.Changes
	id    store.Collection
}

var _ index.Feed = feed{}

// All implements [index.Feed].
func (f feed) All(ctx context.Context, apply func(index.Batch) error) error {
	return f.store.Catalog(ctx, f.id, apply)
}

// Follow implements [index.Feed].
func (f feed) Follow(ctx context.Context, after uint64, want index.Want) (index.Batch, error) {
	return f.store.Follow(ctx, f.id, after, want.Texts, embedderID(want.Space))
}

// embedderID is the reverse of [retrieve.SpaceName]; 0 for none.
func embedderID(space string) int64 {
	id, err := strconv.ParseInt(space, 10, 64)
	if err != nil {
		return 0
	}
	return id
}
