package engine

import (
	"context"

	"github.com/ragctx/ragctx/internal/retrieve"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
)

// RemoteName selects the embedder of [Options] by name, if it calls a service.
const RemoteName = "remote"

// EmbedderNamed returns the embedder of [Options] for [RemoteName], otherwise the built-in embedder
// of that name.
func (e Indexes) EmbedderNamed(name string) (embed.Embedder, error) {
	if name != RemoteName {
		return builtin.Open(name)
	}
	if _, asks := e.opts.Embedder.(embed.Metered); !asks {
		return nil, ragctx.Invalid("embedder",
			"%q is the embedding service of the settings, which have none; set embed_shape", name)
	}
	return e.opts.Embedder, nil
}

// EmbedderInfo describes the active embedder, which made the vectors that are searched.
type EmbedderInfo struct {
	Name       string `json:"name" example:"ragctx-static-en"`
	Revision   string `json:"revision" doc:"changes whenever any vector would"`
	Dimensions int    `json:"dimensions"`
	// Next is the other embedder while the data directory changes embedders.
	Next *EmbedderInfo `json:"next,omitempty" doc:"the other embedder while a job changes the data directory from one to another"`
	// Interim is the embedder whose vectors serve meanwhile, and Waiting about how many chunks have no
	// vector of this one yet.
	Interim string `json:"interim,omitempty" doc:"the embedder whose vectors serve the chunks that have none of this one yet"`
	Waiting int64  `json:"waiting,omitempty" doc:"about how many chunks are still to be embedded in the background"`
	Paused  bool   `json:"paused,omitempty" doc:"whether that is paused"`
	// Service is the usage of the embedder's service since the data directory was opened; nil for
	// built-in embedders.
	Service *embed.Usage `json:"service,omitempty" doc:"usage of its service since the start; absent for built-in embedders"`
}

// EmbedderInfo describes the active embedder, which made the vectors that are searched.
func (e Indexes) EmbedderInfo() EmbedderInfo {
	current := e.spaces.Current.Load()
	info := describeSpace(current)
	if current.Interim != nil {
		info.Interim, info.Waiting, info.Paused = current.Interim.Identity.Name, e.backfill.waiting.Load(), e.backfill.paused.Load()
	}
	if next := e.spaces.Next.Load(); next != nil {
		n := describeSpace(next)
		info.Next = &n
	}
	return info
}

func describeSpace(s *retrieve.Space) EmbedderInfo {
	info := EmbedderInfo{Name: s.Identity.Name, Revision: s.Identity.Revision, Dimensions: s.Identity.Dimensions}
	if m, ok := s.Embedder.(embed.Metered); ok {
		u := m.Usage()
		info.Service = &u
	}
	return info
}

// sizeEmbedder sets the dimensions of the options' embedder if it does not know them. It prefers
// the dimensions of existing vectors, so that the data directory opens while the service is down.
func (e *core) sizeEmbedder(ctx context.Context, active int64) error {
	u, ok := e.opts.Embedder.(embed.Unsized)
	if !ok {
		return nil
	}
	var like []embed.Identity
	if active != 0 {
		identity, err := e.store.EmbedderIdentity(ctx, active)
		if err != nil {
			return err
		}
		like = append(like, identity)
	}
	_, to, changing, err := e.Indexes().Reembedding(ctx)
	if err != nil {
		return err
	}
	if changing {
		like = append(like, to)
	}
	e.opts.Embedder, err = u.Sized(ctx, like...)
	return err
}
