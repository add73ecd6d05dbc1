package view

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// telling tells of a compaction of a session. What it came to is told once it is stored:
// the session may be gone by then, and what it said must not be told any more.
type telling struct {
	service *Service
	key     session.Key
	options compact.Options

	done *ragctx.ContextCompacted // not told yet
}

// watch returns what a compaction tells while it goes on.
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

// stored tells what the compaction came to.
func (t *telling) stored(ctx context.Context) {
	if t.done != nil {
		t.tell(ctx, ragctx.EventContextCompacted, *t.done)
		t.done = nil
	}
}

func (t *telling) tell(ctx context.Context, what ragctx.EventType, data any) {
	t.service.opts.Tell(ctx, t.key, ragctx.Event{Type: what, Data: data})
}
