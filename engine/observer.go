package engine

import (
	"context"
	"log/slog"
	"sync"

	"github.com/ragctx/ragctx"
)

// observer tells providers about completed turns, after the turn's caller has
// its acknowledgement, one turn at a time and in order.
type observer struct {
	watchers map[string]ragctx.TurnObserver
	log      *slog.Logger

	mu     sync.Mutex
	queue  []ragctx.Turn
	wake   chan struct{}
	closed bool
	wg     sync.WaitGroup
}

// newObserver returns nil when no provider wants to know.
func newObserver(watchers map[string]ragctx.TurnObserver, log *slog.Logger) *observer {
	if len(watchers) == 0 {
		return nil
	}
	o := &observer{watchers: watchers, log: log, wake: make(chan struct{}, 1)}
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
	for name, w := range o.watchers {
		func() {
			defer func() {
				if p := recover(); p != nil {
					o.log.Error("provider panicked on a completed turn", "provider", name, "panic", p)
				}
			}()
			if err := w.OnTurnComplete(context.Background(), t); err != nil {
				o.log.Warn("provider failed on a completed turn", "provider", name, "error", err)
			}
		}()
	}
}

// close waits for the turns that are queued.
func (o *observer) close() {
	if o == nil {
		return
	}
	o.mu.Lock()
	o.closed = true
	o.signal()
	o.mu.Unlock()
	o.wg.Wait()
}
