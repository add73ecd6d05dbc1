package engine

import (
	"context"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/retrieve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// storedSpace returns an embedding space whose vectors are stored, or nil.
func storedSpace(s *retrieve.Space) *retrieve.Space {
	if s == nil || s.Recomputed() {
		return nil
	}
	return s
}

// prepareEmbedding sets the chunks of a content, and a callback that embeds them before they are written, also
// in the next embedding space while the data directory changes embedders. Vectors that indexes compute
// themselves are left out. Cached vectors are reused, and a gradual embedder leaves the others to the
// backfill. If the embedder fails, the write still succeeds without vectors: the keyword index finds
// the text, and the backfill embeds it later. After a failure the embedder is not called for the
// remaining chunks.
func (e *core) prepareEmbedding(c *store.Content, title string, chunks []chunk.Chunk) {
	current, next := e.spaces.Current.Load(), e.spaces.Next.Load()
	c.Embedder = current.ID
	if next != nil {
		c.Next = next.ID
	}
	current, next = storedSpace(current), storedSpace(next)
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
		if current != nil {
			known, err := e.vectors(ctx, current, texts, !failed && current.Interim == nil)
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
		}
		if next == nil {
			return nil
		}
		// Missing vectors are backfilled before the change ends.
		known, err := e.vectors(ctx, next, texts, !failedNext && next.Interim == nil)
		if err != nil {
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

// recompute sets the vectors of chunks without one, in a space whose vectors are not stored.
func (e *core) recompute(ctx context.Context, s *retrieve.Space, some []index.Chunk) error {
	ids := make([]uint64, 0, len(some))
	places := make(map[uint64]int, len(some))
	for i, c := range some {
		if c.Vector == nil {
			ids, places[c.ID] = append(ids, c.ID), i
		}
	}
	if len(ids) == 0 {
		return nil
	}
	chunks, items, err := e.store.Chunks(ctx, ids)
	if err != nil {
		return err
	}
	texts := make([]string, 0, len(chunks))
	at := make([]int, 0, len(chunks))
	for _, c := range chunks {
		if it := items[c.Item]; it != nil {
			texts, at = append(texts, store.EmbedText(it.Title, c.Heading, c.Text)), append(at, places[c.ID])
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := s.EmbedTexts(ctx, texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		if len(v) > 0 {
			some[at[i]].Vector = v
		}
	}
	return nil
}
