package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
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
	tx      *Tx
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
func findSession(ctx context.Context, tx *Tx, ns int64, k session.Key) (*conversation, error) {
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
func findSessionIf(ctx context.Context, tx *Tx, ns int64, k session.Key, when session.Condition) (*conversation, error) {
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

// sessionNamespace returns the id of a session's namespace.
func (s *Store) sessionNamespace(ctx context.Context, k session.Key, when session.Condition) (int64, error) {
	if err := k.Validate(); err != nil {
		return 0, err
	}
	ns, err := s.Namespace(ctx, k.Namespace, false)
	if errors.Is(err, ragctx.ErrNotFound) {
		return 0, cmp.Or(when.Check(k, nil), k.NotFoundError())
	}
	return ns, err
}

// readSession calls fn with a session in one snapshot.
func (s *Store) readSession(ctx context.Context, k session.Key, fn func(*conversation) error) error {
	ns, err := s.sessionNamespace(ctx, k, session.Condition{})
	if err == nil {
		err = s.view(ctx, func(tx *Tx) error {
			c, err := findSession(ctx, tx, ns, k)
			if err != nil {
				return err
			}
			return fn(c)
		})
	}
	return failedIf("read session", err)
}

// changeSession calls fn with a session that meets a condition in the writer and increments its
// version, which it returns. With the Priority Frees, fn may run twice.
func (s *Store) changeSession(
	ctx context.Context, p Priority, k session.Key, when session.Condition, now func() time.Time,
	fn func(context.Context, *conversation) error,
) (at session.Version, err error) {
	ns, err := s.sessionNamespace(ctx, k, when)
	if err == nil {
		err = s.writeSessions(ctx, p, ns, func(ctx context.Context, tx *Tx) error {
			c, err := findSessionIf(ctx, tx, ns, k, when)
			if err != nil {
				return err
			}
			if err := fn(ctx, c); err != nil {
				return err
			}
			at = c.currentVersion().Next()
			return c.update(ctx, now())
		})
	}
	if err != nil {
		return session.Version{}, failedIf("write session", err)
	}
	return at, nil
}

// writeSessions calls fn in the writer and checks the quotas of the namespace.
func (s *Store) writeSessions(ctx context.Context, p Priority, ns int64, fn func(context.Context, *Tx) error) error {
	within := func(ctx context.Context, tx *Tx) error {
		room, err := usageOf(ctx, tx, ns)
		if err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return room.check(ctx, tx)
	}
	write := func() error { return s.db.Write(ctx, Write{Priority: p, Namespace: NoNamespaces}, within) }
	if p&Frees != 0 {
		return s.db.Freeing(write)
	}
	return write()
}

// update updates the row of a changed session.
func (c *conversation) update(ctx context.Context, now time.Time) error {
	_, err := c.tx.ExecContext(ctx, `UPDATE sessions
		SET version = version + 1, updated = ?, leaf = ?, messages = ?, bytes = ? WHERE id = ?`,
		now.UnixNano(), c.leaf, c.size.Messages, c.size.Bytes, c.id)
	return err
}

// Create implements [session.Storage].
func (s *Sessions) Create(
	ctx context.Context, k session.Key, a session.Archive, request string,
) (at session.Version, err error) {
	if err := a.Validate(); err != nil {
		return at, err
	}
	if a.CreatedAt.IsZero() {
		a.CreatedAt = s.opts.Now().UTC()
	}
	if err := k.Validate(); err != nil {
		return at, err
	}
	ns, err := s.store.Namespace(ctx, k.Namespace, true)
	if err == nil {
		var one preparedSession
		if one, err = s.prepare(a, request); err == nil {
			err = s.store.writeSessions(ctx, High, ns, func(ctx context.Context, tx *Tx) (err error) {
				at, err = one.insert(ctx, tx, ns, k)
				return err
			})
		}
	}
	return at, failedIf("create session", err)
}

// Delete implements [session.Storage]. The messages are hidden at once and removed in slices in the
// background.
func (s *Sessions) Delete(ctx context.Context, k session.Key, when session.Condition) error {
	hide := func(ctx context.Context, c *conversation) error {
		_, err := c.tx.ExecContext(ctx, `UPDATE sessions SET erased = 1 WHERE id = ?`, c.id)
		return err
	}
	_, err := s.store.changeSession(ctx, High|Frees, k, when, s.opts.Now, hide)
	if err == nil {
		s.store.gc.wake()
	}
	return err
}

// Append implements [session.Storage].
func (s *Sessions) Append(
	ctx context.Context, k session.Key, section string, messages []ragctx.Message, when session.Condition,
) (out []ragctx.Message, at session.Version, err error) {
	at, err = s.store.changeSession(ctx, High, k, when, s.opts.Now, func(ctx context.Context, c *conversation) error {
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
		return nil, at, err
	}
	return out, at, nil
}

// Update implements [session.Storage].
func (s *Sessions) Update(
	ctx context.Context, k session.Key, u session.Update, when session.Condition,
) (session.Version, error) {
	return s.store.changeSession(ctx, High, k, when, s.opts.Now, func(ctx context.Context, c *conversation) error {
		if err := c.mergeParameters(ctx, u.Parameters); err != nil {
			return err
		}
		if err := c.navigate(ctx, u.Leaf); err != nil {
			return err
		}
		if err := c.setLabels(ctx, u.Labels); err != nil {
			return err
		}
		if err := c.removeCompactions(ctx, u.RemoveCompactions); err != nil {
			return err
		}
		return c.addCompaction(ctx, u.AddCompaction)
	})
}

// mergeParameters merges parameters into the session's.
func (c *conversation) mergeParameters(ctx context.Context, parameters map[string]any) error {
	if len(parameters) == 0 {
		return nil
	}
	var have string
	if err := c.tx.QueryRowContext(ctx, `SELECT parameters FROM sessions WHERE id = ?`, c.id).Scan(&have); err != nil {
		return err
	}
	all, err := session.MergeParameters(decodeValues(have), parameters)
	if err != nil {
		return err
	}
	return c.setParameters(ctx, all)
}

// setParameters stores the session's parameters.
func (c *conversation) setParameters(ctx context.Context, parameters map[string]any) error {
	text, err := parametersText(parameters)
	if err != nil {
		return err
	}
	_, err = c.tx.ExecContext(ctx, `UPDATE sessions SET parameters = ? WHERE id = ?`, text, c.id)
	return err
}

// navigate moves the leaf, if a leaf is given.
func (c *conversation) navigate(ctx context.Context, leaf *string) error {
	if leaf == nil {
		return nil
	}
	if *leaf != "" {
		if known, err := c.has(ctx, *leaf); err != nil || !known {
			return orNoMessage(err, *leaf)
		}
	}
	c.leaf = *leaf
	return nil
}

// setLabels labels messages.
func (c *conversation) setLabels(ctx context.Context, labels map[string]string) error {
	for id, label := range labels {
		if known, err := c.has(ctx, id); err != nil || !known {
			return orNoMessage(err, id)
		}
		if err := session.CheckName("label", label); err != nil {
			return err
		}
		const query = `UPDATE session_messages SET label = ? WHERE session = ? AND id = ?`
		if _, err := c.tx.ExecContext(ctx, query, label, c.id, id); err != nil {
			return err
		}
	}
	return nil
}

// removeCompactions removes the records with the ids.
func (c *conversation) removeCompactions(ctx context.Context, ids []string) error {
	for _, id := range ids {
		const query = `DELETE FROM session_compactions WHERE session = ? AND id = ?`
		if _, err := c.tx.ExecContext(ctx, query, c.id, id); err != nil {
			return err
		}
	}
	return nil
}

// addCompaction adds a record, if one is given.
func (c *conversation) addCompaction(ctx context.Context, one *session.Compaction) error {
	if one == nil {
		return nil
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
		const query = `SELECT EXISTS (SELECT 1 FROM session_compactions WHERE session = ? AND id = ?)`
		err := c.tx.QueryRowContext(ctx, query, c.id, id).Scan(&yes)
		*failed = errors.Join(*failed, err)
		return yes
	}
	if err := session.CheckCompaction(*one, others, taken, known); *failed != nil || err != nil {
		return errors.Join(*failed, err)
	}
	return c.insertCompaction(ctx, *one)
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
