// Package ledger implements the logic of ledgers: append-only logs of the messages that the agents
// of a cluster send each other, with subscriptions.
//
// A [Log] stores the messages of many clusters. A cluster is identified by its namespace, the unit
// of isolation, and its own name. [MemoryLog] is a log in memory; package store has the durable one.
// Both pass the conformance suite in ledgertest.
package ledger

import "context"

// Log is an append-only log of messages. Its methods are safe for concurrent use. After the log is
// closed they fail with [ragctx.ErrClosed].
type Log interface {
	// Append appends messages of one cluster, all or none, and returns them as stored: with id,
	// sequence, timestamp and receiver. Their order is kept and no other message of the cluster
	// comes between them. Their timestamps are contiguous unless a message requests a later one.
	//
	// A message's timestamp is the clock's, or one more than the cluster's newest timestamp,
	// whichever is later. A requested timestamp (not 0) is raised to that, never lowered. An id
	// from the caller is kept; an id that the cluster already has is a [ragctx.ErrConflict]. A
	// sequence from the caller is ignored.
	//
	// Append checks every message before it writes, see [Check]. Without messages it does nothing.
	// Subscribers are notified once the messages are durable, before or while Append returns, in
	// the order of the sequence.
	Append(ctx context.Context, messages []Message) ([]Message, error)
	// Query returns the matching messages.
	Query(ctx context.Context, q Query) ([]Message, error)
	// Find returns the newest matching message, or false. It ignores Limit, Offset and Newest of q.
	Find(ctx context.Context, q Query) (Message, bool, error)
	// Count returns the number of matching messages. It ignores Limit, Offset and Newest of q.
	Count(ctx context.Context, q Query) (int, error)
	// Subscribe opens a stream of the matching messages that are appended from now on.
	// Subscriptions end with the log.
	Subscribe(f Filter) (*Subscription, error)
}

// Filter selects messages of a cluster: they match every field that is set. Namespace and Cluster
// are required.
type Filter struct {
	Namespace string
	Cluster   string
	// Topics are the matching topics; empty matches all.
	Topics   []string
	Sender   string
	Receiver string
}

// Query selects messages. The zero value of a bound is no bound.
type Query struct {
	Filter
	// ID selects a single message; "" matches all.
	ID string
	// Since and Until are inclusive bounds of the timestamp; After is an exclusive lower bound.
	Since, Until, After int64
	// AfterSeq is an exclusive lower bound of the sequence, ThroughSeq an inclusive upper bound.
	AfterSeq, ThroughSeq Sequence
	// Limit is the maximum number of messages returned, 0 for no limit. Offset is the number of
	// matches skipped first.
	Limit, Offset int
	// MaxBytes ends the answer with the message at which the sum of [Message.Size] reaches it; 0 is
	// no limit.
	MaxBytes int
	// Newest reverses the order. Messages are ordered by sequence, and hence by timestamp.
	Newest bool
}
