package store

import (
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

// TurnOrigin says where a turn comes from: the namespace, the user and the session.
type TurnOrigin struct {
	Namespace     int64
	User, Session string
}

// Queue returns the key of the turns that are delivered one after the other: those of a user, so
// that a later statement supersedes an earlier one, or of a session without a user.
func (o TurnOrigin) Queue() TurnOrigin {
	if o.User != "" {
		o.Session = ""
	}
	return o
}

// StoredTurn is a stored turn.
type StoredTurn struct {
	ragctx.Turn

	Recorded time.Time `json:"recorded"`
}
