package engine

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/retrieve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/throttle"
)

// gradualDelay is the delay of the backfill after a write that left chunks to it, if the embedder is
// [embed.Gradual].
const gradualDelay = 50 * time.Millisecond

// delay returns the delay of the backfill after a write without vectors.
func (f *backfill) delay() time.Duration {
	if f.engine.spaces.Current.Load().Interim != nil {
		return gradualDelay
	}
	return backfillMinDelay
}

// runGradually embeds the chunks from the first one that lacks a vector, and shows all vectors to the indexes
// when it has them: a ranking by vectors of two spaces is worse than one by either. It stops when it is paused
// and when the data directory gets another embedder. A later run, also after a restart, continues.
func (f *backfill) runGradually(ctx context.Context, s *retrieve.Space, first uint64) error {
	e := f.engine
	e.withheld.Store(first)
	for at := first - 1; e.spaces.Current.Load() == s; {
		newest, err := e.store.LastChunk(ctx)
		if err != nil {
			return err
		}
		f.waiting.Store(int64(newest - min(at, newest))) //nolint:gosec // row ids fit
		if f.paused.Load() {
			return nil
		}
		texts, last, err := e.store.Unembedded(ctx, s.ID, at, embedBatchSize)
		if err != nil {
			return err
		}
		if last == at {
			return e.announce(ctx, s, first, last)
		}
		if len(texts) > 0 {
			if err := e.embedBatch(ctx, s, texts, false); errors.Is(err, errPaused) {
				f.wake() // in case it was resumed since
				return nil
			} else if err != nil {
				return err
			}
		}
		at = last
	}
	return nil
}

// announce shows the vectors of a range of chunks to the indexes.
func (e *core) announce(ctx context.Context, s *retrieve.Space, first, last uint64) error {
	e.withheld.Store(0)
	for at := first - 1; at < last; {
		announced, to, err := e.store.AnnounceVectors(ctx, at, announceBatch)
		if err != nil {
			return err
		}
		if to == at {
			break
		}
		if err := e.catchUp(ctx, announced); err != nil {
			return err
		}
		at = to
	}
	return e.store.MarkEmbedded(ctx, s.ID, last)
}

// announceBatch is the number of chunks whose vectors are announced in one write.
const announceBatch = 1000

// hideWithheld removes the vectors that are withheld from the indexes.
func (e *core) hideWithheld(some []index.Chunk) {
	first := e.withheld.Load()
	for i := range some {
		if first != 0 && some[i].ID >= first {
			some[i].Vector = nil
		}
	}
}

// firstUnembedded returns the first chunk that may lack a vector, or 0.
func (e *core) firstUnembedded(ctx context.Context) (uint64, error) {
	recorded, err := e.store.Setting(ctx, store.SettingUnembedded)
	if err != nil || recorded == "" {
		return 0, err
	}
	first, err := strconv.ParseUint(recorded, 10, 64)
	if err != nil {
		first = 1
	}
	return max(first, 1), nil
}

// AwaitEmbedded waits until no chunk lacks a vector of a gradual embedder.
func (e Indexes) AwaitEmbedded(ctx context.Context) error {
	for e.spaces.Current.Load().Interim != nil {
		first, err := e.firstUnembedded(ctx)
		if err != nil || first == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(gradualDelay):
		}
	}
	return nil
}

// embedQuietly embeds texts one by one in a thread of low priority, as many as it can before the backfill is paused.
// It waits while requests run.
func (f *backfill) embedQuietly(ctx context.Context, s *retrieve.Space, texts []string) (vectors [][]float32, err error) {
	throttle.Background(func() {
		for i := range texts {
			if f.paused.Load() {
				return
			}
			f.engine.priority.waitIdle(ctx)
			var v [][]float32
			if v, err = s.EmbedTexts(ctx, texts[i:i+1]); err != nil {
				return
			}
			vectors = append(vectors, v...)
		}
	})
	return vectors, err
}

// PauseEmbedding pauses or resumes the embedding of chunks in the background, also for later processes.
func (e Indexes) PauseEmbedding(ctx context.Context, pause bool) error {
	if err := requireAdmin(ctx); err != nil {
		return err
	}
	value := ""
	if pause {
		value = "1"
	}
	if err := e.store.SetSetting(ctx, store.SettingEmbeddingPaused, value); err != nil {
		return err
	}
	e.backfill.paused.Store(pause)
	e.backfill.wake()
	return nil
}
