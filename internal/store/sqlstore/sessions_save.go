package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// preparedSession is a session to be written, encoded before the writer runs.
type preparedSession struct {
	archive session.Archive
	request string // the request that creates it
	rows    []newMessage
	size    session.Size
	updated time.Time
	origin  sql.NullInt64
}

// prepare encodes an archive.
func (s *Sessions) prepare(a session.Archive, request string) (preparedSession, error) {
	size, err := a.CheckSize()
	if err != nil {
		return preparedSession{}, err
	}
	rows, err := encodeMessages(a.Entries, a.Labels)
	return preparedSession{archive: a, request: request, rows: rows, size: size, updated: s.opts.Now()}, err
}

// insert writes a session, unless the same request has already created it. Any other existing
// session is an error.
func (n preparedSession) insert(ctx context.Context, tx *Tx, ns int64, k session.Key) (session.Version, error) {
	parameters, err := parametersText(n.archive.Parameters)
	if err != nil {
		return session.Version{}, err
	}
	c := &conversation{tx: tx, version: 1, salt: rand.Text()}
	err = tx.QueryRowContext(ctx,
		`INSERT INTO sessions (namespace, user, name, request, salt, created, leaf, parameters, updated, messages, bytes, origin)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`, ns, k.User, k.ID, n.request, c.salt,
		formatTime(n.archive.CreatedAt), n.archive.Leaf, parameters,
		n.updated.UnixNano(), n.size.Messages, n.size.Bytes, n.origin).Scan(&c.id)
	if errors.Is(err, sql.ErrNoRows) {
		return createdBy(ctx, tx, ns, k, n.request)
	}
	if err != nil {
		return session.Version{}, err
	}
	return c.currentVersion(), c.fill(ctx, n.archive, n.rows)
}

// createdBy returns the version of the session created by a request. A missing session, or one created
// otherwise, is an error.
func createdBy(ctx context.Context, tx *Tx, ns int64, k session.Key, request string) (at session.Version, err error) {
	c, err := findSession(ctx, tx, ns, k)
	if err != nil {
		return at, err
	}
	var by string
	if err := tx.QueryRowContext(ctx, `SELECT request FROM sessions WHERE id = ?`, c.id).Scan(&by); err != nil {
		return at, err
	}
	if request == "" || by != request {
		return at, k.ExistsError()
	}
	return c.currentVersion(), nil
}

// Replace implements [session.Storage]. Stored messages that cannot be decoded stay: the caller has
// not seen them. Unchanged messages at the beginning are not written again.
func (s *Sessions) Replace(
	ctx context.Context, k session.Key, at session.Version, a session.Archive,
) (session.Version, error) {
	made, err := s.replace(ctx, k, at, a)
	return made, failedIf("replace session", err)
}

func (s *Sessions) replace(
	ctx context.Context, k session.Key, at session.Version, a session.Archive,
) (made session.Version, err error) {
	if err := a.Validate(); err != nil {
		return made, err
	}
	ns, err := s.store.sessionNamespace(ctx, k, session.Condition{})
	if err != nil {
		return made, err
	}
	one, err := s.prepare(a, "")
	if err != nil {
		return made, err
	}
	var from int64 // the first message that differs; it and the later ones are rewritten
	err = s.store.view(ctx, func(tx *Tx) error {
		c, err := findSessionAt(ctx, tx, ns, k, at)
		if err == nil {
			from, err = one.dropUnchanged(ctx, c)
		}
		return err
	})
	if err != nil {
		return made, err
	}
	err = s.store.writeSessions(ctx, High, ns, func(ctx context.Context, tx *Tx) error {
		c, err := findSessionAt(ctx, tx, ns, k, at)
		if err != nil {
			return err
		}
		made = at.Next()
		return one.overwrite(ctx, c, from)
	})
	return made, err
}

// findSessionAt loads a session that is still at a version.
func findSessionAt(
	ctx context.Context, tx *Tx, ns int64, k session.Key, at session.Version,
) (*conversation, error) {
	c, err := findSession(ctx, tx, ns, k)
	if err == nil && c.currentVersion() != at {
		err = k.ChangedError()
	}
	return c, err
}

// dropUnchanged drops the unchanged messages at the beginning of a stored session from the write, and
// keeps the stored ones that cannot be decoded. It returns the number of the first stored message that
// differs, or 0.
func (n *preparedSession) dropUnchanged(ctx context.Context, c *conversation) (from int64, err error) {
	stored, err := c.rows(ctx, sessionMessages, c.id)
	if err != nil {
		return 0, err
	}
	labels, err := c.labels(ctx)
	if err != nil {
		return 0, err
	}
	same := 0
	for same < min(len(stored), len(n.rows)) {
		was, now := stored[same], n.rows[same]
		if !was.equals(now) || labels[was.id] != now.label {
			break
		}
		same++
	}
	if same < len(stored) {
		from = stored[same].seq
	}
	taken := make(map[string]bool, len(n.rows))
	for _, r := range n.rows {
		taken[r.id] = true
	}
	n.rows = n.rows[same:]
	for _, r := range stored[same:] {
		if _, err := r.entry(); err == nil || taken[r.id] {
			continue
		}
		n.rows = append(n.rows, newMessage{r.id, r.parent, r.section, "", r.data})
		n.size.Messages++
		n.size.Bytes += int64(len(r.data))
	}
	return from, nil
}

// overwrite replaces the contents of a stored session; its messages from a number on.
func (n *preparedSession) overwrite(ctx context.Context, c *conversation, from int64) error {
	if from > 0 {
		const query = `DELETE FROM session_messages WHERE session = ? AND seq >= ?`
		if _, err := c.tx.ExecContext(ctx, query, c.id, from); err != nil {
			return err
		}
	}
	for _, q := range []string{`DELETE FROM session_sections WHERE session = ?`, `DELETE FROM session_compactions WHERE session = ?`} {
		if _, err := c.tx.ExecContext(ctx, q, c.id); err != nil {
			return err
		}
	}
	if err := c.setParameters(ctx, n.archive.Parameters); err != nil {
		return err
	}
	if err := c.fill(ctx, n.archive, n.rows); err != nil {
		return err
	}
	c.leaf, c.size = n.archive.Leaf, n.size
	return c.update(ctx, n.updated)
}

// attempts is the number of times that a fork is prepared anew because the original has changed.
const attempts = 3

// errChanged means that a session changed while its fork was prepared.
var errChanged = errors.New("the session was changed concurrently")

// Fork implements [session.Storage]. The fork records its origin: erasing the origin also erases
// the fork.
func (s *Sessions) Fork(
	ctx context.Context, k session.Key, f session.Fork, when session.Condition,
) (at session.Version, err error) {
	target := session.Key{Namespace: k.Namespace, User: k.User, ID: f.ID}
	if err := target.Validate(); err != nil {
		return at, err
	}
	ns, err := s.store.sessionNamespace(ctx, k, when)
	if err != nil {
		return at, failedIf("fork session", err)
	}
	for try := 1; ; try++ {
		fork, err := s.prepareFork(ctx, ns, k, f, when)
		if fork.made != nil {
			return *fork.made, nil
		}
		if err == nil {
			err = s.store.writeSessions(ctx, High, ns, func(ctx context.Context, tx *Tx) error {
				c, err := findSessionIf(ctx, tx, ns, k, when)
				exact := try <= attempts || when.Revisions != nil
				if err == nil && (c.id != fork.of.Session || exact && c.currentVersion() != fork.of) {
					err = errChanged
				}
				if err == nil {
					at, err = fork.insert(ctx, tx, ns, target)
				}
				return err
			})
		}
		if !errors.Is(err, errChanged) {
			return at, failedIf("fork session", err)
		}
	}
}

// preparedFork is a fork to be written.
type preparedFork struct {
	preparedSession

	of   session.Version  // of the original
	made *session.Version // of the fork, if an earlier attempt of the request has created it
}

// prepareFork prepares a fork of a session in one snapshot.
func (s *Sessions) prepareFork(
	ctx context.Context, ns int64, k session.Key, f session.Fork, when session.Condition,
) (out preparedFork, err error) {
	target := session.Key{Namespace: k.Namespace, User: k.User, ID: f.ID}
	err = s.store.view(ctx, func(tx *Tx) error {
		made, there := createdBy(ctx, tx, ns, target, f.Request)
		if there == nil {
			out.made = &made
			return nil
		}
		c, err := findSessionIf(ctx, tx, ns, k, when)
		if err != nil {
			return err
		}
		if !errors.Is(there, ragctx.ErrNotFound) {
			return there
		}
		a, err := c.metadata(ctx, session.Query{Labels: true, Compactions: true})
		if err != nil {
			return err
		}
		rows, err := c.branch(ctx, f.Leaf)
		if err != nil {
			return err
		}
		var lost session.Lost
		a.Entries, lost = readable(rows)
		lost.Relink(a.Entries)
		a.Leaf = ""
		if n := len(a.Entries); n > 0 {
			a.Leaf = a.Entries[n-1].Message.ID
		}
		if a, err = a.Fork(ctx, ""); err != nil {
			return err
		}
		a.CreatedAt = s.opts.Now().UTC()
		out.preparedSession, err = s.prepare(a, f.Request)
		out.of, out.origin = c.currentVersion(), sql.NullInt64{Int64: c.id, Valid: true}
		return err
	})
	return out, err
}
