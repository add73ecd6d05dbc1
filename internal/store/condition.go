package store

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
)

// Revision identifies a version of a document or memory. It differs even if an id was erased and
// its versions start over.
func Revision(version int, recorded time.Time) string {
	if version == 0 {
		return ""
	}
	return strconv.Itoa(version) + "." + strconv.FormatInt(recorded.UnixMicro(), 36)
}

// Condition is a precondition of a write. If it does not hold, the write changes nothing and
// returns [ragctx.ErrPrecondition]. It is checked within the write, so of several writers with the
// same condition one succeeds. The zero value always holds.
type Condition struct {
	// Revisions, unless nil, must contain the current revision. Any requires an existing item, None
	// a missing one.
	Revisions []string
	Any, None bool
}

// IsZero reports whether the condition always holds.
func (c Condition) IsZero() bool { return c.Revisions == nil && !c.Any && !c.None }

// CheckMissing returns the error of the condition for an id without an item, or nil.
func (c Condition) CheckMissing(noun, id string) error {
	if c.Revisions == nil && !c.Any {
		return nil
	}
	return fmt.Errorf("%s %q: %w: it does not exist; leave the condition out to store it", noun, ragctx.Clip(id), ragctx.ErrPrecondition)
}

// Check returns the error of the condition for the current version, or nil.
func (c Condition) Check(noun, id string, version int, recorded time.Time) error {
	switch {
	case c.None:
		return fmt.Errorf("%s %q: %w: it exists already; read it and send its tag", noun, ragctx.Clip(id), ragctx.ErrPrecondition)
	case c.Revisions != nil && !slices.Contains(c.Revisions, Revision(version, recorded)):
		return fmt.Errorf("%s %q: %w: it has changed since; read it again and decide with the new version", noun, ragctx.Clip(id),
			ragctx.ErrPrecondition)
	}
	return nil
}
