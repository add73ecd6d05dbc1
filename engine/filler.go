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

// fillBatch is how many texts are embedded and stored at a time.
const fillBatch = 128

// errEmbedding tells what an embedder fails with from what the store does.
var errEmbedding = errors.New("embed texts")

// fill embeds the texts after a unit that a space has no vectors for. It returns
// the last unit. With announce, the indexes take the vectors over at once. each
// is told how many units were looked at.
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

// filler makes the vectors of texts that were stored while the embedder failed.
type filler struct {
	engine *Engine
	due    chan struct{}
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

// The embedder is asked again after refillFirst, then ever later up to refillMost.
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

// wake says that the embedder failed just now.
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
				plan.failed, of = 0, now // the troubles were another embedder's
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

// refill says when the filler works next.
type refill struct {
	at     time.Time
	failed int // in a row
}

// wanted says that a vector could not be made just now. It only ever brings the
// next try forward, so that steady failures do not put it off, and not while
// tries fail, whose pace is that of the embedder's troubles.
func (r *refill) wanted(now time.Time) {
	if soon := now.Add(refillFirst); r.failed == 0 && soon.Before(r.at) {
		r.at = soon
	}
}

// ended says how a try ended, and returns how long it is until the next.
func (r *refill) ended(now time.Time, well bool) time.Duration {
	wait := refillMost // something may be noted after it was looked for
	if well {
		r.failed = 0
	} else {
		wait = min(refillFirst<<min(r.failed, 10), refillMost)
		r.failed++
	}
	r.at = now.Add(wait)
	return wait
}

// fill makes the vectors that are noted as missing.
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
