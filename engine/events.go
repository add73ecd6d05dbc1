package engine

import (
	"sync"

	"github.com/ragctx/ragctx"
)

// eventSource numbers events. The numbers grow within a process.
type eventSource struct {
	mu  sync.Mutex
	seq uint64
}

// emit hands an event to the configured receiver, one at a time.
func (e *Engine) emit(t ragctx.EventType, namespace, session string, data any) {
	if e.opts.OnEvent == nil {
		return
	}
	e.events.mu.Lock()
	defer e.events.mu.Unlock()
	e.events.seq++
	e.opts.OnEvent(ragctx.Event{
		Seq: e.events.seq, ID: e.opts.NewID(), Type: t, Time: e.opts.Now().UTC(),
		Namespace: namespace, SessionID: session, Data: data,
	})
}
