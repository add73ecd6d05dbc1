package view

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// compactionEvents publishes the events of a compaction. The final event is published only after
// the result is stored: if the session was deleted in between, its content must not be published.
type telling struct {
	service *Service
	key     session.Key
	options compact.Options

	done *ragctx.ContextCompacted // the final event, not yet published
}

// hooks returns the hooks of the compaction.
func (t *telling) watch(ctx context.Context) stage.Hooks {
	return stage.Hooks{
		OnDue: func(_ stage.State, u compact.Usage) {
			t.tell(ctx, ragctx.EventContextWarning, t.options.WarningEvent(u))
		},
		OnBegin: func(_ stage.State, u compact.Usage, messages int) {
			t.tell(ctx, ragctx.EventContextCompacting, t.options.CompactingEvent(u, messages))
		},
		OnDone: func(_ stage.State, u compact.Usage, r compact.Result) {
			t.service.warn(ctx, t.key, r.Warnings)
			if e, _, ok := r.CompactedEvent(u); ok {
				t.done = &e
			}
		},
	}
}

// publishDone publishes the final event.
func (t *telling) stored(ctx context.Context) {
	if t.done != nil {
		t.tell(ctx, ragctx.EventContextCompacted, *t.done)
		t.done = nil
	}
}

func (t *telling) tell(ctx context.Context, what ragctx.EventType, data any) {
	t.service.opts.Tell(ctx, t.key, ragctx.Event{Type: what, Data: data})
}
