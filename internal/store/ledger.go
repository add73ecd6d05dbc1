package store

import "github.com/ragctx/ragctx/internal/ledger"

// LedgerCounts counts events since the log was opened.
type LedgerCounts struct {
	// Appended counts appended messages, including ragctx's own, Imported the imported ones,
	// Trimmed the messages that retention removed.
	Appended, Imported, Trimmed uint64
	// Subscriptions are open now; CutOff counts subscriptions with slow readers.
	Subscriptions int
	CutOff        uint64
}

// ClusterInfo describes a cluster without its messages.
type ClusterInfo struct {
	Cluster  string `json:"cluster"`
	Created  int64  `json:"created" doc:"Unix time in milliseconds"`
	Messages int    `json:"messages"`
	// The first and the last message; 0 for an empty cluster.
	FirstSequence  ledger.Sequence `json:"first_sequence"`
	LastSequence   ledger.Sequence `json:"last_sequence"`
	FirstTimestamp int64           `json:"first_timestamp"`
	LastTimestamp  int64           `json:"last_timestamp"`
}
