package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx/internal/retrieve"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// embedBatchSize is how many texts are embedded and stored per batch.
const embedBatchSize = 128

// errEmbedding marks errors of the embedder, as opposed to errors of the store.
var errEmbedding = errors.New("embed texts")

// embedMissing embeds the chunks after a given one that have no vector in an embedding space, and returns
// the last chunk. With announce, the indexes apply the vectors at once. each is called with the
// number of chunks scanned.
func (e *core) embedMissing(
	ctx context.Context, s *retrieve.Space, after uint64, announce bool, progress func(units int),
) (uint64, error) {
	for {
		texts, last, err := e.store.Unembedded(ctx, s.ID, after, embedBatchSize)
		if err != nil {
			return after, err
		}
		if last == after {
			return after, nil
		}
		if len(texts) > 0 {
			if err := e.embedBatch(ctx, s, texts, announce); err != nil {
				return after, err
			}
		}
		after = last
		progress(embedBatchSize)
	}
}

func (e *core) embedBatch(ctx context.Context, s *retrieve.Space, texts []store.Unembedded, announce bool) error {
	plain := make([]string, len(texts))
	for i := range texts {
		plain[i] = texts[i].Text
	}
	embed := s.EmbedTexts
	if s.Interim != nil {
		embed = func(ctx context.Context, texts []string) ([][]float32, error) {
			return e.backfill.embedQuietly(ctx, s, texts)
		}
	}
	vectors, err := embed(ctx, plain)
	if err != nil {
		return fmt.Errorf("%w: %w", errEmbedding, err)
	}
	announced, err := e.store.PutVectors(ctx, s.ID, texts[:len(vectors)], vectors, announce)
	if err != nil {
		return err
	}
	if err := e.catchUp(ctx, announced); err != nil {
		return err
	}
	if len(vectors) < len(texts) {
		return errPaused
	}
	return nil
}

// errPaused says that embedding was paused before all texts had vectors.
var errPaused = fmt.Errorf("%w: embedding was paused", ragctx.ErrUnavailable)

// catchUp makes changes searchable.
func (e *core) catchUp(ctx context.Context, announced map[store.Collection]uint64) error {
	for c, seq := range announced {
		if err := e.collections.CatchUp(ctx, c, seq); err != nil && !errors.Is(err, ragctx.ErrClosed) {
			return err
		}
	}
	return nil
}

// backfill is the backfill: it embeds texts that were stored while the embedder failed, and those that a
// gradual embedder leaves to it.
type backfill struct {
	engine *core
	paused atomic.Bool
	// waiting estimates the chunks that have no vector of a gradual embedder yet.
	waiting atomic.Int64
	due     chan struct{}
	life    context.Context //nolint:containedctx // ends with the goroutine
	stop    context.CancelFunc
	wg      sync.WaitGroup
}

// The embedder is called again after backfillMinDelay, with exponential backoff up to backfillMaxDelay.
const (
	backfillMinDelay = 5 * time.Second
	backfillMaxDelay = 5 * time.Minute
)

func newBackfill(e *core) *backfill {
	f := &backfill{engine: e, due: make(chan struct{}, 1)}
	f.life, f.stop = context.WithCancel(context.Background())
	return f
}

// start starts the backfill.
func (f *backfill) start() { f.wg.Go(func() { f.loop(f.life) }) }

// wake schedules a backfill after an embedder failure.
func (f *backfill) wake() {
	if f == nil {
		return
	}
	select {
	case f.due <- struct{}{}:
	default:
	}
}

func (f *backfill) close() {
	if f != nil {
		f.stop()
		f.wg.Wait()
	}
}

func (f *backfill) loop(ctx context.Context) {
	plan, of := backfillSchedule{at: time.Now()}, f.engine.spaces.Current.Load()
	for {
		timer := time.NewTimer(time.Until(plan.at))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-f.due:
			timer.Stop()
			if now := f.engine.spaces.Current.Load(); now != of {
				plan.failed, of = 0, now // the failures were another embedder's
			}
			plan.wake(time.Now(), f.delay())
			continue
		case <-timer.C:
		}
		err := f.run(ctx)
		wait := plan.finished(time.Now(), err == nil || ctx.Err() != nil)
		if err != nil && ctx.Err() == nil {
			f.engine.opts.Logger.WarnContext(ctx, "embedding missing texts failed; retrying", "again_in", wait,
				"error", err)
		}
	}
}

// backfillSchedule schedules the backfill's next run.
type backfillSchedule struct {
	at     time.Time
	failed int // consecutive failures
}

// wake schedules a run after a delay, because a vector was not made. It only moves the next run forward,
// so steady failures do not postpone it. While runs fail, the backoff decides.
func (r *backfillSchedule) wake(now time.Time, delay time.Duration) {
	if soon := now.Add(delay); r.failed == 0 && soon.Before(r.at) {
		r.at = soon
	}
}

// finished schedules the next run after one has ended, and returns the wait.
func (r *backfillSchedule) finished(now time.Time, well bool) time.Duration {
	wait := backfillMaxDelay // vectors may be recorded as missing after the scan
	if well {
		r.failed = 0
	} else {
		wait = min(backfillMinDelay<<min(r.failed, 10), backfillMaxDelay)
		r.failed++
	}
	r.at = now.Add(wait)
	return wait
}

// run embeds the texts that are recorded as missing vectors.
func (f *backfill) run(ctx context.Context) error {
	e := f.engine
	first, err := e.firstUnembedded(ctx)
	if err != nil || first == 0 {
		return err
	}
	space := e.spaces.Current.Load()
	if space.Recomputed() {
		return nil // the record stays for an embedder of the same space whose vectors are stored
	}
	if space.Interim != nil {
		return f.runGradually(ctx, space, first)
	}
	last, err := e.embedMissing(ctx, space, first-1, true, func(int) {})
	if err != nil {
		return err
	}
	return e.store.MarkEmbedded(ctx, space.ID, last)
}
