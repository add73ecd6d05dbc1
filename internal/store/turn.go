package store

import (
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
)

// Names under which turns are pending for the engine's own observers. They are stored.
const (
	MemoryObserver    = "memory"
	ProcedureObserver = "procedures"
)

// PendingTurn is a turn with pending deliveries to providers.
type PendingTurn struct {
	Row  int64
	Turn ragctx.Turn // Occurred defaults to the time of recording
	// Delivered are the providers that have received the turn. Only limits the delivery to one provider;
	// "" means all.
	Delivered []string
	Only      string
	Attempts  int // failed deliveries
	Requests  int // number of requests for redelivery
}

// Thread returns the key of a conversation thread.
func Thread(ns int64, session string) string { return fmt.Sprintf("%d %s", ns, session) }

// StoredTurn is a stored turn.
type StoredTurn struct {
	ragctx.Turn

	Recorded time.Time `json:"recorded"`
}
