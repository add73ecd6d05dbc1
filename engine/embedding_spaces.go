package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ragctx/ragctx/internal/retrieve"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/store"
)

// openEmbeddingSpaces determines the embedding space of the data directory. A new directory takes the
// options' embedder. A directory filled by another one is rejected, or changed in the background.
func (e *core) openEmbeddingSpaces(ctx context.Context) error {
	if e.node.isLed() {
		return e.openFollowedSpace(ctx)
	}
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
	e.spaces.Current.Store(retrieve.NewSpace(active, identity, e.findEmbedder(identity), &e.embedderCalls))
	if want == nil && e.spaces.Current.Load().Embedder == nil {
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
	case want == nil && e.spaces.Current.Load().Embedder == nil:
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
	e.spaces.Current.Store(retrieve.NewSpace(id, with.Identity(), with, &e.embedderCalls))
	return e.store.SetSetting(ctx, store.SettingEmbedder, retrieve.SpaceName(id))
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
func (e Indexes) Embedder() embed.Identity { return e.spaces.Current.Load().Identity }

// leaderPatience is how long an opening waits for a leader that starts at the same time.
const leaderPatience = 5 * time.Second

// openFollowedSpace opens the embedding space that another process has chosen.
func (e *core) openFollowedSpace(ctx context.Context) error {
	active, err := e.activeEmbedder(ctx)
	for until := time.Now().Add(leaderPatience); err == nil && active == 0 && time.Now().Before(until); { // of a leader that starts
		if httpclient.Sleep(ctx, nodeInterval/10) != nil {
			return ctx.Err()
		}
		active, err = e.activeEmbedder(ctx)
	}
	if err == nil && active == 0 {
		err = fmt.Errorf("%w: the database has no embedder yet; try again when the first node has started", ragctx.ErrUnavailable)
	}
	if err == nil {
		err = e.sizeEmbedder(ctx, active)
	}
	if err == nil {
		err = e.followEmbedder(ctx)
	}
	if space := e.spaces.Current.Load(); err == nil && space.Embedder == nil {
		e.opts.Logger.WarnContext(ctx, "this node has not the embedder of the database; its questions use words alone",
			"embedder", space.Identity.String())
	}
	return err
}

// followEmbedder changes to the embedder of the database, if another process has changed it.
func (e *core) followEmbedder(ctx context.Context) error {
	active, err := e.activeEmbedder(ctx)
	if err != nil || active == 0 {
		return err
	}
	if now := e.spaces.Current.Load(); now != nil && now.ID == active {
		return nil
	}
	identity, err := e.store.EmbedderIdentity(ctx, active)
	if err != nil {
		return err
	}
	next := retrieve.NewSpace(active, identity, e.findEmbedder(identity), &e.embedderCalls)
	old := e.spaces.Current.Load()
	if old == nil { // while the engine opens
		e.spaces.Current.Store(next)
		return nil
	}
	e.spaces.Next.Store(next) // serves the indexes that change first
	if err := e.prepareIndexes(ctx, next); err != nil {
		return errors.Join(err, e.abandon(ctx))
	}
	e.spaces.Current.Store(next)
	e.spaces.Next.Store(old)
	err = e.switchIndexes(ctx, next)
	e.spaces.Next.Store(nil)
	return errors.Join(err, e.opts.Indexes.KeepSpace(ctx, next.Name()))
}
