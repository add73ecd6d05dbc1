package session

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
)

// Condition is what a change of a session has to find; otherwise it changes nothing and is
// [ragctx.ErrPrecondition]. The zero value is whatever is there.
type Condition struct {
	// Revisions are those of which one must be the session's, unless it is nil; see
	// [Version.Revision]. Any is that there must be a session.
	Revisions []string
	Any       bool
}

// IsZero reports whether it is no condition.
func (c Condition) IsZero() bool { return c.Revisions == nil && !c.Any }

type conditionKey struct{}

// If returns a context in which methods of a [Storage] that change a session do so only if
// it is as a condition wants it. It is looked at where the change is made, so that of several
// changes with one condition one succeeds. It travels in the context, as what changes a
// session in the end may be behind several layers that do not care.
func If(ctx context.Context, c Condition) context.Context {
	return context.WithValue(ctx, conditionKey{}, c)
}

// ConditionOf returns the condition of a context.
func ConditionOf(ctx context.Context) Condition {
	c, _ := ctx.Value(conditionKey{}).(Condition)
	return c
}

// Check returns what is wrong with a version of a session, or nil. Implementations of
// [Storage] call it where they change one; no version is that there is none.
func (c Condition) Check(k Key, at *Version) error {
	switch {
	case c.IsZero():
		return nil
	case at == nil:
		return fmt.Errorf("session %q: %w: there is none; leave the condition out to make it", ragctx.Clip(k.ID), ragctx.ErrPrecondition)
	case c.Revisions != nil && !slices.Contains(c.Revisions, at.Revision()):
		return fmt.Errorf("session %q: %w: somebody has changed it since; read it again, and decide anew", ragctx.Clip(k.ID), ragctx.ErrPrecondition)
	}
	return nil
}

// Revision names a version, also for callers: by a hash with the salt, so that nobody finds
// out by trying how many sessions there are.
func (v Version) Revision() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(v.Session)) //nolint:gosec // only told apart
	binary.LittleEndian.PutUint64(b[8:], uint64(v.Changes)) //nolint:gosec // likewise
	sum := sha256.Sum256(append(b[:], v.Salt...))
	return hex.EncodeToString(sum[:8])
}
