// Package ledger is the vocabulary and the logic of ledgers: append-only logs of
// the messages that agents of a cluster send each other, with subscriptions.
//
// A [Log] keeps the messages of many clusters. A cluster is named by its namespace,
// which is a wall, and its own name. [Memory] is a log in memory; package store has
// the durable one. Both pass the conformance suite in ledgertest.
package ledger

import "context"

// Log is an append-only log of messages. Its methods are safe for concurrent use;
// after the log was closed they fail with [ragctx.ErrClosed].
type Log interface {
	// Append appends messages of one cluster, all or none, and returns them as they
	// are stored: with id, sequence, timestamp and receiver. The order is kept; nobody
	// else's message of the cluster comes between them, and their timestamps are
	// contiguous as far as they do not ask for later ones.
	//
	// A message's timestamp is the clock's or one more than that of the cluster's
	// newest message, whichever is later. One that the caller asks for (not 0) is
	// raised to that, never lowered. An id that the caller gives is kept; one that the
	// cluster has already is a [ragctx.ErrConflict]. The sequence that the caller
	// gives is ignored.
	//
	// It checks everything before anything is written, see [Check]. Without messages
	// it does nothing. Subscribers are told once the messages are durable, and before
	// or while Append returns, in the order of the sequence.
	Append(ctx context.Context, messages []Message) ([]Message, error)
	// Query returns the messages that match.
	Query(ctx context.Context, q Query) ([]Message, error)
	// Find returns the newest message that matches, or false. Limit, Offset and
	// Newest of q are ignored.
	Find(ctx context.Context, q Query) (Message, bool, error)
	// Count returns how many messages match. Limit, Offset and Newest of q are
	// ignored.
	Count(ctx context.Context, q Query) (int, error)
	// Subscribe returns the messages that match and are appended from now on.
	// Subscriptions end with the log.
	Subscribe(f Filter) (*Subscription, error)
}

// Filter says which messages of a cluster are meant: those that match all of what
// is set. Namespace and Cluster must be set.
type Filter struct {
	Namespace string
	Cluster   string
	// Topics are the topics that match; empty is all.
	Topics   []string
	Sender   string
	Receiver string
}

// Query asks for messages. The zero value of a bound is no bound.
type Query struct {
	Filter
	// ID is that of the only message that matches; "" is any.
	ID string
	// Since and Until bound the timestamp, both included; After bounds it, excluded.
	Since, Until, After int64
	// AfterSeq bounds the sequence, excluded; ThroughSeq bounds it, included.
	AfterSeq, ThroughSeq Sequence
	// Limit is how many messages are returned at most, Offset how many that match
	// are skipped before; 0 is no limit.
	Limit, Offset int
	// MaxBytes ends the answer with the message by which the [Message.Size] of all
	// reaches it; 0 is no limit.
	MaxBytes int
	// Newest reverses the order, which is that of the sequence, hence of the
	// timestamp.
	Newest bool
}
