package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// newSession is a session that is to be written: what takes time is done before the writer
// has it.
type newSession struct {
	archive session.Archive
	request string // that makes it
	rows    []newMessage
	size    session.Size
	updated time.Time
	origin  sql.NullInt64
}

// prepared returns an archive as it is written.
func (s *Sessions) prepared(ctx context.Context, a session.Archive) (newSession, error) {
	size, err := a.CheckSize()
	if err != nil {
		return newSession{}, err
	}
	rows, err := encoded(a.Entries, a.Labels)
	return newSession{archive: a, request: session.RequestIDOf(ctx), rows: rows, size: size, updated: s.opts.Now()}, err
}

// insert writes a session, unless the request that it is of has made it before. That another
// one is there is an error.
func (n newSession) insert(ctx context.Context, tx *sql.Tx, ns int64, k session.Key) (session.Version, error) {
	parameters, err := parametersText(n.archive.Parameters)
	if err != nil {
		return session.Version{}, err
	}
	c := &conversation{tx: tx, version: 1, salt: rand.Text()}
	err = tx.QueryRowContext(ctx, `INSERT INTO sessions (namespace, user, name, request, salt, created, leaf, parameters, updated, messages, bytes, origin)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`, ns, k.User, k.ID, n.request, c.salt, stamp(n.archive.CreatedAt), n.archive.Leaf, parameters,
		n.updated.UnixNano(), n.size.Messages, n.size.Bytes, n.origin).Scan(&c.id)
	if errors.Is(err, sql.ErrNoRows) {
		return madeBy(ctx, tx, ns, k, n.request)
	}
	if err != nil {
		return session.Version{}, err
	}
	return c.at(), c.fill(ctx, n.archive, n.rows)
}

// madeBy returns the version of a session that a request has made; that there is another one
// or none is an error.
func madeBy(ctx context.Context, tx *sql.Tx, ns int64, k session.Key, request string) (at session.Version, err error) {
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
	return c.at(), nil
}

// What is prepared for a session that is changed meanwhile is made again, up to attempts in
// all, and then in the writer. That everyone waits for, so only small sessions are: of at most
// these messages and bytes, some milliseconds.
const (
	attempts          = 3
	mostInWriter      = 1000
	mostBytesInWriter = 1 << 20
)

var errMoved = errors.New("the session was changed meanwhile")

// Save implements [session.Storage]. What is stored and cannot be read stays: who saves
// has not seen it. A large session that others have changed before it was written, several
// times, is an [ragctx.ErrConflict].
func (s *Sessions) Save(ctx context.Context, k session.Key, messages session.Store) (session.Result, error) {
	return s.save(ctx, k, wantedVersion{when: session.ConditionOf(ctx)}, messages)
}

// Replace implements [session.Storage].
func (s *Sessions) Replace(ctx context.Context, k session.Key, at session.Version, messages session.Store) (session.Result, error) {
	return s.save(ctx, k, wantedVersion{&at, session.ConditionOf(ctx)}, messages)
}

// wantedVersion is the state in which a session has to be to be saved: the version, unless it
// is nil, and what the condition says.
type wantedVersion struct {
	at   *session.Version
	when session.Condition
}

// save saves a session, if it is as it is wanted.
func (s *Sessions) save(ctx context.Context, k session.Key, wanted wantedVersion, messages session.Store) (session.Result, error) {
	return s.opts.RunSave(k, func(started time.Time) (after session.Archive, added int, err error) {
		ns, err := s.store.sessionSpace(ctx, k, wanted.at == nil && wanted.when.IsZero())
		if err != nil {
			return after, 0, err
		}
		for try := 1; ; try++ {
			plan, err := s.planned(ctx, ns, k, wanted, messages, started)
			if err == nil {
				err = s.store.writeSession(ctx, High, ns, func(ctx context.Context, tx *sql.Tx) (at session.Version, err error) {
					if try > attempts {
						if plan, err = s.plan(ctx, tx, ns, k, wanted, messages, started); err != nil {
							return at, err
						}
					}
					return plan.carryOut(ctx, tx, ns, k)
				})
			}
			switch {
			case !errors.Is(err, errMoved):
				return plan.archive, plan.added, failedIf("save session", err)
			case try >= attempts && !plan.small():
				return plan.archive, 0, k.ChangedError()
			}
		}
	})
}

// saving is what is to be written of a session that is saved.
type saving struct {
	newSession

	added int
	// id and version are those of the session that is there; 0 is none.
	id, version int64
	before      session.Size // that it has
	from        int64        // the first message that differs; those from it on are written again
}

// small reports whether it may be planned in the writer.
func (p saving) small() bool {
	return max(p.size.Messages, p.before.Messages) <= mostInWriter && max(p.size.Bytes, p.before.Bytes) <= mostBytesInWriter
}

// planned plans in a snapshot.
func (s *Sessions) planned(ctx context.Context, ns int64, k session.Key, wanted wantedVersion, messages session.Store, started time.Time) (plan saving, err error) {
	err = s.store.view(ctx, func(tx *sql.Tx) error {
		plan, err = s.plan(ctx, tx, ns, k, wanted, messages, started)
		return err
	})
	return plan, err
}

// plan returns what there is to do. Messages at the beginning that stay as they are are
// not written again.
func (s *Sessions) plan(
	ctx context.Context, tx *sql.Tx, ns int64, k session.Key, wanted wantedVersion, messages session.Store, started time.Time,
) (p saving, err error) {
	before := session.Archive{CreatedAt: started}
	var stored []messageRow
	c, err := findSessionIf(ctx, tx, ns, k, wanted.when)
	switch {
	case err == nil && wanted.at != nil && *wanted.at != c.at():
		return p, k.ChangedError()
	case err == nil:
		p.id, p.version, p.before = c.id, c.version, c.size
		if before, err = c.describe(ctx); err == nil {
			stored, err = c.rows(ctx, sessionMessages, c.id)
		}
	case errors.Is(err, ragctx.ErrNotFound) && wanted.at == nil:
		err = nil
	}
	if err != nil {
		return p, err
	}
	for _, r := range stored {
		before.Entries = append(before.Entries, r.known(len(before.Compactions) > 0))
	}
	after, added, err := before.Replaced(ctx, messages, s.opts)
	if err != nil {
		return p, err
	}
	one, err := s.prepared(ctx, after)
	if err != nil {
		return p, err
	}
	p.newSession, p.added = one, added
	p.differ(stored, before.Leaf)
	return p, nil
}

// differ leaves out what is stored as it is to be, and keeps what is stored and cannot be
// read.
func (p *saving) differ(stored []messageRow, leaf string) {
	same := 0
	for same < len(stored) && same < len(p.rows) && stored[same].is(p.rows[same]) {
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

// carryOut writes what was planned, unless the session was changed since. It returns the
// version that the session has then.
func (p saving) carryOut(ctx context.Context, tx *sql.Tx, ns int64, k session.Key) (at session.Version, err error) {
	c, err := findSession(ctx, tx, ns, k)
	switch {
	case errors.Is(err, ragctx.ErrNotFound) && p.id == 0:
		return p.insert(ctx, tx, ns, k)
	case errors.Is(err, ragctx.ErrNotFound):
		return at, errMoved
	case err != nil:
		return at, err
	case c.id != p.id || c.version != p.version:
		return at, errMoved
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
	return c.at().Next(), c.changed(ctx, p.updated)
}

// Fork implements [session.Storage]. The fork remembers what it is of, so that it goes when
// that is erased for good.
func (s *Sessions) Fork(ctx context.Context, k session.Key, id, to string) error {
	target := session.Key{Namespace: k.Namespace, User: k.User, ID: to}
	if err := target.Validate(); err != nil {
		return err
	}
	ns, err := s.store.sessionSpace(ctx, k, false)
	if err != nil {
		return failedIf("fork session", err)
	}
	when := session.ConditionOf(ctx)
	for try := 1; ; try++ {
		fork, err := s.forked(ctx, ns, k, target, id)
		if err == nil {
			err = s.store.writeSession(ctx, High, ns, func(ctx context.Context, tx *sql.Tx) (session.Version, error) {
				c, err := findSessionIf(ctx, tx, ns, k, when)
				if err == nil && (c.id != fork.id || c.version != fork.version && (try <= attempts || when.Revisions != nil)) {
					err = errMoved
				}
				if err != nil {
					return session.Version{}, err
				}
				return fork.insert(ctx, tx, ns, target)
			})
		}
		if errors.Is(err, errMade) {
			return nil
		}
		if !errors.Is(err, errMoved) {
			return failedIf("fork session", err)
		}
	}
}

// errMade ends what was done by an earlier attempt.
var errMade = errors.New("it is made already")

// forked returns a fork of a session as it is in one snapshot, or errMade.
func (s *Sessions) forked(ctx context.Context, ns int64, k, target session.Key, id string) (out saving, err error) {
	when, request := session.ConditionOf(ctx), session.RequestIDOf(ctx)
	err = s.store.view(ctx, func(tx *sql.Tx) error {
		made, there := madeBy(ctx, tx, ns, target, request)
		if there == nil {
			made.Report(ctx)
			return errMade
		}
		c, err := findSessionIf(ctx, tx, ns, k, when)
		if err != nil {
			return err
		}
		if !errors.Is(there, ragctx.ErrNotFound) {
			return there
		}
		a, err := c.describe(ctx)
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
		out.newSession, err = s.prepared(ctx, a)
		out.id, out.version, out.origin = c.id, c.version, sql.NullInt64{Int64: c.id, Valid: true}
		return err
	})
	return out, err
}
