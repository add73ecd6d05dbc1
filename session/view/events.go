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
type compactionEvents struct {
	service *Service
	key     session.Key
	options compact.Options

	final *ragctx.ContextCompacted // the final event, not yet published
}

// hooks returns the hooks of the compaction.
func (t *compactionEvents) hooks(ctx context.Context) stage.Hooks {
	return stage.Hooks{
		OnDue: func(_ stage.State, u compact.Usage) {
			t.publish(ctx, ragctx.EventContextWarning, t.options.WarningEvent(u))
		},
		OnBegin: func(_ stage.State, u compact.Usage, messages int) {
			t.publish(ctx, ragctx.EventContextCompacting, t.options.CompactingEvent(u, messages))
		},
		OnDone: func(_ stage.State, u compact.Usage, r compact.Result) {
			t.service.warn(ctx, t.key, r.Warnings)
			if e, _, ok := r.CompactedEvent(u); ok {
				t.final = &e
			}
		},
	}
}

// publishDone publishes the final event.
func (t *compactionEvents) publishDone(ctx context.Context) {
	if t.final != nil {
		t.publish(ctx, ragctx.EventContextCompacted, *t.final)
		t.final = nil
	}
}

func (t *compactionEvents) publish(ctx context.Context, what ragctx.EventType, data any) {
	t.service.opts.Publish(ctx, t.key, ragctx.Event{Type: what, Data: data})
}
