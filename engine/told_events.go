package engine

import (
	"context"
	"errors"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// eraseTold is erase for data that retained events may reveal. It drops matching events once the
// data is hidden, and again at the end for queries that were in progress. A failed precondition
// drops none.
func (e *Engine) eraseTold(
	ctx context.Context, namespace string, matches func(ragctx.Event) bool, fn func(ns int64) (store.Erased, error),
) (took store.Erased, err error) {
	name := namespaceName(namespace)
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

// recalling reports whether an event has words of memories. Such an event may also contain words of
// other memories: a turn is shown with its neighbours.
func recalling(ev ragctx.Event) bool { return ev.Type == ragctx.EventMemoryRecalled }

// toldOfMemory matches events that may reveal a memory.
func toldOfMemory(id string) func(ragctx.Event) bool {
	return func(ev ragctx.Event) bool {
		stored, ok := ev.Data.(ragctx.MemoryStored)
		return ok && stored.MemoryID == id || recalling(ev)
	}
}

// quoting reports whether an event has words of a stored conversation. Events of its forks may
// contain the same words.
func quoting(ev ragctx.Event) bool {
	switch ev.Type {
	case ragctx.EventContextCompacted, ragctx.EventMessagesMovedToBuffer, ragctx.EventMessageBufferSummarized:
		return true
	default:
		return false
	}
}

// toldIn matches events that may reveal a session, including its queries.
func toldIn(session string, by Viewer) func(ragctx.Event) bool {
	return func(ev ragctx.Event) bool {
		return (ev.SessionID == session || quoting(ev)) && (by.Anyone || ev.UserID == by.User) || recalling(ev)
	}
}

// toldOfUser matches events that may reveal a user's data or queries.
func toldOfUser(user string) func(ragctx.Event) bool {
	return func(ev ragctx.Event) bool { return ev.UserID == user || recalling(ev) }
}
