package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// observer tells providers about completed turns, after the turn's caller has
// its acknowledgement, one turn at a time and in order.
type observer struct {
	watchers []watcher // in the order of registration
	log      *slog.Logger

	life context.Context //nolint:containedctx // ends what providers do with the engine
	end  context.CancelFunc

	mu     sync.Mutex
	queue  []ragctx.Turn
	wake   chan struct{}
	closed bool
	wg     sync.WaitGroup
}

// watcher is a provider that wants to know.
type watcher struct {
	ragctx.TurnObserver

	name string
}

// newObserver returns nil when no provider wants to know.
func newObserver(watchers []watcher, log *slog.Logger) *observer {
	if len(watchers) == 0 {
		return nil
	}
	o := &observer{watchers: watchers, log: log, wake: make(chan struct{}, 1)}
	o.life, o.end = context.WithCancel(context.Background())
	o.wg.Go(o.loop)
	return o
}

// completed queues a turn. Turns that failed or have no session are not told.
func (o *observer) completed(t ragctx.Turn) {
	if o == nil || !t.Succeeded() || t.SessionID == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue = append(o.queue, t)
	o.signal()
}

func (o *observer) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *observer) loop() {
	for range o.wake {
		for {
			t, more, closed := o.take()
			if !more {
				if closed {
					return
				}
				break
			}
			o.tell(t)
		}
	}
}

func (o *observer) take() (t ragctx.Turn, more, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return t, false, o.closed
	}
	t, o.queue = o.queue[0], o.queue[1:]
	return t, true, o.closed
}

func (o *observer) tell(t ragctx.Turn) {
	for _, w := range o.watchers {
		func() {
			defer func() {
				if p := recover(); p != nil {
					o.log.Error("provider panicked on a completed turn", "provider", w.name, "panic", p)
				}
			}()
			ctx, cancel := context.WithTimeout(o.life, tellTimeout)
			defer cancel()
			if err := w.OnTurnComplete(ctx, t); err != nil {
				o.log.Warn("provider failed on a completed turn", "provider", w.name, "error", err)
			}
		}()
	}
}

// A provider has tellTimeout for a turn. When the engine closes, those that are
// still at it have closeGrace to end before their context does.
const (
	tellTimeout = 30 * time.Second
	closeGrace  = 2 * time.Second
)

// close waits for the turns that are queued.
func (o *observer) close() {
	if o == nil {
		return
	}
	defer time.AfterFunc(closeGrace, o.end).Stop()
	o.mu.Lock()
	o.closed = true
	o.signal()
	o.mu.Unlock()
	o.wg.Wait()
	o.end()
}
