package engine

import (
	"context"
	"errors"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// eraseWithEvents is erase for data that retained events may reveal. It drops matching events once the
// data is hidden, and again at the end for queries that were in progress. A failed precondition
// drops none.
func (e *core) eraseWithEvents(
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

// hasMemoryText reports whether an event has words of memories. Such an event may also contain words of
// other memories: a turn is shown with its neighbours.
func hasMemoryText(ev ragctx.Event) bool { return ev.Type == ragctx.EventMemoryRecalled }

// memoryEvents matches events that may reveal a memory.
func memoryEvents(id string) func(ragctx.Event) bool {
	return func(ev ragctx.Event) bool {
		stored, ok := ev.Data.(ragctx.MemoryStored)
		return ok && stored.MemoryID == id || hasMemoryText(ev)
	}
}

// hasMessageText reports whether an event has words of a stored conversation. Events of its forks may
// contain the same words.
func hasMessageText(ev ragctx.Event) bool {
	switch ev.Type {
	case ragctx.EventContextCompacted, ragctx.EventMessagesMovedToBuffer, ragctx.EventMessageBufferSummarized:
		return true
	default:
		return false
	}
}

// sessionEvents matches events that may reveal a session, including its queries.
func sessionEvents(session string, by Viewer) func(ragctx.Event) bool {
	return func(ev ragctx.Event) bool {
		return (ev.SessionID == session || hasMessageText(ev)) && (by.Anyone || ev.UserID == by.User) ||
			hasMemoryText(ev)
	}
}

// userEvents matches events that may reveal a user's data or queries.
func userEvents(user string) func(ragctx.Event) bool {
	return func(ev ragctx.Event) bool { return ev.UserID == user || hasMemoryText(ev) }
}
