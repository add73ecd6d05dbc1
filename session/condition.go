package session

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
)

// Condition restricts a change to a session in an expected state. If the condition does not hold,
// the change does nothing and returns [ragctx.ErrPrecondition]. It is checked atomically with the
// change, so of several changes with one condition only one succeeds. The zero value always holds.
type Condition struct {
	// Revisions lists the accepted revisions of the session, unless it is nil; see
	// [Version.Revision]. Any requires that the session exists.
	Revisions []string
	Any       bool
}

// IsZero reports whether the condition always holds.
func (c Condition) IsZero() bool { return c.Revisions == nil && !c.Any }

// Check returns an error unless the condition holds for a version of a session. A nil version means
// that the session does not exist. Implementations of [Storage] call it when they change a session.
func (c Condition) Check(k Key, at *Version) error {
	switch {
	case c.IsZero():
		return nil
	case at == nil:
		return fmt.Errorf("session %q: %w: it does not exist; leave the condition out to create it", ragctx.Clip(k.ID),
			ragctx.ErrPrecondition)
	case c.Revisions != nil && !slices.Contains(c.Revisions, at.Revision()):
		return fmt.Errorf("session %q: %w: it has changed since; read it again and retry", ragctx.Clip(k.ID), ragctx.ErrPrecondition)
	}
	return nil
}

// Revision returns a name of the version for clients. It is a salted hash, so that clients cannot
// guess the number of sessions.
func (v Version) Revision() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(v.Session)) //nolint:gosec // only needs to be distinct
	binary.LittleEndian.PutUint64(b[8:], uint64(v.Changes)) //nolint:gosec // likewise
	sum := sha256.Sum256(append(b[:], v.Salt...))
	return hex.EncodeToString(sum[:8])
}
