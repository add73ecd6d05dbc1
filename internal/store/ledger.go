package store

import (
	"time"

	"github.com/ragctx/ragctx/internal/ledger"
)

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
	Cluster  string    `json:"cluster"`
	Created  time.Time `json:"created_at" doc:"time of the first message ever"`
	Messages int       `json:"messages"`
	// The first and the last message; zero for an empty cluster.
	FirstSequence  ledger.Sequence `json:"first_sequence"`
	LastSequence   ledger.Sequence `json:"last_sequence"`
	FirstTimestamp time.Time       `json:"first_timestamp,omitzero"`
	LastTimestamp  time.Time       `json:"last_timestamp,omitzero"`
}
