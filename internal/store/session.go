package store

import (
	"time"

	"github.com/ragctx/ragctx/session"
)

// SessionKey identifies a session of a user; "" means shared. Sessions of two users with the same
// id are different.
type SessionKey struct {
	Namespace     int64
	User, Session string
}

// SessionProvider is a provider assigned to a session.
type SessionProvider struct {
	Name  string
	Added time.Time
}

// SessionFilter selects sessions.
type SessionFilter struct {
	// User is the owner; "" selects shared sessions. AnyUser selects the sessions of all users.
	User    string
	AnyUser bool
	// Before is the cursor of the previous page; 0 starts at the beginning. Limit is at least 1.
	Before int64
	Limit  int
}

// ListedSession is a session in a list, without the counts of its sections, branches, labels and
// compactions.
type ListedSession struct {
	session.Info

	User string
}
