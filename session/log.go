package session

import (
	"slices"
	"sync/atomic"

	"github.com/ragctx/ragctx"
)

// log is an immutable, append-only list of messages. Appending returns a new log that shares the
// existing messages, and costs only the appended ones. The zero value is empty.
//
// Logs that grew from each other share one array. Each cell is written once, by the log that claims
// it first; another branch from the same length finds the cells taken and copies the array.
// Concurrent appends are therefore safe.
type log struct {
	messages []ragctx.Message
	taken    *atomic.Int64 // number of claimed cells of the array
}

// logOf returns a log with a copy of messages.
func logOf(messages []ragctx.Message) log { return log{}.append(messages) }

func (l log) append(messages []ragctx.Message) log {
	from, to := len(l.messages), len(l.messages)+len(messages)
	if from == to {
		return l
	}
	if to > cap(l.messages) || !l.taken.CompareAndSwap(int64(from), int64(to)) {
		l = log{messages: slices.Grow(slices.Clip(l.messages), len(messages)), taken: new(atomic.Int64)}
		l.taken.Store(int64(to))
	}
	l.messages = l.messages[:to]
	copy(l.messages[from:], messages)
	return l
}
