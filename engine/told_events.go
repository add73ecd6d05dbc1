package engine

import (
	"context"
	"errors"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// eraseTold is erase of what events of the namespace may have told: those that match are
// forgotten, once nobody finds any more what they tell, and once more in the end, for
// answers that were under way. A refusal leaves them.
func (e *Engine) eraseTold(
	ctx context.Context, namespace string, matches func(ragctx.Event) bool, fn func(ns int64) (store.Erased, error),
) (took store.Erased, err error) {
	name := spaceName(namespace)
	forget := func(err error) {
		if !errors.Is(err, ragctx.ErrPrecondition) {
			e.events.Forget(func(ev ragctx.Event) bool { return ev.Namespace == name && matches(ev) })
		}
	}
	took, err = e.erase(ctx, namespace, func(ns int64) (store.Erased, error) {
		took, err := fn(ns)
		forget(err)
		return took, err
	})
	forget(err)
	return took, err
}

// recalling reports whether an event has words of memories. Those of one may stand in what
// was told of another: a turn is shown with the turns around it.
func recalling(ev ragctx.Event) bool { return ev.Type == ragctx.EventMemoryRecalled }

// toldOfMemory matches what may tell of a memory.
func toldOfMemory(id string) func(ragctx.Event) bool {
	return func(ev ragctx.Event) bool {
		stored, ok := ev.Data.(ragctx.MemoryStored)
		return ok && stored.MemoryID == id || recalling(ev)
	}
}

// quoting reports whether an event has words of a stored conversation. Those of one stand
// in what was told of its forks.
func quoting(ev ragctx.Event) bool {
	switch ev.Type {
	case ragctx.EventContextCompacted, ragctx.EventMessagesMovedToBuffer, ragctx.EventMessageBufferSummarized:
		return true
	default:
		return false
	}
}

// toldIn matches what may tell of a session, also what was asked in it.
func toldIn(session string, by Viewer) func(ragctx.Event) bool {
	return func(ev ragctx.Event) bool {
		return (ev.SessionID == session || quoting(ev)) && (by.Anyone || ev.UserID == by.User) || recalling(ev)
	}
}

// toldOfUser matches what may tell of a user, also what the user asked.
func toldOfUser(user string) func(ragctx.Event) bool {
	return func(ev ragctx.Event) bool { return ev.UserID == user || recalling(ev) }
}
