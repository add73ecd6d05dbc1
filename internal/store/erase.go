package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Erased counts what an erasure took away.
type Erased struct {
	Documents int `json:"documents" doc:"that had at least one version"`
	Memories  int `json:"memories" doc:"that had at least one version"`
	Versions  int `json:"versions" doc:"of documents and memories, also ended ones"`
	Turns     int `json:"turns"`
	// Procedures counts versions and drafts.
	Procedures int `json:"procedures" doc:"versions and drafts of procedures"`
	Messages   int `json:"messages" doc:"of ledgers"`
	Sessions   int `json:"sessions" doc:"stored conversations, with the forks of them"`
	// bereft are memories whose place something took that is erased.
	bereft *[]string
	// gone are ids of what is erased.
	gone  *[]named
	again bool // it goes on with what another attempt began
	// Pending is the erasure that [Store.Scrub] completes; 0 if there was nothing.
	Pending int64 `json:"-"`
}

// Pending is an erasure that is not complete: nobody finds what was erased, but
// its bytes may still be in files.
type Pending struct {
	ID int64
	// Followed says which indexes held something, and up to which change each
	// must have followed to hold it no more.
	Followed map[Collection]uint64
	// Gone are those of erased namespaces, whose files are to be removed instead.
	Gone []Collection
}

// scope says what an erasure is about: items and turns that have all of what is
// set. It is stored until they are hidden.
type scope struct {
	Namespace int64   `json:"namespace"`
	Kind      Kind    `json:"kind,omitempty"`
	Key       *string `json:"key,omitempty"`
	User      *string `json:"user,omitempty"`
	Session   *string `json:"session,omitempty"`
	// Turns says that turns are meant as well.
	Turns bool `json:"turns,omitempty"`
	// Change and Turn are the newest when the erasure began: what was written later
	// stays, also where a crash held the erasure up.
	Change uint64 `json:"change"`
	Turn   int64  `json:"turn"`
	Body   int64  `json:"body"` // of a procedure
	// Procedure is the row of the only thing that is meant.
	Procedure int64 `json:"procedure,omitempty"`
	// Ledger is the row of the only thing that is meant, which nobody sees any more.
	Ledger int64 `json:"ledger,omitempty"`
	// Whole is the name that the namespace had, if all of it is meant.
	Whole string `json:"whole,omitempty"`
}

// where returns the conditions on a row i of items or turns.
func (sc scope) where(items bool) (string, []any) {
	c := conditions{sql: `i.namespace = ?`, args: []any{sc.Namespace}}
	if items {
		c.and(`i.seq BETWEEN 1 AND ?`, int64(sc.Change)) //nolint:gosec // row ids fit
		if sc.Kind != 0 {
			c.and(`i.kind = ?`, sc.Kind)
		} else {
			c.and(`i.kind IN (?, ?)`, Documents, Memories) // leads to the indexes on items
		}
	}
	if !items {
		c.and(`i.id <= ?`, sc.Turn)
	}
	for _, f := range []struct {
		column string
		value  *string
	}{{"key", sc.Key}, {"user", sc.User}, {"session", sc.Session}} {
		if f.value != nil {
			c.and(`i.`+f.column+` = ?`, *f.value)
		}
	}
	return c.sql, c.args
}

// EraseDocument removes every version of a document, now and for all earlier
// times. What never was is erased already: that is no error.
func (s *Store) EraseDocument(ctx context.Context, ns int64, id string, when ...Condition) (Erased, error) {
	return s.erase(ctx, scope{Namespace: ns, Kind: Documents, Key: &id}, func(ctx context.Context, tx *sql.Tx) error {
		return checkCurrent(ctx, tx, ns, Documents, id, when)
	})
}

// EraseMemory removes every version of a memory, and the turn that it was made
// of. Without anyUser it must be the user's or nobody's, as in [Store.DeleteMemory].
func (s *Store) EraseMemory(ctx context.Context, ns int64, id, user string, anyUser bool, when ...Condition) (Erased, error) {
	return s.erase(ctx, scope{Namespace: ns, Kind: Memories, Key: &id, Turns: true}, func(ctx context.Context, tx *sql.Tx) error {
		if !anyUser {
			if err := mayErase(ctx, tx, ns, id, user); err != nil {
				return err
			}
		}
		err := checkCurrent(ctx, tx, ns, Memories, id, when)
		if errors.Is(err, ragctx.ErrPrecondition) && isAside(ctx, tx, ns, id, "", true, when) {
			return nil
		}
		return err
	})
}

// anyone may erase what is asked for.
func anyone(context.Context, *sql.Tx) error { return nil }

// EraseSession removes the turns and memories of a session, and its messages if it is
// stored: of one user ("" is those of nobody), or with anyUser all of them. A condition of
// ctx ([session.WithCondition]) is about the stored session of that user. Of a memory that was written in
// several sessions, only the versions of this one go; one whose current version
// goes is not there any more, though questions about earlier times find what
// other sessions said of it.
func (s *Store) EraseSession(ctx context.Context, ns int64, id, user string, anyUser bool) (Erased, error) {
	if id == "" {
		return Erased{}, ragctx.Invalid("session", "is empty; name the session to erase")
	}
	sc := scope{Namespace: ns, Session: &id, Turns: true}
	if !anyUser {
		sc.User = &user
	}
	when := session.ConditionOf(ctx)
	return s.erase(ctx, sc, func(ctx context.Context, tx *sql.Tx) error {
		if when.IsZero() {
			return nil
		}
		_, err := findSessionIf(ctx, tx, ns, session.Key{User: user, ID: id}, when)
		return err
	})
}

// EraseUser removes everything that belongs to a user in a namespace. Of an id
// that several users had one after the other, only the user's versions go.
func (s *Store) EraseUser(ctx context.Context, ns int64, user string) (Erased, error) {
	if user == "" {
		return Erased{}, ragctx.Invalid("user", "is empty; name the user to erase")
	}
	return s.erase(ctx, scope{Namespace: ns, User: &user, Turns: true}, anyone)
}

// erase hides what is in a scope, in slices, and leaves the rest to the sweeper
// and [Store.Scrub]. From when it is noted it goes on whatever happens: a caller
// that goes away does not end it, what fails is tried again by the sweeper, and
// one that a crash interrupts goes on with the next opening. may checks whether it
// is allowed, together with the note.
func (s *Store) erase(ctx context.Context, sc scope, may func(context.Context, *sql.Tx) error) (Erased, error) {
	sc, e, err := s.intend(ctx, sc, may)
	if err != nil {
		return Erased{}, err
	}
	return s.carryOut(ctx, sc, e)
}

// intend notes an erasure.
func (s *Store) intend(ctx context.Context, sc scope, may func(context.Context, *sql.Tx) error) (scope, Erased, error) {
	var e Erased
	err := s.freeing(ctx, everywhere, Low, func(ctx context.Context, tx *sql.Tx) error {
		if err := may(ctx, tx); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, `SELECT (SELECT coalesce(max(seq), 0) FROM changes), (SELECT coalesce(max(id), 0) FROM turns),
				(SELECT coalesce(max(id), 0) FROM procedure_bodies)`).Scan(&sc.Change, &sc.Turn, &sc.Body)
		if err != nil {
			return err
		}
		if err := forgetSessionProviders(ctx, tx, sc); err != nil {
			return err
		}
		if e.Sessions, err = hideSessions(ctx, tx, sc); err != nil {
			return err
		}
		text, err := json.Marshal(sc)
		if err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `INSERT INTO erasures (scope) VALUES (?) RETURNING id`, string(text)).Scan(&e.Pending); err != nil {
			return err
		}
		if sc.Whole == "" {
			return nil
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO erased_from (erasure, namespace, kind, seq) VALUES (?1, ?2, ?3, 0), (?1, ?2, ?4, 0)`,
			e.Pending, sc.Namespace, Documents, Memories) // its indexes go, also if they are empty
		return err
	})
	return sc, e, failedIf("erase", err)
}

// carryOut hides what an erasure that is noted is about.
func (s *Store) carryOut(ctx context.Context, sc scope, e Erased) (Erased, error) {
	err := s.withReserve(func() error {
		err := s.hide(context.WithoutCancel(ctx), sc, &e)
		e.again = err != nil // the next one goes on where it was
		return err
	})
	if err != nil {
		s.sweeper.resume(e.Pending, sc)
		return Erased{}, fmt.Errorf("erase: it is noted, and tried again until it is done: %w", err)
	}
	return e, nil
}

// hide takes everything of a scope out of everyone's sight. What was written into
// the scope after the erasure began stays.
func (s *Store) hide(ctx context.Context, sc scope, e *Erased) error {
	for sc.Procedure == 0 && sc.Ledger == 0 {
		found, err := s.inScope(ctx, sc)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
		for len(found) > 0 {
			err := s.slice(ctx, frees, everywhere, func(ctx context.Context, tx *sql.Tx, enough func(int) bool) error {
				for n := sliceUnits; len(found) > 0; n += sliceUnits {
					if err := s.hideItem(ctx, tx, sc, found[0], e); err != nil {
						return err
					}
					if found = found[1:]; enough(n) {
						break
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if err := s.hideDerived(ctx, sc, e); err != nil {
		return err
	}
	if err := s.eraseProcedures(ctx, sc, e); err != nil {
		return err
	}
	if err := s.eraseTurns(ctx, sc, e); err != nil {
		return err
	}
	if err := s.eraseMessages(ctx, sc, e); err != nil {
		return err
	}
	if err := s.eraseRests(ctx, sc, e); err != nil {
		return err
	}
	if e.bereft != nil {
		if err := s.reinstate(ctx, sc, *e.bereft); err != nil {
			return err
		}
		e.bereft = nil
	}
	err := s.write.do(ctx, Low|frees, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.forget(ctx, tx, sc, e); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE erasures SET scope = '' WHERE id = ?`, e.Pending)
		return err
	})
	e.gone = nil
	if err == nil {
		s.sweeper.wake()
	}
	return err
}

// named is an item.
type named struct {
	kind Kind
	key  string
}

// inScope returns items that have versions in a scope; none if all of them are
// hidden. It looks for them outside of the writer, since there may be no index for
// it.
func (s *Store) inScope(ctx context.Context, sc scope) (found []named, err error) {
	where, args := sc.where(true)
	err = s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT DISTINCT i.kind, i.key FROM items i WHERE `+where+` LIMIT 10000`, args...) //nolint:gosec // of constants
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var n named
			err := rows.Scan(&n.kind, &n.key)
			found = append(found, n)
			return err
		})
	})
	return found, err
}

// hideItem hides the versions of an item that are in a scope: an id may have been
// another user's before, or said in another session.
func (s *Store) hideItem(ctx context.Context, tx *sql.Tx, sc scope, n named, e *Erased) error {
	one := sc
	one.Kind, one.Key = n.kind, &n.key
	where, args := one.where(true)
	ids, err := column[int64](ctx, tx, `SELECT i.id FROM items i WHERE `+where, args...)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.hideVersions(ctx, tx, sc, n, ids, e)
}

// hideVersions hides versions of an item.
func (s *Store) hideVersions(ctx context.Context, tx *sql.Tx, sc scope, n named, ids []int64, e *Erased) error {
	for _, id := range ids {
		in := Collection{sc.Namespace, n.kind}
		if n.kind == Memories && sc.Whole == "" && (sc.Key == nil || *sc.Key != n.key) {
			if err := relearn(ctx, tx, sc.Namespace, id); err != nil {
				return err
			}
		}
		seq, err := s.hideVersion(ctx, tx, in, n.key, id)
		if err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `INSERT INTO erased_from (erasure, namespace, kind, seq) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET seq = excluded.seq`, e.Pending, in.Namespace, in.Kind, seq); err != nil {
			return err
		}
	}
	e.Versions += len(ids)
	if sc.Whole == "" {
		e.note(n.kind, n.key)
	}
	if n.kind == Documents {
		e.Documents++
		return nil
	}
	e.Memories++
	if sc.Whole == "" && (sc.User == nil || sc.Session != nil) { // of a user, all goes
		bereft, err := column[string](ctx, tx, supersededBy, sc.Namespace, n.key, 0)
		if err != nil {
			return err
		}
		if e.bereft == nil {
			e.bereft = new([]string)
		}
		*e.bereft = append(*e.bereft, bereft...)
	}
	return forgetHistory(ctx, tx, sc.Namespace, n.key)
}

// note remembers what is erased, whose ids go from elsewhere at the end.
func (e *Erased) note(kind Kind, keys ...string) {
	if e.gone == nil {
		e.gone = new([]named)
	}
	for _, key := range keys {
		*e.gone = append(*e.gone, named{kind, key})
	}
}

// eraseTurns deletes the turns of a scope.
func (s *Store) eraseTurns(ctx context.Context, sc scope, e *Erased) error {
	if !sc.Turns {
		return nil
	}
	where, args := sc.where(false)
	var ids []uint64
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		ids, err = column[uint64](ctx, tx, `SELECT i.id FROM turns i WHERE `+where, args...)
		return err
	})
	for some := range slices.Chunk(ids, 8*sliceUnits) {
		if err != nil {
			break
		}
		err = s.write.do(ctx, Low|frees, func(ctx context.Context, tx *sql.Tx) error {
			return s.forgetTurns(ctx, tx, sc, some, e)
		})
		e.Turns += len(some)
	}
	return err
}

// forget removes copies of what a scope names from elsewhere in the database:
// what jobs are still to write, ids in the audit log, and stored answers that may repeat it.
func (s *Store) forget(ctx context.Context, tx *sql.Tx, sc scope, e *Erased) error {
	namespace := sc.Whole
	if namespace == "" {
		name, err := namespaceName(ctx, tx, sc.Namespace)
		if err != nil {
			return err
		}
		namespace = name
	}
	before, err := rowsChanged(ctx, tx)
	if err != nil {
		return err
	}
	if sc.Kind == Documents && sc.Key != nil {
		if err := forgetSpooled(ctx, tx, namespace, *sc.Key); err != nil {
			return err
		}
	}
	if err := forgetAside(ctx, tx, sc, e); err != nil {
		return err
	}
	if err := forgetNoted(ctx, tx, namespace, sc, e); err != nil {
		return err
	}
	after, err := rowsChanged(ctx, tx)
	if err != nil || !e.again && sc.Whole == "" && sc.Procedure == 0 && sc.Ledger == 0 && before == after && e.Versions+e.Turns+e.Sessions == 0 {
		return err // there was nothing, so no answer tells of it
	}
	return forgetAnswers(ctx, tx, namespace, sc)
}

func namespaceName(ctx context.Context, tx *sql.Tx, id int64) (name string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT name FROM namespaces WHERE id = ?`, id).Scan(&name)
	return name, err
}

// rowsChanged counts what was written by the connection of a transaction.
func rowsChanged(ctx context.Context, tx *sql.Tx) (n int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT total_changes()`).Scan(&n)
	return n, err
}

// forgetNoted takes the ids of what was erased out of the audit log; of a namespace that
// is erased, all that are in it.
func forgetNoted(ctx context.Context, tx *sql.Tx, namespace string, sc scope, e *Erased) error {
	if sc.Whole != "" {
		_, err := tx.ExecContext(ctx, `UPDATE audit SET target = '' WHERE namespace = ?1 AND target != ?1`, sc.Whole)
		return err
	}
	if e.gone == nil {
		return nil
	}
	ids := make(map[Kind][]string)
	for _, n := range *e.gone {
		ids[n.kind] = append(ids[n.kind], n.key)
	}
	for kind, subject := range map[Kind]string{Documents: aboutDocument, Memories: aboutMemory} {
		if len(ids[kind]) == 0 {
			continue
		}
		if err := forgetTargets(ctx, tx, namespace, subject, ids[kind]); err != nil {
			return err
		}
	}
	return nil
}
