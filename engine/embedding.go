package engine

import (
	"context"

	"github.com/ragctx/ragctx/internal/retrieve"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// prepareEmbedding sets the chunks of a content, and a callback that embeds them before they are written, also
// in the next embedding space while the data directory changes embedders. Cached vectors are
// reused. If the embedder fails, the write still succeeds without vectors: the keyword index finds
// the text, and the backfill embeds it later. After a failure the embedder is not called for the
// remaining chunks.
func (e *core) prepareEmbedding(c *store.Content, title string, chunks []chunk.Chunk) {
	current, next := e.spaces.Current.Load(), e.spaces.Next.Load()
	c.Embedder = current.ID
	if next != nil {
		c.Next = next.ID
	}
	c.Chunks = make([]store.Chunk, len(chunks))
	for i, ch := range chunks {
		c.Chunks[i].Chunk = ch
	}
	failed, failedNext := false, false
	c.Embed = func(ctx context.Context, some []store.Chunk) error {
		texts := make([]store.Unembedded, len(some))
		for i := range some {
			texts[i].Text = store.EmbedText(title, some[i].Heading, some[i].Text)
			texts[i].Key = store.VectorKeyOf(texts[i].Text)
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
		if failed { // the store records the missing vectors with the write
			e.backfill.wake()
		}
		if next == nil {
			return nil
		}
		// Missing vectors are backfilled before the change ends.
		if known, err = e.vectors(ctx, next, texts, !failedNext); err != nil {
			return err
		}
		for i := range some {
			some[i].NextVector = known[texts[i].Key]
			failedNext = failedNext || some[i].NextVector == nil
		}
		return nil
	}
}

// vectors returns the vectors of texts. Texts without a stored vector are embedded if ask is set;
// those that fail are missing from the result.
func (e *core) vectors(
	ctx context.Context, s *retrieve.Space, texts []store.Unembedded, ask bool,
) (map[store.VectorKey][]float32, error) {
	keys := make([]store.VectorKey, len(texts))
	for i := range texts {
		keys[i] = texts[i].Key
	}
	known, err := e.store.Vectors(ctx, s.ID, keys)
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
	made, err := s.EmbedTexts(ctx, batch)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		e.opts.Logger.Log(ctx, retrieve.EmbedderLogLevel(err), "embedder failed; stored without vectors for now", "embedder",
			s.Identity.String(), "error", err)
		return known, nil
	}
	for i, k := range missing {
		known[k] = made[i]
	}
	return known, nil
}
