package engine

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/retrieve"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/local"
	"github.com/ragctx/ragctx/index/pgvector"
	"github.com/ragctx/ragctx/index/weaviate"
	"github.com/ragctx/ragctx/internal/store"
)

// openIndexes returns the opener of indexes that the options name. With a server it deletes the files of local indexes,
// which would keep what is erased from now on.
func (e *core) openIndexes() (index.Opener, error) {
	dir := filepath.Join(e.opts.Dir, store.IndexName)
	if e.opts.Index == "" {
		if e.opts.AckStored {
			return nil, ragctx.Invalid("acknowledge", "is stored, which needs an index in a server (index): files are indexed within "+
				"the write; leave it at indexed")
		}
		return local.Opener{Dir: dir, Graph: e.opts.VectorGraph, Logger: e.opts.Logger}, nil
	}
	var o index.Opener
	var err error
	follows := func() bool { return e.node.isLed() } // the node is made later
	switch {
	case pgvector.Serves(e.opts.Index):
		o, err = pgvector.New(pgvector.Options{URL: e.opts.Index, Follows: follows, Logger: e.opts.Logger})
	case e.opts.AckStored && e.opts.Store != "":
		return nil, ragctx.Invalid("acknowledge", "is stored, which an index in Weaviate cannot have beside a store for several nodes: "+
			"another node would not know what the index lacks; leave it at indexed, or use pgvector")
	default:
		o, err = weaviate.New(weaviate.Options{
			URL: e.opts.Index, Key: e.opts.IndexKey, Now: e.opts.Now, Logger: e.opts.Logger, Follows: follows,
		})
	}
	if err != nil {
		return nil, err
	}
	return o, os.RemoveAll(dir)
}

// openIndex opens the index of a collection.
func (e *core) openIndex(ctx context.Context, id store.Collection) (index.Engine, error) {
	return e.opts.Indexes.Open(ctx, e.opening(id))
}

func (e *core) opening(id store.Collection) index.Opening {
	return index.Opening{
		Collection: indexOf(id), Space: indexSpace(e.spaces.Current.Load()), Feed: feed{e, id},
		Origin: e.store.Token, Knows: e.store.KnowsToken, Monitor: e.recallMonitors[id.Kind],
		Deferred: e.opts.AckStored,
	}
}

// indexOf names a collection to an index.
func indexOf(id store.Collection) index.Collection {
	return index.Collection{Namespace: id.Namespace, Kind: id.Kind.String()}
}

// indexSpace describes an embedding space to an index.
func indexSpace(s *retrieve.Space) index.Space {
	to := index.Space{Name: s.Name(), Dimensions: s.Identity.Dimensions, Identity: s.Identity.Key()}
	if g, ok := s.Embedder.(embed.Gradual); ok {
		with, scale, offset := g.Interim()
		id := with.Identity()
		to.Interim = &index.Interim{Dimensions: id.Dimensions, Identity: id.Key(), Scale: scale, Offset: offset}
	}
	return to
}

// feed reads a collection's changes from the store for its index.
type feed struct {
	*core

	id store.Collection
}

var _ index.Feed = feed{}

// All implements [index.Feed].
func (f feed) All(ctx context.Context, apply func(index.Batch) error) error {
	return f.store.Catalog(ctx, f.id, apply)
}

// Follow implements [index.Feed]. It computes the vectors that the store does not have.
func (f feed) Follow(ctx context.Context, after uint64, want index.Want) (index.Batch, error) {
	b, err := f.follow(ctx, after, want)
	if len(b.Removed) > 0 && f.node.follows() {
		f.node.uncompacted.Store(f.id, true)
	}
	return b, err
}

func (f feed) follow(ctx context.Context, after uint64, want index.Want) (index.Batch, error) {
	space := f.spaces.Named(want.Space)
	if space == nil || !space.Recomputed() && space.Interim == nil {
		return f.store.Follow(ctx, f.id, after, want.Texts, embedderID(want.Space))
	}
	from, stored := space, int64(0)
	if space.Interim != nil {
		from, stored = space.Interim, space.ID
	}
	b, err := f.store.Follow(ctx, f.id, after, want.Texts, stored)
	if err != nil {
		return b, err
	}
	if len(b.Revised) > 0 && f.node.follows() {
		f.node.showAnnounced() // by the process that leads
	}
	if b.Vectors == nil && len(b.Add) <= embedAtOnce {
		f.hideWithheld(b.Revised)
		f.hideWithheld(b.Add)
		return b, f.recompute(ctx, from, b.Add)
	}
	load := b.Vectors
	b.Vectors = func(ctx context.Context, some []index.Chunk) error {
		if load != nil {
			if err := load(ctx, some); err != nil {
				return err
			}
		}
		f.hideWithheld(some)
		return f.recompute(ctx, from, some)
	}
	return b, nil
}

// embedAtOnce is the chunk count up to which a batch carries computed vectors. Those of a long document
// would take far more memory than its text.
const embedAtOnce = 2000

// embedderID is the reverse of [retrieve.SpaceName]; 0 for none.
func embedderID(space string) int64 {
	id, err := strconv.ParseInt(space, 10, 64)
	if err != nil {
		return 0
	}
	return id
}
