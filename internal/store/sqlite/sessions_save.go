package sqlite

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
func (s *Sessions) prepare(ctx context.Context, a session.Archive) (preparedSession, error) {
	size, err := a.CheckSize()
	if err != nil {
		return preparedSession{}, err
	}
	rows, err := encodeMessages(a.Entries, a.Labels)
	return preparedSession{archive: a, request: session.RequestIDOf(ctx), rows: rows, size: size, updated: s.opts.Now()}, err
}

// insert writes a session, unless the same request has already created it. Any other existing
// session is an error.
func (n preparedSession) insert(ctx context.Context, tx *sql.Tx, ns int64, k session.Key) (session.Version, error) {
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
func createdBy(ctx context.Context, tx *sql.Tx, ns int64, k session.Key, request string) (at session.Version, err error) {
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

// If a session changes during the preparation of a write, the preparation is repeated, up to
// attempts in all, and then done in the writer. That delays all writes, so it is limited to
// sessions of this many messages and bytes, some milliseconds.
const (
	attempts         = 3
	maxInWriter      = 1000
	maxBytesInWriter = 1 << 20
)

var errChanged = errors.New("the session was changed concurrently")

// Save implements [session.Storage]. Stored messages that cannot be decoded stay: the caller has
// not seen them. A large session that others change repeatedly during the save is an
// [ragctx.ErrConflict].
func (s *Sessions) Save(ctx context.Context, k session.Key, messages session.Store) (session.Result, error) {
	return s.save(ctx, k, wantedVersion{when: session.ConditionOf(ctx)}, messages)
}

// Replace implements [session.Storage].
func (s *Sessions) Replace(ctx context.Context, k session.Key, at session.Version, messages session.Store) (session.Result, error) {
	return s.save(ctx, k, wantedVersion{&at, session.ConditionOf(ctx)}, messages)
}

// wantedVersion is the required state of a session for a save: a version, unless nil, and a
// condition.
type wantedVersion struct {
	at   *session.Version
	when session.Condition
}

// save saves a session that is in the wanted state.
func (s *Sessions) save(ctx context.Context, k session.Key, wanted wantedVersion, messages session.Store) (session.Result, error) {
	return s.opts.RunSave(k, func(started time.Time) (after session.Archive, added int, err error) {
		ns, err := s.store.sessionNamespace(ctx, k, wanted.at == nil && wanted.when.IsZero())
		if err != nil {
			return after, 0, err
		}
		for try := 1; ; try++ {
			plan, err := s.planInSnapshot(ctx, ns, k, wanted, messages, started)
			if err == nil {
				err = s.store.writeSession(ctx, high, ns, func(ctx context.Context, tx *sql.Tx) (at session.Version, err error) {
					if try > attempts {
						if plan, err = s.plan(ctx, tx, ns, k, wanted, messages, started); err != nil {
							return at, err
						}
					}
					return plan.execute(ctx, tx, ns, k)
				})
			}
			switch {
			case !errors.Is(err, errChanged):
				return plan.archive, plan.added, failedIf("save session", err)
			case try >= attempts && !plan.small():
				return plan.archive, 0, k.ChangedError()
			}
		}
	})
}

// preparedSave is a prepared save.
type preparedSave struct {
	preparedSession

	added int
	// id and version identify the existing session; 0 is a new one.
	id, version int64
	before      session.Size // of the existing session
	from        int64        // first message that differs; it and the later ones are rewritten
}

// small reports whether the save may be prepared in the writer.
func (p preparedSave) small() bool {
	return max(p.size.Messages, p.before.Messages) <= maxInWriter && max(p.size.Bytes, p.before.Bytes) <= maxBytesInWriter
}

// planInSnapshot prepares a save in a snapshot.
func (s *Sessions) planInSnapshot(
	ctx context.Context, ns int64, k session.Key, wanted wantedVersion, messages session.Store, started time.Time,
) (plan preparedSave, err error) {
	err = s.store.view(ctx, func(tx *sql.Tx) error {
		plan, err = s.plan(ctx, tx, ns, k, wanted, messages, started)
		return err
	})
	return plan, err
}

// plan prepares a save. Unchanged messages at the beginning are not rewritten.
func (s *Sessions) plan(
	ctx context.Context, tx *sql.Tx, ns int64, k session.Key, wanted wantedVersion, messages session.Store, started time.Time,
) (p preparedSave, err error) {
	before := session.Archive{CreatedAt: started}
	var stored []messageRow
	c, err := findSessionIf(ctx, tx, ns, k, wanted.when)
	switch {
	case err == nil && wanted.at != nil && *wanted.at != c.currentVersion():
		return p, k.ChangedError()
	case err == nil:
		p.id, p.version, p.before = c.id, c.version, c.size
		if before, err = c.metadata(ctx); err == nil {
			stored, err = c.rows(ctx, sessionMessages, c.id)
		}
	case errors.Is(err, ragctx.ErrNotFound) && wanted.at == nil:
		err = nil
	}
	if err != nil {
		return p, err
	}
	for _, r := range stored {
		before.Entries = append(before.Entries, r.withoutBody(len(before.Compactions) > 0))
	}
	after, added, err := before.Replaced(ctx, messages, s.opts)
	if err != nil {
		return p, err
	}
	one, err := s.prepare(ctx, after)
	if err != nil {
		return p, err
	}
	p.preparedSession, p.added = one, added
	p.dropUnchanged(stored, before.Leaf)
	return p, nil
}

// dropUnchanged drops unchanged messages from the write and keeps stored ones that cannot be decoded.
func (p *preparedSave) dropUnchanged(stored []messageRow, leaf string) {
	same := 0
	for same < len(stored) && same < len(p.rows) && stored[same].equals(p.rows[same]) {
		same++
	}
	if same < len(stored) {
		p.from = stored[same].seq
	}
	taken := make(map[string]bool, len(p.rows))
	for _, r := range p.rows {
		taken[r.id] = true
	}
	p.rows = p.rows[same:]
	for _, r := range stored[same:] {
		if _, err := r.entry(); err == nil || taken[r.id] {
			continue
		}
		p.rows = append(p.rows, newMessage{r.id, r.parent, r.section, "", r.data})
		p.size.Messages++
		p.size.Bytes += int64(len(r.data))
		if r.id == leaf {
			p.archive.Leaf = leaf
		}
	}
}

// execute writes a prepared save, unless the session has changed since. It returns the new
// version.
func (p preparedSave) execute(ctx context.Context, tx *sql.Tx, ns int64, k session.Key) (at session.Version, err error) {
	c, err := findSession(ctx, tx, ns, k)
	switch {
	case errors.Is(err, ragctx.ErrNotFound) && p.id == 0:
		return p.insert(ctx, tx, ns, k)
	case errors.Is(err, ragctx.ErrNotFound):
		return at, errChanged
	case err != nil:
		return at, err
	case c.id != p.id || c.version != p.version:
		return at, errChanged
	}
	if p.from > 0 {
		if _, err := tx.ExecContext(ctx, `DELETE FROM session_messages WHERE session = ? AND seq >= ?`, c.id, p.from); err != nil {
			return at, err
		}
	}
	for _, q := range []string{`DELETE FROM session_sections WHERE session = ?`, `DELETE FROM session_compactions WHERE session = ?`} {
		if _, err := tx.ExecContext(ctx, q, c.id); err != nil {
			return at, err
		}
	}
	parameters, err := parametersText(p.archive.Parameters)
	if err != nil {
		return at, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE sessions SET parameters = ? WHERE id = ?`, parameters, c.id); err != nil {
		return at, err
	}
	if err := c.fill(ctx, p.archive, p.rows); err != nil {
		return at, err
	}
	c.leaf, c.size = p.archive.Leaf, p.size
	return c.currentVersion().Next(), c.update(ctx, p.updated)
}

// Fork implements [session.Storage]. The fork records its origin: erasing the origin also erases
// the fork.
func (s *Sessions) Fork(ctx context.Context, k session.Key, id, to string) error {
	target := session.Key{Namespace: k.Namespace, User: k.User, ID: to}
	if err := target.Validate(); err != nil {
		return err
	}
	ns, err := s.store.sessionNamespace(ctx, k, false)
	if err != nil {
		return failedIf("fork session", err)
	}
	when := session.ConditionOf(ctx)
	for try := 1; ; try++ {
		fork, err := s.prepareFork(ctx, ns, k, target, id)
		if err == nil {
			err = s.store.writeSession(ctx, high, ns, func(ctx context.Context, tx *sql.Tx) (session.Version, error) {
				c, err := findSessionIf(ctx, tx, ns, k, when)
				if err == nil && (c.id != fork.id || c.version != fork.version && (try <= attempts || when.Revisions != nil)) {
					err = errChanged
				}
				if err != nil {
					return session.Version{}, err
				}
				return fork.insert(ctx, tx, ns, target)
			})
		}
		if errors.Is(err, errCreated) {
			return nil
		}
		if !errors.Is(err, errChanged) {
			return failedIf("fork session", err)
		}
	}
}

// errCreated means that an earlier attempt has created the fork.
var errCreated = errors.New("already created")

// prepareFork prepares a fork of a session in one snapshot, or returns errCreated.
func (s *Sessions) prepareFork(ctx context.Context, ns int64, k, target session.Key, id string) (out preparedSave, err error) {
	when, request := session.ConditionOf(ctx), session.RequestIDOf(ctx)
	err = s.store.view(ctx, func(tx *sql.Tx) error {
		made, there := createdBy(ctx, tx, ns, target, request)
		if there == nil {
			made.Report(ctx)
			return errCreated
		}
		c, err := findSessionIf(ctx, tx, ns, k, when)
		if err != nil {
			return err
		}
		if !errors.Is(there, ragctx.ErrNotFound) {
			return there
		}
		a, err := c.metadata(ctx)
		if err != nil {
			return err
		}
		if a.Entries, err = c.path(ctx, id); err != nil {
			return err
		}
		a.Leaf = ""
		if n := len(a.Entries); n > 0 {
			a.Leaf = a.Entries[n-1].Message.ID
		}
		if a, err = a.Fork(ctx, ""); err != nil {
			return err
		}
		a.CreatedAt = s.opts.Now().UTC()
		out.preparedSession, err = s.prepare(ctx, a)
		out.id, out.version, out.origin = c.id, c.version, sql.NullInt64{Int64: c.id, Valid: true}
		return err
	})
	return out, err
}
