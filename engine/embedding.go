package engine

import (
	"context"
	"errors"
	"log/slog"
	"math"

	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// embed sets the units of a content, and what fills in their vectors before they are written,
// also those of the space to which the data directory is changing. Texts that were embedded before
// are not embedded again. An embedder that fails costs the vectors, not the write:
// the keyword leg finds the text all the same, and the vectors are made later. After a
// failure it is not asked for the rest.
func (e *Engine) embed(c *store.Content, title string, chunks []chunk.Chunk) {
	current, next := e.spaces.current.Load(), e.spaces.next.Load()
	c.Embedder = current.id
	if next != nil {
		c.Next = next.id
	}
	c.Units = make([]store.Unit, len(chunks))
	for i, ch := range chunks {
		c.Units[i].Chunk = ch
	}
	failed, failedNext := false, false
	c.Embed = func(ctx context.Context, some []store.Unit) error {
		texts := make([]store.Unembedded, len(some))
		for i := range some {
			texts[i].Text = store.EmbedText(title, some[i].Heading, some[i].Text)
			texts[i].Key = store.KeyOf(texts[i].Text)
			some[i].Hash = texts[i].Key
		}
		known, err := e.vectors(ctx, current, texts, !failed)
		if err != nil {
			return err
		}
		for i := range some {
			some[i].Vector = known[texts[i].Key]
			failed = failed || some[i].Vector == nil
		}
		if failed { // the store notes it with the write
			e.filler.wake()
		}
		if next == nil {
			return nil
		}
		// What fails is made up for before the change is over.
		if known, err = e.vectors(ctx, next, texts, !failedNext); err != nil {
			return err
		}
		for i := range some {
			some[i].Ahead = known[texts[i].Key]
			failedNext = failedNext || some[i].Ahead == nil
		}
		return nil
	}
}

// vectors returns the vectors of texts; those are missing that the embedder
// failed on, or is not to be asked for.
func (e *Engine) vectors(ctx context.Context, s *space, texts []store.Unembedded, ask bool) (map[store.VectorKey][]float32, error) {
	keys := make([]store.VectorKey, len(texts))
	for i := range texts {
		keys[i] = texts[i].Key
	}
	known, err := e.store.Vectors(ctx, s.id, keys)
	if err != nil {
		return nil, err
	}
	var missing []store.VectorKey
	var batch []string
	for i := range texts {
		if known[keys[i]] == nil {
			missing, batch = append(missing, keys[i]), append(batch, texts[i].Text)
		}
	}
	if len(batch) == 0 || !ask {
		return known, nil
	}
	made, err := s.vectorsOf(ctx, batch)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		e.opts.Logger.Log(ctx, levelOf(err), "embedder failed; stored without vectors for now", "embedder", s.identity.String(), "error", err)
		return known, nil
	}
	for i, k := range missing {
		known[k] = made[i]
	}
	return known, nil
}

// levelOf is how loud an embedder's failure is told. That a service is left alone
// was told when that began.
func levelOf(err error) slog.Level {
	if errors.Is(err, httpclient.ErrOpen) {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// usable reports whether a vector that came from an embedder can be stored.
func usable(v []float32, dim int) bool {
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
