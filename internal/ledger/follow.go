package ledger

import (
	"context"
	"errors"
	"iter"
)

// The size of one page of stored messages.
const (
	pageMessages = 256
	pageBytes    = 4 << 20
)

// Pages yields the matching messages in order and reads them a page at a time, so memory stays
// bounded. It ignores Limit, Offset, MaxBytes and Newest of q. An error is the last value.
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

// LastSequence returns the sequence of a cluster's newest message, 0 if the cluster is empty. [Follow]
// yields the messages after it.
func LastSequence(ctx context.Context, log Log, f Filter) (Sequence, error) {
	m, _, err := log.Find(ctx, Query{Filter: Filter{Namespace: f.Namespace, Cluster: f.Cluster}})
	return m.Sequence, err
}

// Follow yields the matching messages after a sequence: first the stored ones, then the appended
// ones, each once and in order. It ends with ctx or with the log. A slow reader is served from the
// stored messages. An error is the last value.
func Follow(ctx context.Context, log Log, f Filter, after Sequence) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		w := follower{log: log, filter: f, after: after, yield: yield}
		for {
			// Catch up before subscribing: a subscription would be cut off during a long read.
			if !w.catchUp(ctx) || !w.live(ctx) {
				return
			}
		}
	}
}

// follower is the state of one [Follow].
type follower struct {
	log    Log
	filter Filter
	after  Sequence
	yield  func(Message, error) bool
}

// catchUp yields the stored messages and reports whether to continue.
func (w *follower) catchUp(ctx context.Context) bool {
	for m, err := range Pages(ctx, w.log, Query{Filter: w.filter, AfterSeq: w.after}) {
		if !w.yield(m, err) || err != nil {
			return false
		}
		w.after = m.Sequence
	}
	return true
}

// live yields the appended messages and reports whether to resume from the stored ones.
func (w *follower) live(ctx context.Context) bool {
	sub, err := w.log.Subscribe(w.filter)
	if err != nil {
		w.yield(Message{}, err)
		return false
	}
	defer sub.Close()
	if !w.catchUp(ctx) { // messages appended before the subscription
		return false
	}
	for {
		select {
		case m, open := <-sub.C():
			switch {
			case !open:
				return w.resumable(sub.Err())
			case m.Sequence <= w.after: // already yielded as a stored message
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

// resumable reports whether to resume after the subscription ended.
func (w *follower) resumable(err error) bool {
	if _, slow := errors.AsType[*CutOffError](err); slow {
		return true
	}
	w.yield(Message{}, err)
	return false
}
