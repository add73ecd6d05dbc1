package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// fillBatch is how many texts are embedded and stored per batch.
const fillBatch = 128

// errEmbedding marks errors of the embedder, as opposed to those of the store.
var errEmbedding = errors.New("embed texts")

// fill embeds the chunks after a given one that have no vector in an embedding space, and returns
// the last chunk. With announce, the indexes apply the vectors at once. each is called with the
// number of chunks scanned.
func (e *Engine) fill(ctx context.Context, s *space, after uint64, announce bool, each func(units int)) (uint64, error) {
	for {
		texts, last, err := e.store.Unembedded(ctx, s.id, after, fillBatch)
		if err != nil {
			return after, err
		}
		if last == after {
			return after, nil
		}
		if len(texts) > 0 {
			if err := e.fillTexts(ctx, s, texts, announce); err != nil {
				return after, err
			}
		}
		after = last
		each(fillBatch)
	}
}

func (e *Engine) fillTexts(ctx context.Context, s *space, texts []store.Unembedded, announce bool) error {
	plain := make([]string, len(texts))
	for i := range texts {
		plain[i] = texts[i].Text
	}
	vectors, err := s.vectorsOf(ctx, plain)
	if err != nil {
		return fmt.Errorf("%w: %w", errEmbedding, err)
	}
	told, err := e.store.PutVectors(ctx, s.id, texts, vectors, announce)
	if err != nil {
		return err
	}
	for c, seq := range told {
		if err := e.collections.catchUp(ctx, c, seq); err != nil && !errors.Is(err, ragctx.ErrClosed) {
			return err
		}
	}
	return nil
}

// filler is the backfill: it embeds texts that were stored while the embedder failed.
type filler struct {
	engine *Engine
	due    chan struct{}
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

// The embedder is called again after refillFirst, with exponential backoff up to refillMost.
const (
	refillFirst = 5 * time.Second
	refillMost  = 5 * time.Minute
)

func newFiller(e *Engine) *filler {
	f := &filler{engine: e, due: make(chan struct{}, 1)}
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.Background())
	f.wg.Go(func() { f.loop(ctx) })
	return f
}

// wake schedules a backfill after an embedder failure.
func (f *filler) wake() {
	if f == nil {
		return
	}
	select {
	case f.due <- struct{}{}:
	default:
	}
}

func (f *filler) close() {
	if f != nil {
		f.stop()
		f.wg.Wait()
	}
}

func (f *filler) loop(ctx context.Context) {
	plan, of := refill{at: time.Now()}, f.engine.spaces.current.Load()
	for {
		timer := time.NewTimer(time.Until(plan.at))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-f.due:
			timer.Stop()
			if now := f.engine.spaces.current.Load(); now != of {
				plan.failed, of = 0, now // the failures were another embedder's
			}
			plan.wanted(time.Now())
			continue
		case <-timer.C:
		}
		err := f.fill(ctx)
		wait := plan.ended(time.Now(), err == nil || ctx.Err() != nil)
		if err != nil && ctx.Err() == nil {
			f.engine.opts.Logger.WarnContext(ctx, "missing vectors are not made yet", "again_in", wait, "error", err)
		}
	}
}

// refill schedules the backfill's next run.
type refill struct {
	at     time.Time
	failed int // consecutive failures
}

// wanted schedules a run soon after a vector could not be made. It only moves the next run forward,
// so steady failures do not postpone it. While runs fail, the backoff decides.
func (r *refill) wanted(now time.Time) {
	if soon := now.Add(refillFirst); r.failed == 0 && soon.Before(r.at) {
		r.at = soon
	}
}

// ended schedules the next run after one has ended, and returns the wait.
func (r *refill) ended(now time.Time, well bool) time.Duration {
	wait := refillMost // vectors may be recorded as missing after the scan
	if well {
		r.failed = 0
	} else {
		wait = min(refillFirst<<min(r.failed, 10), refillMost)
		r.failed++
	}
	r.at = now.Add(wait)
	return wait
}

// fill embeds the texts that are recorded as missing vectors.
func (f *filler) fill(ctx context.Context) error {
	e := f.engine
	noted, err := e.store.Setting(ctx, store.SettingUnembedded)
	if err != nil || noted == "" {
		return err
	}
	first, err := strconv.ParseUint(noted, 10, 64)
	if err != nil || first == 0 {
		first = 1
	}
	in := e.spaces.current.Load()
	last, err := e.fill(ctx, in, first-1, true, func(int) {})
	if err != nil {
		return err
	}
	return e.store.Embedded(ctx, in.id, last)
}
