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

// Revision names a version of a document or a memory: another one also where an id was
// erased and begins anew.
func Revision(version int, recorded time.Time) string {
	if version == 0 {
		return ""
	}
	return strconv.Itoa(version) + "." + strconv.FormatInt(recorded.UnixMicro(), 36)
}

// Revision returns the name of this version; see [Revision].
func (d Document) Revision() string { return Revision(d.Version, d.Recorded) }

// Condition says what a write has to find under its id; otherwise it changes nothing and
// is [ragctx.ErrPrecondition]. That is looked at where the write is done, so that of several
// writers with one condition one succeeds. The zero value is whatever is there.
type Condition struct {
	// Revisions are those of which one must be current, unless it is nil; Any is that there
	// must be something, None that there must be nothing.
	Revisions []string
	Any, None bool
}

// IsZero reports whether everything is as wanted.
func (c Condition) IsZero() bool { return c.Revisions == nil && !c.Any && !c.None }

// versioned reports whether the condition is about more than that there is something.
func (c Condition) versioned() bool { return c.Revisions != nil || c.None }

// Missing returns what is wrong with there being nothing under an id, or nil.
func (c Condition) Missing(noun, id string) error {
	if c.Revisions == nil && !c.Any {
		return nil
	}
	return fmt.Errorf("%s %q: %w: there is none; leave the condition out to store it", noun, ragctx.Clip(id), ragctx.ErrPrecondition)
}

// Check returns what is wrong with a version being the current one, or nil.
func (c Condition) Check(noun, id string, version int, recorded time.Time) error {
	return c.check(noun, id, &current{version: version, recorded: recorded})
}

// check returns what is wrong with the current version under an id, which is nil where
// there is none.
func (c Condition) check(noun, id string, is *current) error {
	switch {
	case is == nil:
		return c.Missing(noun, id)
	case c.None:
		return fmt.Errorf("%s %q: %w: it is there already; read it, and send the tag of what you have read", noun, ragctx.Clip(id), ragctx.ErrPrecondition)
	case c.Revisions != nil && !slices.Contains(c.Revisions, Revision(is.version, is.recorded)):
		return fmt.Errorf("%s %q: %w: somebody has changed it since; read it again, and decide anew", noun, ragctx.Clip(id), ragctx.ErrPrecondition)
	}
	return nil
}

// checkAll checks several conditions.
func checkAll(all []Condition, noun, id string, is *current) error {
	for _, c := range all {
		if err := c.check(noun, id, is); err != nil {
			return err
		}
	}
	return nil
}

// checkCurrent checks conditions against what is current under an id.
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
