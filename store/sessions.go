package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Sessions is the durable [session.Storage] of a store: what a method has written when it
// returns survives kill -9 and power loss. To append costs what is appended, however
// long the session is; to save costs the whole session, and other writes wait for it.
//
// Messages that are damaged in the file are left out of lists, and [Store.Verify] names
// them.
type Sessions struct {
	store *Store
	opts  session.Options
}

var _ session.Storage = (*Sessions)(nil)

// Sessions returns the store's sessions. Options without a clock have that of the store.
func (s *Store) Sessions(o session.Options) *Sessions {
	if o.Now == nil {
		o.Now = s.now
	}
	return &Sessions{s, o.Or()}
}

// conversation is a session in a transaction.
type conversation struct {
	tx   *sql.Tx
	id   int64
	leaf string
}

// findSession finds a session. Who took the id of a namespace before it was erased finds
// none.
func findSession(ctx context.Context, tx *sql.Tx, ns int64, k session.Key) (*conversation, error) {
	c := &conversation{tx: tx}
	err := tx.QueryRowContext(ctx, `SELECT s.id, s.leaf FROM sessions s JOIN namespaces n ON n.id = s.namespace AND n.erased = 0
		WHERE s.namespace = ? AND s.name = ? AND s.user = ? AND s.erased = 0`, ns, k.ID, k.User).Scan(&c.id, &c.leaf)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, k.Missing()
	}
	return c, err
}

// sessionSpace returns the id of a session's namespace; with create it is made.
func (s *Store) sessionSpace(ctx context.Context, k session.Key, create bool) (int64, error) {
	if err := k.Validate(); err != nil {
		return 0, err
	}
	ns, err := s.Namespace(ctx, k.Namespace, create)
	if errors.Is(err, ragctx.ErrNotFound) {
		return 0, k.Missing()
	}
	return ns, err
}

// readSession calls fn with a session as it is in one snapshot.
func (s *Store) readSession(ctx context.Context, k session.Key, fn func(*conversation) error) error {
	ns, err := s.sessionSpace(ctx, k, false)
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

// changeSession calls fn with a session in the writer.
func (s *Store) changeSession(ctx context.Context, k session.Key, fn func(context.Context, *conversation) error) error {
	ns, err := s.sessionSpace(ctx, k, false)
	if err == nil {
		err = s.write.doIn(ctx, nowhere, High, func(ctx context.Context, tx *sql.Tx) error {
			c, err := findSession(ctx, tx, ns, k)
			if err != nil {
				return err
			}
			return fn(ctx, c)
		})
	}
	return failedIf("write session", err)
}

// makeSession makes a session of an archive.
func (s *Store) makeSession(ctx context.Context, k session.Key, a session.Archive) error {
	ns, err := s.sessionSpace(ctx, k, true)
	if err == nil {
		err = s.write.doIn(ctx, nowhere, High, func(ctx context.Context, tx *sql.Tx) error { return insertSession(ctx, tx, ns, k, a) })
	}
	return failedIf("make session", err)
}

// Create implements [session.Storage].
func (s *Sessions) Create(ctx context.Context, k session.Key) error {
	return s.store.makeSession(ctx, k, session.Archive{CreatedAt: s.opts.Now().UTC()})
}

// Import implements [session.Storage].
func (s *Sessions) Import(ctx context.Context, k session.Key, a session.Archive) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if a.CreatedAt.IsZero() {
		a.CreatedAt = s.opts.Now().UTC()
	}
	return s.store.makeSession(ctx, k, a)
}

// Save implements [session.Storage].
func (s *Sessions) Save(ctx context.Context, k session.Key, messages session.Store) (session.Result, error) {
	return s.opts.Saved(k, func(started time.Time) (after session.Archive, added int, err error) {
		ns, err := s.store.sessionSpace(ctx, k, true)
		if err != nil {
			return after, 0, err
		}
		err = s.store.write.doIn(ctx, nowhere, High, func(ctx context.Context, tx *sql.Tx) error {
			c, err := findSession(ctx, tx, ns, k)
			if errors.Is(err, ragctx.ErrNotFound) {
				if after, added, err = (session.Archive{CreatedAt: started}).Replaced(messages, s.opts); err == nil {
					err = insertSession(ctx, tx, ns, k, after)
				}
				return err
			}
			if err != nil {
				return err
			}
			after, added, err = c.save(ctx, messages, s.opts)
			return err
		})
		return after, added, failedIf("save session", err)
	})
}

// Delete implements [session.Storage]. Its messages are out of sight at once, and removed
// in slices in the background.
func (s *Sessions) Delete(ctx context.Context, k session.Key) error {
	err := s.store.changeSession(ctx, k, func(ctx context.Context, c *conversation) error {
		_, err := c.tx.ExecContext(ctx, `UPDATE sessions SET erased = 1 WHERE id = ?`, c.id)
		return err
	})
	if err == nil {
		s.store.sweeper.wake()
	}
	return err
}

// Append implements [session.Storage].
func (s *Sessions) Append(ctx context.Context, k session.Key, section string, messages ...ragctx.Message) ([]ragctx.Message, error) {
	var out []ragctx.Message
	err := s.store.changeSession(ctx, k, func(ctx context.Context, c *conversation) error {
		if err := session.CheckName("section", section); err != nil {
			return err
		}
		var err error
		if out, err = c.adopt(ctx, messages, s.opts); err != nil || len(out) == 0 {
			return err
		}
		entries := make([]session.Entry, len(out))
		for i, m := range out {
			entries[i] = session.Entry{Section: section, Message: m}
		}
		if err := c.name(ctx, section); err != nil {
			return err
		}
		if err := c.insert(ctx, entries, nil); err != nil {
			return err
		}
		return c.navigate(ctx, out[len(out)-1].ID)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Navigate implements [session.Storage].
func (s *Sessions) Navigate(ctx context.Context, k session.Key, id string) error {
	return s.store.changeSession(ctx, k, func(ctx context.Context, c *conversation) error {
		if id != "" {
			if known, err := c.has(ctx, id); err != nil || !known {
				return orNoMessage(err, id)
			}
		}
		return c.navigate(ctx, id)
	})
}

// Fork implements [session.Storage].
func (s *Sessions) Fork(ctx context.Context, k session.Key, id, to string) error {
	target := session.Key{Namespace: k.Namespace, User: k.User, ID: to}
	if err := target.Validate(); err != nil {
		return err
	}
	return s.store.changeSession(ctx, k, func(ctx context.Context, c *conversation) error {
		var ns int64
		if err := c.tx.QueryRowContext(ctx, `SELECT namespace FROM sessions WHERE id = ?`, c.id).Scan(&ns); err != nil {
			return err
		}
		if _, err := findSession(ctx, c.tx, ns, target); !errors.Is(err, ragctx.ErrNotFound) {
			return cmp.Or(err, target.Taken())
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
		if a, err = a.Fork(""); err != nil {
			return err
		}
		a.CreatedAt = s.opts.Now().UTC()
		return insertSession(ctx, c.tx, ns, target, a)
	})
}

// Label implements [session.Storage].
func (s *Sessions) Label(ctx context.Context, k session.Key, id, label string) error {
	return s.store.changeSession(ctx, k, func(ctx context.Context, c *conversation) error {
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
func (s *Sessions) AddCompaction(ctx context.Context, k session.Key, one session.Compaction) (session.Compaction, error) {
	err := s.store.changeSession(ctx, k, func(ctx context.Context, c *conversation) error {
		others, err := c.compactions(ctx)
		if err != nil {
			return err
		}
		known, failed := c.known(ctx)
		if one, err = s.opts.Record(one, others, known); *failed != nil || err != nil {
			return errors.Join(*failed, err)
		}
		return c.record(ctx, one)
	})
	return one, err
}

// UndoCompaction implements [session.Storage].
func (s *Sessions) UndoCompaction(ctx context.Context, k session.Key) (out session.Compaction, err error) {
	err = s.store.changeSession(ctx, k, func(ctx context.Context, c *conversation) error {
		all, err := c.compactions(ctx)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return fmt.Errorf("undo a compaction: the session has none: %w", ragctx.ErrNotFound)
		}
		out = all[len(all)-1]
		_, err = c.tx.ExecContext(ctx, `DELETE FROM session_compactions WHERE n = (SELECT max(n) FROM session_compactions WHERE session = ?)`, c.id)
		return err
	})
	return out, err
}

// orNoMessage returns the error of a look-up, or that the message is not there.
func orNoMessage(err error, id string) error {
	if err != nil {
		return err
	}
	return session.NoMessage(id)
}

// adopt completes messages that are appended.
func (c *conversation) adopt(ctx context.Context, messages []ragctx.Message, o session.Options) ([]ragctx.Message, error) {
	known, failed := c.known(ctx)
	out, err := o.Adopt(messages, c.leaf, known)
	return out, errors.Join(*failed, err)
}

// known returns what says whether there is a message, and where it puts its error.
func (c *conversation) known(ctx context.Context) (known func(id string) bool, failed *error) {
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

func (c *conversation) navigate(ctx context.Context, id string) error {
	_, err := c.tx.ExecContext(ctx, `UPDATE sessions SET leaf = ? WHERE id = ?`, id, c.id)
	return err
}

// save puts a store in the place of what the session has. Messages at its beginning that
// stay as they are are not written again.
func (c *conversation) save(ctx context.Context, messages session.Store, o session.Options) (after session.Archive, added int, err error) {
	before, err := c.describe(ctx)
	if err != nil {
		return after, 0, err
	}
	stored, err := c.rows(ctx, sessionMessages, c.id)
	if err != nil {
		return after, 0, err
	}
	for _, r := range stored {
		before.Entries = append(before.Entries, session.Entry{Message: ragctx.Message{ID: r.id}})
	}
	if after, added, err = before.Replaced(messages, o); err != nil {
		return after, 0, err
	}
	same := 0
	for same < len(stored) && same < len(after.Entries) && stored[same].is(after.Entries[same]) {
		same++
	}
	if same < len(stored) {
		if _, err := c.tx.ExecContext(ctx, `DELETE FROM session_messages WHERE session = ? AND seq >= ?`, c.id, stored[same].seq); err != nil {
			return after, 0, err
		}
	}
	for _, q := range []string{`DELETE FROM session_sections WHERE session = ?`, `DELETE FROM session_compactions WHERE session = ?`} {
		if _, err := c.tx.ExecContext(ctx, q, c.id); err != nil {
			return after, 0, err
		}
	}
	parameters, err := parametersText(after.Parameters)
	if err != nil {
		return after, 0, err
	}
	if _, err := c.tx.ExecContext(ctx, `UPDATE sessions SET leaf = ?, parameters = ? WHERE id = ?`, after.Leaf, parameters, c.id); err != nil {
		return after, 0, err
	}
	rest := after
	rest.Entries = slices.Clone(after.Entries[same:])
	return after, added, c.fill(ctx, rest)
}
