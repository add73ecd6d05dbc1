package session

import (
	"slices"
	"sync/atomic"

	"github.com/ragctx/ragctx"
)

// log is a list of messages that only grows, by new values that share what they have in
// common: appending costs what is appended, and no log changes under whoever holds it.
// The zero value is empty.
//
// Logs that grew from each other lie in one array. Each cell of it is written once, by
// whoever took it first; a second branch from the same place finds its cells taken and
// copies. So logs may be appended to concurrently.
type log struct {
	messages []ragctx.Message
	taken    *atomic.Int64 // cells of the array that some log has
}

// logOf returns a log of messages, of which it keeps a copy.
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
