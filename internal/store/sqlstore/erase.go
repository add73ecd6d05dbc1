package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/session"
)

// erasing is the state of an erasure in progress.
type erasing struct {
	store.Erased
	toRestore []string  // memories that an erased memory had superseded
	items     []itemKey // the erased items
	resumed   bool      // resumes an earlier attempt
}

// erasureScope selects what an erasure removes: the items and turns that match every set field. It is
// stored until they are hidden.
type erasureScope struct {
	Namespace int64      `json:"namespace"`
	Kind      store.Kind `json:"kind,omitempty"`
	Key       *string    `json:"key,omitempty"`
	User      *string    `json:"user,omitempty"`
	Session   *string    `json:"session,omitempty"`
	// Turns includes turns.
	Turns bool `json:"turns,omitempty"`
	// Change and Turn are the newest when the erasure began: later writes stay, even if a crash
	// delays the erasure.
	Change uint64 `json:"change"`
	Turn   int64  `json:"turn"`
	Body   int64  `json:"body"` // newest row of procedure_bodies
	// Procedure, if set, is the only row to erase.
	Procedure int64 `json:"procedure,omitempty"`
	// Ledger, if set, is the only ledger to erase; it is hidden already.
	Ledger int64 `json:"ledger,omitempty"`
	// Whole is the former name of the namespace if all of it is erased.
	Whole string `json:"whole,omitempty"`
}

// where returns the conditions on row i of items or turns.
func (sc erasureScope) where(items bool) (string, []any) {
	c := conditions{sql: `i.namespace = ?`, args: []any{sc.Namespace}}
	if items {
		c.and(`i.seq BETWEEN 1 AND ?`, int64(sc.Change)) //nolint:gosec // row ids fit
		if sc.Kind != 0 {
			c.and(`i.kind = ?`, sc.Kind)
		} else {
			c.and(`i.kind IN (?, ?)`, store.KindDocuments, store.KindMemories) // makes the indexes on items apply
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

// EraseDocument implements [store.Erasures].
func (s *Store) EraseDocument(ctx context.Context, ns int64, id string, when ...store.Condition) (store.Erased, error) {
	return s.erase(ctx, erasureScope{Namespace: ns, Kind: store.KindDocuments, Key: &id}, func(ctx context.Context, tx *Tx) error {
		return checkCurrent(ctx, tx, ns, store.KindDocuments, id, when)
	})
}

// EraseMemory implements [store.Erasures].
func (s *Store) EraseMemory(ctx context.Context, ns int64, id, user string, anyUser bool, when ...store.Condition) (store.Erased, error) {
	sc := erasureScope{Namespace: ns, Kind: store.KindMemories, Key: &id, Turns: true}
	return s.erase(ctx, sc, func(ctx context.Context, tx *Tx) error {
		if !anyUser {
			if err := checkOwner(ctx, tx, ns, id, user); err != nil {
				return err
			}
		}
		err := checkCurrent(ctx, tx, ns, store.KindMemories, id, when)
		if errors.Is(err, ragctx.ErrPrecondition) && inQuarantine(ctx, tx, ns, id, "", true, when) {
			return nil
		}
		return err
	})
}

// allowAny allows the erasure.
func allowAny(context.Context, *Tx) error { return nil }

// EraseSession implements [store.Erasures].
func (s *Store) EraseSession(
	ctx context.Context, ns int64, id, user string, anyUser bool, when session.Condition,
) (store.Erased, error) {
	if id == "" {
		return store.Erased{}, ragctx.Invalid("session", "is empty; name the session to erase")
	}
	sc := erasureScope{Namespace: ns, Session: &id, Turns: true}
	if !anyUser {
		sc.User = &user
	}
	return s.erase(ctx, sc, func(ctx context.Context, tx *Tx) error {
		if when.IsZero() {
			return nil
		}
		_, err := findSessionIf(ctx, tx, ns, session.Key{User: user, ID: id}, when)
		return err
	})
}

// EraseUser implements [store.Erasures].
func (s *Store) EraseUser(ctx context.Context, ns int64, user string) (store.Erased, error) {
	if user == "" {
		return store.Erased{}, ragctx.Invalid("user", "is empty; name the user to erase")
	}
	return s.erase(ctx, erasureScope{Namespace: ns, User: &user, Turns: true}, allowAny)
}

// erase hides everything in a scope, in slices, and leaves the removal to the garbage collector and
// [Store.SecureErase]. Once recorded it continues regardless: a cancelled caller does not end it, the
// garbage collector retries failures, and the next opening resumes it after a crash. May checks the
// permission in the transaction that records the erasure.
func (s *Store) erase(ctx context.Context, sc erasureScope, may func(context.Context, *Tx) error) (store.Erased, error) {
	sc, e, err := s.recordErasure(ctx, sc, may)
	if err != nil {
		return store.Erased{}, err
	}
	return s.executeErasure(ctx, sc, e)
}

// recordErasure records an erasure.
func (s *Store) recordErasure(
	ctx context.Context, sc erasureScope, may func(context.Context, *Tx) error,
) (erasureScope, erasing, error) {
	var e erasing
	err := s.writeFreeing(ctx, AllNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		if err := may(ctx, tx); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, `SELECT (SELECT coalesce(max(seq), 0) FROM changes), (SELECT coalesce(max(id), 0) FROM turns),
				(SELECT coalesce(max(id), 0) FROM procedure_bodies)`).Scan(&sc.Change, &sc.Turn, &sc.Body)
		if err != nil {
			return err
		}
		if err := deleteSessionProviders(ctx, tx, sc); err != nil {
			return err
		}
		if e.Sessions, err = hideSessions(ctx, tx, sc); err != nil {
			return err
		}
		text, err := json.Marshal(sc)
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, `INSERT INTO erasures (scope) VALUES (?) RETURNING id`, string(text)).Scan(&e.Pending)
		if err != nil {
			return err
		}
		if sc.Whole == "" {
			return nil
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO erased_from (erasure, namespace, kind, seq) VALUES (?1, ?2, ?3, 0), (?1, ?2, ?4, 0)`,
			e.Pending, sc.Namespace, store.KindDocuments, store.KindMemories) // the indexes are removed even if they are empty
		return err
	})
	return sc, e, failedIf("erase", err)
}

// executeErasure hides everything in the scope of a recorded erasure.
func (s *Store) executeErasure(ctx context.Context, sc erasureScope, e erasing) (store.Erased, error) {
	err := s.db.Freeing(func() error {
		err := s.hide(context.WithoutCancel(ctx), sc, &e)
		e.resumed = err != nil // the next attempt resumes here
		return err
	})
	if err != nil {
		s.gc.resume(e.Pending, sc)
		return store.Erased{}, fmt.Errorf("erase: recorded, and retried until it succeeds: %w", err)
	}
	return e.Erased, nil
}

// hide hides everything in a scope from all queries. Later writes into the scope stay.
func (s *Store) hide(ctx context.Context, sc erasureScope, e *erasing) error {
	for sc.Procedure == 0 && sc.Ledger == 0 {
		found, err := s.inScope(ctx, sc)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
		for len(found) > 0 {
			err := s.Slice(ctx, Frees, AllNamespaces, func(ctx context.Context, tx *Tx, enough func(int) bool) error {
				for n := sliceChunks; len(found) > 0; n += sliceChunks {
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
	if err := s.eraseRemainingRows(ctx, sc, e); err != nil {
		return err
	}
	if len(e.toRestore) > 0 {
		if err := s.restoreSuperseded(ctx, sc, e.toRestore); err != nil {
			return err
		}
		e.toRestore = nil
	}
	err := s.write.do(ctx, Low|Frees, func(ctx context.Context, tx *Tx) error {
		if err := s.deleteCopies(ctx, tx, sc, e); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE erasures SET scope = '' WHERE id = ?`, e.Pending)
		return err
	})
	e.items = nil
	if err == nil {
		s.gc.wake()
	}
	return err
}

// itemKey identifies an item.
type itemKey struct {
	kind store.Kind
	key  string
}

// inScope returns items with visible versions in a scope. It reads outside the writer, since the
// search may have no index.
func (s *Store) inScope(ctx context.Context, sc erasureScope) (found []itemKey, err error) {
	where, args := sc.where(true)
	err = s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT DISTINCT i.kind, i.key FROM items i
			WHERE `+where+` LIMIT 10000`, args...) //nolint:gosec // of constants
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var n itemKey
			err := rows.Scan(&n.kind, &n.key)
			found = append(found, n)
			return err
		})
	})
	return found, err
}

// hideItem hides the versions of an item that are in a scope: other versions may belong to another
// user or session.
func (s *Store) hideItem(ctx context.Context, tx *Tx, sc erasureScope, n itemKey, e *erasing) error {
	one := sc
	one.Kind, one.Key = n.kind, &n.key
	where, args := one.where(true)
	ids, err := Column[int64](ctx, tx, `SELECT i.id FROM items i WHERE `+where, args...)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.hideVersions(ctx, tx, sc, n, ids, e)
}

// hideVersions hides versions of an item.
func (s *Store) hideVersions(ctx context.Context, tx *Tx, sc erasureScope, n itemKey, ids []int64, e *erasing) error {
	for _, id := range ids {
		in := store.Collection{Namespace: sc.Namespace, Kind: n.kind}
		if n.kind == store.KindMemories && sc.Whole == "" && (sc.Key == nil || *sc.Key != n.key) {
			if err := requeueSources(ctx, tx, sc.Namespace, id); err != nil {
				return err
			}
		}
		seq, err := s.hideVersion(ctx, tx, in, n.key, id)
		if err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `INSERT INTO erased_from (erasure, namespace, kind, seq) VALUES (?, ?, ?, ?)
			ON CONFLICT (erasure, namespace, kind) DO UPDATE SET seq = excluded.seq`, e.Pending, in.Namespace, in.Kind, seq); err != nil {
			return err
		}
	}
	e.Versions += len(ids)
	if sc.Whole == "" {
		e.addItems(n.kind, n.key)
	}
	if n.kind == store.KindDocuments {
		e.Documents++
		return nil
	}
	e.Memories++
	if sc.Whole == "" && (sc.User == nil || sc.Session != nil) { // an erasure of a user removes the superseded memories as well
		superseded, err := Column[string](ctx, tx, supersededBy, sc.Namespace, n.key, 0)
		if err != nil {
			return err
		}
		e.toRestore = append(e.toRestore, superseded...)
	}
	return deleteHistory(ctx, tx, sc.Namespace, n.key)
}

// addItems collects erased items, whose ids are removed from other tables at the end.
func (e *erasing) addItems(kind store.Kind, keys ...string) {
	for _, key := range keys {
		e.items = append(e.items, itemKey{kind, key})
	}
}

// eraseTurns deletes the turns of a scope.
func (s *Store) eraseTurns(ctx context.Context, sc erasureScope, e *erasing) error {
	if !sc.Turns {
		return nil
	}
	where, args := sc.where(false)
	var ids []uint64
	err := s.view(ctx, func(tx *Tx) (err error) {
		ids, err = Column[uint64](ctx, tx, `SELECT i.id FROM turns i WHERE `+where, args...)
		return err
	})
	for some := range slices.Chunk(ids, 8*sliceChunks) {
		if err != nil {
			break
		}
		err = s.write.do(ctx, Low|Frees, func(ctx context.Context, tx *Tx) error {
			return s.deleteTurns(ctx, tx, sc, some, e)
		})
		e.Turns += len(some)
	}
	return err
}

// deleteCopies removes copies of erased data from other tables: pending job items, ids in the audit log,
// and stored responses that may repeat it.
func (s *Store) deleteCopies(ctx context.Context, tx *Tx, sc erasureScope, e *erasing) error {
	namespace := sc.Whole
	if namespace == "" {
		name, err := namespaceName(ctx, tx, sc.Namespace)
		if err != nil {
			return err
		}
		namespace = name
	}
	before := tx.written
	if sc.Kind == store.KindDocuments && sc.Key != nil {
		if err := clearJobItems(ctx, tx, namespace, *sc.Key); err != nil {
			return err
		}
	}
	if err := deleteQuarantined(ctx, tx, sc, e); err != nil {
		return err
	}
	if err := clearAudit(ctx, tx, namespace, sc, e); err != nil {
		return err
	}
	if !e.resumed && sc.Whole == "" && sc.Procedure == 0 && sc.Ledger == 0 && before == tx.written &&
		e.Versions+e.Turns+e.Sessions == 0 {
		return nil // nothing was erased, so no response repeats it
	}
	return deleteResponses(ctx, tx, namespace, sc)
}

func namespaceName(ctx context.Context, tx *Tx, id int64) (name string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT name FROM namespaces WHERE id = ?`, id).Scan(&name)
	return name, err
}

// clearAudit clears the ids of erased items from the audit log; for an erased namespace, all ids
// in it.
func clearAudit(ctx context.Context, tx *Tx, namespace string, sc erasureScope, e *erasing) error {
	if sc.Whole != "" {
		_, err := tx.ExecContext(ctx, `UPDATE audit SET target = '' WHERE namespace = ?1 AND target != ?1`, sc.Whole)
		return err
	}
	if len(e.items) == 0 {
		return nil
	}
	ids := make(map[store.Kind][]string)
	for _, n := range e.items {
		ids[n.kind] = append(ids[n.kind], n.key)
	}
	for kind, subject := range map[store.Kind]string{store.KindDocuments: subjectDocument, store.KindMemories: subjectMemory} {
		if len(ids[kind]) == 0 {
			continue
		}
		if err := clearTargets(ctx, tx, namespace, subject, ids[kind]); err != nil {
			return err
		}
	}
	return nil
}
