package store

import (
	"context"
	"database/sql"
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

// Revision returns the revision of this version; see [Revision].
func (d Document) Revision() string { return Revision(d.Version, d.Recorded) }

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

// needsVersion reports whether the condition requires more than existence.
func needsVersion(c Condition) bool { return c.Revisions != nil || c.None }

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

// checkAll checks conditions against the current version of an item, nil for a missing item.
func checkAll(all []Condition, noun, id string, is *current) error {
	for _, c := range all {
		err := c.CheckMissing(noun, id)
		if is != nil {
			err = c.Check(noun, id, is.version, is.recorded)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkCurrent checks conditions against the current version of an item.
func checkCurrent(ctx context.Context, tx *sql.Tx, ns int64, k Kind, id string, all []Condition) error {
	if len(all) == 0 {
		return nil
	}
	is, err := findCurrent(ctx, tx, ns, k, id)
	if err != nil {
		return err
	}
	noun := map[Kind]string{Documents: "document", Memories: "memory"}[k]
	return checkAll(all, noun, id, is)
}
