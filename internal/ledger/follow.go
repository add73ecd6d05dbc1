package ledger

import (
	"context"
	"errors"
	"iter"
)

// A page of stored messages, as they are read to catch up.
const (
	pageMessages = 256
	pageBytes    = 4 << 20
)

// Pages returns the messages that match in order, read a page at a time, so that
// any number of them can be looked through. Limit, Offset, MaxBytes and Newest of q
// are ignored. An error is the last thing that it yields.
func Pages(ctx context.Context, log Log, q Query) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		q.Limit, q.Offset, q.MaxBytes, q.Newest = pageMessages, 0, pageBytes, false
		for {
			page, err := log.Query(ctx, q)
			if err != nil {
				yield(Message{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			for _, m := range page {
				if !yield(m, nil) {
					return
				}
				q.AfterSeq = m.Sequence
			}
		}
	}
}

// Last returns the sequence of a cluster's newest message, 0 if there is none. What
// [Follow] yields after it is new.
func Last(ctx context.Context, log Log, f Filter) (Sequence, error) {
	m, _, err := log.Find(ctx, Query{Filter: Filter{Namespace: f.Namespace, Cluster: f.Cluster}})
	return m.Sequence, err
}

// Follow yields the messages that match and come after a sequence: those that are
// stored, then those that are appended, each once and in order, until ctx or the log
// ends. It takes the time that its reader takes: one that is slow is served from
// what is stored. An error is the last thing that it yields.
func Follow(ctx context.Context, log Log, f Filter, after Sequence) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		w := follower{log: log, filter: f, after: after, yield: yield}
		for {
			// Once without a subscription, which would be cut off while much is read.
			if !w.stored(ctx) || !w.live(ctx) {
				return
			}
		}
	}
}

// follower is one reader of [Follow].
type follower struct {
	log    Log
	filter Filter
	after  Sequence
	yield  func(Message, error) bool
}

// stored yields what is stored, and reports whether to go on.
func (w *follower) stored(ctx context.Context) bool {
	for m, err := range Pages(ctx, w.log, Query{Filter: w.filter, AfterSeq: w.after}) {
		if !w.yield(m, err) || err != nil {
			return false
		}
		w.after = m.Sequence
	}
	return true
}

// live yields what is appended, and reports whether to go on from what is stored.
func (w *follower) live(ctx context.Context) bool {
	sub, err := w.log.Subscribe(w.filter)
	if err != nil {
		w.yield(Message{}, err)
		return false
	}
	defer sub.Close()
	if !w.stored(ctx) { // what came before the subscription
		return false
	}
	for {
		select {
		case m, open := <-sub.C():
			switch {
			case !open:
				return w.again(sub.Err())
			case m.Sequence <= w.after: // it was stored by then
			case !w.yield(m, nil):
				return false
			default:
				w.after = m.Sequence
			}
		case <-ctx.Done():
			w.yield(Message{}, ctx.Err())
			return false
		}
	}
}

// again reports whether a subscription that ended can be gone on from.
func (w *follower) again(err error) bool {
	if _, slow := errors.AsType[*CutOffError](err); slow {
		return true
	}
	w.yield(Message{}, err)
	return false
}
