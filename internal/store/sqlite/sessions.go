package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/session"
)

// Sessions is the durable [session.Storage] of a store: completed writes survive kill -9 and power
// loss. The cost of an append depends on the appended messages, not on the session. A save costs
// the whole session and delays other writes.
//
// Lists leave out damaged messages; [Store.Verify] reports them.
type Sessions struct {
	store *Store
	opts  session.Options
}

var _ store.Sessions = (*Sessions)(nil)

// Sessions implements [store.Parts].
func (s *Store) Sessions(o session.Options) store.Sessions {
	if o.Now == nil {
		o.Now = s.now
	}
	return &Sessions{s, o.WithDefaults()}
}

// conversation is a session within a transaction.
type conversation struct {
	tx      *sql.Tx
	id      int64
	leaf    string
	version int64
	salt    string
	size    session.Size
}

// currentVersion returns the version of the session.
func (c *conversation) currentVersion() session.Version {
	return session.Version{Session: c.id, Changes: c.version, Salt: c.salt}
}

// findSession loads a session. It finds none with the id of an erased namespace.
func findSession(ctx context.Context, tx *sql.Tx, ns int64, k session.Key) (*conversation, error) {
	c := &conversation{tx: tx}
	err := tx.QueryRowContext(ctx, `SELECT s.id, s.leaf, s.version, s.salt, s.messages, s.bytes FROM sessions s
		JOIN namespaces n ON n.id = s.namespace AND n.erased = 0
		WHERE s.namespace = ? AND s.name = ? AND s.user = ? AND s.erased = 0`, ns, k.ID, k.User).
		Scan(&c.id, &c.leaf, &c.version, &c.salt, &c.size.Messages, &c.size.Bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, k.NotFoundError()
	}
	return c, err
}

// findSessionIf loads a session for a change and checks a condition.
func findSessionIf(ctx context.Context, tx *sql.Tx, ns int64, k session.Key, when session.Condition) (*conversation, error) {
	c, err := findSession(ctx, tx, ns, k)
	switch {
	case errors.Is(err, ragctx.ErrNotFound):
		return nil, cmp.Or(when.Check(k, nil), err)
	case err != nil:
		return nil, err
	}
	at := c.currentVersion()
	return c, when.Check(k, &at)
}

// sessionNamespace returns the id of a session's namespace; with create it is created if missing.
func (s *Store) sessionNamespace(ctx context.Context, k session.Key, create bool) (int64, error) {
	if err := k.Validate(); err != nil {
		return 0, err
	}
	ns, err := s.Namespace(ctx, k.Namespace, create)
	if errors.Is(err, ragctx.ErrNotFound) {
		return 0, cmp.Or(session.ConditionOf(ctx).Check(k, nil), k.NotFoundError())
	}
	return ns, err
}

// readSession calls fn with a session in one snapshot.
func (s *Store) readSession(ctx context.Context, k session.Key, fn func(*conversation) error) error {
	ns, err := s.sessionNamespace(ctx, k, false)
	if err == nil {
		err = s.view(ctx, func(tx *sql.Tx) error {
			c, err := findSession(ctx, tx, ns, k)
			if err != nil {
				return err
			}
			return fn(c)
		})
	}
	return failedIf("read session", err)
}

// changeSession calls fn with a session in the writer and increments its version.
func (s *Store) changeSession(
	ctx context.Context, k session.Key, now func() time.Time, fn func(context.Context, *conversation) error,
) error {
	return s.changeSessionAs(ctx, high, k, now, fn)
}

// changeSessionAs is changeSession with a priority. With frees, fn may run twice.
func (s *Store) changeSessionAs(
	ctx context.Context, p priority, k session.Key, now func() time.Time, fn func(context.Context, *conversation) error,
) error {
	ns, err := s.sessionNamespace(ctx, k, false)
	when := session.ConditionOf(ctx)
	if err == nil {
		err = s.writeSession(ctx, p, ns, func(ctx context.Context, tx *sql.Tx) (at session.Version, err error) {
			c, err := findSessionIf(ctx, tx, ns, k, when)
			if err != nil {
				return at, err
			}
			if err := fn(ctx, c); err != nil {
				return at, err
			}
			return c.currentVersion().Next(), c.update(ctx, now())
		})
	}
	return failedIf("write session", err)
}

// writeSession is writeSessions for one session; fn returns its new version.
func (s *Store) writeSession(ctx context.Context, p priority, ns int64, fn func(context.Context, *sql.Tx) (session.Version, error)) error {
	var at session.Version
	err := s.writeSessions(ctx, p, ns, func(ctx context.Context, tx *sql.Tx) (err error) {
		at, err = fn(ctx, tx)
		return err
	})
	if err == nil {
		at.Report(ctx)
	}
	return err
}

// writeSessions calls fn in the writer and checks the quotas of the namespace.
func (s *Store) writeSessions(ctx context.Context, p priority, ns int64, fn func(context.Context, *sql.Tx) error) error {
	within := func(ctx context.Context, tx *sql.Tx) error {
		room, err := usageOf(ctx, tx, ns)
		if err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return room.check(ctx, tx)
	}
	if p&frees != 0 {
		return s.writeFreeing(ctx, noNamespaces, p, within)
	}
	return s.write.doIn(ctx, noNamespaces, p, within)
}

// update updates the row of a changed session.
func (c *conversation) update(ctx context.Context, now time.Time) error {
	_, err := c.tx.ExecContext(ctx, `UPDATE sessions SET version = version + 1, updated = ?, leaf = ?, messages = ?, bytes = ? WHERE id = ?`,
		now.UnixNano(), c.leaf, c.size.Messages, c.size.Bytes, c.id)
	return err
}

// createSession creates a session from an archive.
func (s *Sessions) createSession(ctx context.Context, k session.Key, a session.Archive) error {
	ns, err := s.store.sessionNamespace(ctx, k, true)
	if err == nil {
		var one preparedSession
		if one, err = s.prepare(ctx, a); err == nil {
			err = s.store.writeSession(ctx, high, ns, func(ctx context.Context, tx *sql.Tx) (session.Version, error) {
				return one.insert(ctx, tx, ns, k)
			})
		}
	}
	return failedIf("create session", err)
}

// Create implements [session.Storage].
func (s *Sessions) Create(ctx context.Context, k session.Key) error {
	return s.createSession(ctx, k, session.Archive{CreatedAt: s.opts.Now().UTC()})
}

// Import implements [session.Storage].
func (s *Sessions) Import(ctx context.Context, k session.Key, a session.Archive) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if a.CreatedAt.IsZero() {
		a.CreatedAt = s.opts.Now().UTC()
	}
	return s.createSession(ctx, k, a)
}

// Delete implements [session.Storage]. The messages are hidden at once and removed in slices in the
// background.
func (s *Sessions) Delete(ctx context.Context, k session.Key) error {
	err := s.store.changeSessionAs(ctx, high|frees, k, s.opts.Now, func(ctx context.Context, c *conversation) error {
		_, err := c.tx.ExecContext(ctx, `UPDATE sessions SET erased = 1 WHERE id = ?`, c.id)
		return err
	})
	if err == nil {
		s.store.gc.wake()
	}
	return err
}

// Annotate implements [session.Storage].
func (s *Sessions) Annotate(ctx context.Context, k session.Key, parameters map[string]any) error {
	return s.store.changeSession(ctx, k, s.opts.Now, func(ctx context.Context, c *conversation) error {
		var have string
		if err := c.tx.QueryRowContext(ctx, `SELECT parameters FROM sessions WHERE id = ?`, c.id).Scan(&have); err != nil {
			return err
		}
		all, err := session.MergeParameters(decodeValues(have), parameters)
		if err != nil {
			return err
		}
		text, err := parametersText(all)
		if err != nil {
			return err
		}
		_, err = c.tx.ExecContext(ctx, `UPDATE sessions SET parameters = ? WHERE id = ?`, text, c.id)
		return err
	})
}

// Append implements [session.Storage].
func (s *Sessions) Append(ctx context.Context, k session.Key, section string, messages ...ragctx.Message) ([]ragctx.Message, error) {
	var out []ragctx.Message
	err := s.store.changeSession(ctx, k, s.opts.Now, func(ctx context.Context, c *conversation) error {
		if err := session.CheckName("section", section); err != nil {
			return err
		}
		var err error
		if out, err = c.adopt(ctx, messages, s.opts); err != nil || len(out) == 0 {
			return err
		}
		entries := session.EntriesOf(section, out)
		if c.size, err = c.size.Add(entries); err != nil {
			return err
		}
		rows, err := encodeMessages(entries, nil)
		if err != nil {
			return err
		}
		c.leaf = out[len(out)-1].ID
		if err := c.addSection(ctx, section); err != nil {
			return err
		}
		return c.insertMessages(ctx, rows)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Navigate implements [session.Storage].
func (s *Sessions) Navigate(ctx context.Context, k session.Key, id string) error {
	return s.store.changeSession(ctx, k, s.opts.Now, func(ctx context.Context, c *conversation) error {
		if id != "" {
			if known, err := c.has(ctx, id); err != nil || !known {
				return orNoMessage(err, id)
			}
		}
		c.leaf = id
		return nil
	})
}

// Label implements [session.Storage].
func (s *Sessions) Label(ctx context.Context, k session.Key, id, label string) error {
	return s.store.changeSession(ctx, k, s.opts.Now, func(ctx context.Context, c *conversation) error {
		if known, err := c.has(ctx, id); err != nil || !known {
			return orNoMessage(err, id)
		}
		if err := session.CheckName("label", label); err != nil {
			return err
		}
		_, err := c.tx.ExecContext(ctx, `UPDATE session_messages SET label = ? WHERE session = ? AND id = ?`, label, c.id, id)
		return err
	})
}

// AddCompaction implements [session.Storage].
func (s *Sessions) AddCompaction(ctx context.Context, k session.Key, one session.Compaction, spent ...string) (session.Compaction, error) {
	err := s.store.changeSession(ctx, k, s.opts.Now, func(ctx context.Context, c *conversation) error {
		for _, id := range spent {
			if _, err := c.tx.ExecContext(ctx, `DELETE FROM session_compactions WHERE session = ? AND id = ?`, c.id, id); err != nil {
				return err
			}
		}
		var others session.CompactionSize
		err := c.tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(octet_length(record)), 0) FROM session_compactions
			WHERE session = ?`, c.id).
			Scan(&others.Number, &others.Bytes)
		if err != nil {
			return err
		}
		known, failed := c.messageCheck(ctx)
		taken := func(id string) (yes bool) {
			err := c.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM session_compactions WHERE session = ? AND id = ?)`, c.id, id).Scan(&yes)
			*failed = errors.Join(*failed, err)
			return yes
		}
		if one, err = s.opts.PrepareCompaction(one, others, taken, known); *failed != nil || err != nil {
			return errors.Join(*failed, err)
		}
		return c.insertCompaction(ctx, one)
	})
	return one, err
}

// UndoCompaction implements [session.Storage].
func (s *Sessions) UndoCompaction(ctx context.Context, k session.Key) (out session.Compaction, err error) {
	err = s.store.changeSession(ctx, k, s.opts.Now, func(ctx context.Context, c *conversation) error {
		all, err := c.compactions(ctx, `n = (SELECT max(n) FROM session_compactions WHERE session = ?)`)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return fmt.Errorf("undo a compaction: the session has none: %w", ragctx.ErrNotFound)
		}
		out = all[0]
		_, err = c.tx.ExecContext(ctx, `DELETE FROM session_compactions WHERE session = ? AND id = ?`, c.id, out.ID)
		return err
	})
	return out, err
}

// orNoMessage returns the error of a look-up, or the error for a missing message.
func orNoMessage(err error, id string) error {
	if err != nil {
		return err
	}
	return session.MessageNotFound(id)
}

// adopt completes appended messages.
func (c *conversation) adopt(ctx context.Context, messages []ragctx.Message, o session.Options) ([]ragctx.Message, error) {
	known, failed := c.messageCheck(ctx)
	out, err := o.Prepare(messages, c.leaf, known)
	return out, errors.Join(*failed, err)
}

// messageCheck returns a function that reports whether a message exists, and the place of its error.
func (c *conversation) messageCheck(ctx context.Context) (known func(id string) bool, failed *error) {
	failed = new(error)
	return func(id string) bool {
		yes, err := c.has(ctx, id)
		if err != nil {
			*failed = err
		}
		return yes
	}, failed
}

func (c *conversation) has(ctx context.Context, id string) (yes bool, err error) {
	err = c.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM session_messages WHERE session = ? AND id = ?)`, c.id, id).Scan(&yes)
	return yes, err
}
