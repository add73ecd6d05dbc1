package sqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
)

// Ledger is the durable [ledger.Log] of a store: appended messages survive kill -9 and power loss
// once Append returns. Concurrent appends share a commit.
type Ledger struct {
	store  *Store
	opts   ledger.Options
	bus    ledger.Bus
	closed atomic.Bool

	appended, imported, trimmed atomic.Uint64
}

// Counts returns the counters.
func (l *Ledger) Counts() store.LedgerCounts {
	t := store.LedgerCounts{Appended: l.appended.Load(), Imported: l.imported.Load(), Trimmed: l.trimmed.Load()}
	t.Subscriptions, t.CutOff = l.bus.Counts()
	return t
}

var _ store.Ledger = (*Ledger)(nil)

// Ledger implements [store.Parts].
func (s *Store) Ledger(o ledger.Options) store.Ledger {
	if o.Now == nil {
		o.Now = s.now
	}
	return &Ledger{store: s, opts: o.WithDefaults()}
}

// Close ends all subscriptions; later operations fail. It may be called more than once.
func (l *Ledger) Close() error {
	l.closed.Store(true)
	l.bus.Close()
	return nil
}

func (l *Ledger) checkOpen() error {
	if l.closed.Load() {
		return fmt.Errorf("ledger: %w", ragctx.ErrClosed)
	}
	return nil
}

// Append implements [ledger.Log].
func (l *Ledger) Append(ctx context.Context, messages []ledger.Message) ([]ledger.Message, error) {
	return l.append(ctx, messages, ledger.Appending)
}

// Import implements [ledger.Importer].
func (l *Ledger) Import(ctx context.Context, messages []ledger.Message) ([]ledger.Message, error) {
	return l.append(ctx, messages, ledger.Importing)
}

func (l *Ledger) append(ctx context.Context, messages []ledger.Message, mode ledger.Mode) ([]ledger.Message, error) {
	messages, err := ledger.Check(messages, mode)
	if err != nil {
		return nil, err
	}
	if err := l.checkOpen(); err != nil || len(messages) == 0 {
		return []ledger.Message{}, err
	}
	ns, err := l.store.Namespace(ctx, messages[0].Namespace, true)
	if err != nil {
		return nil, err
	}
	w := appendTx{Ledger: l, namespace: ns, messages: messages, mode: mode}
	err = l.store.db.Write(ctx, Write{
		Namespace: NoNamespaces, Order: fmt.Sprintf("ledger/%d/%s", ns, messages[0].Cluster),
		Then: func() { l.bus.Publish(w.published) },
	}, w.run)
	if err != nil {
		return nil, failed("append to ledger", err)
	}
	stored := &l.appended
	if mode == ledger.Importing {
		stored = &l.imported
	}
	stored.Add(uint64(len(w.messages)))
	l.trimmed.Add(w.trimmed)
	return w.messages, nil
}

// appendTx is one append, which runs in the writer.
type appendTx struct {
	*Ledger

	namespace int64
	mode      ledger.Mode
	// messages are the new ones; published are the messages for subscribers.
	messages  []ledger.Message
	published []ledger.Message
	trimmed   uint64

	tx *Tx

	// The ledger's state before the append.
	id             int64
	last           int64 // timestamp
	outputs, bytes int
}

func (a *appendTx) run(ctx context.Context, tx *Tx) error {
	a.tx = tx
	if err := a.find(ctx); err != nil {
		return err
	}
	if err := a.newOnly(ctx); err != nil || len(a.messages) == 0 {
		return err
	}
	if err := ledger.Stamp(a.messages, a.last, a.opts.Now().UnixMilli(), a.mode); err != nil {
		return err
	}
	outputs := a.outputs
	for i := range a.messages {
		if err := a.write(ctx, &a.messages[i]); err != nil {
			return err
		}
	}
	a.published = a.messages
	if a.outputs == outputs {
		return nil
	}
	if a.opts.Retention.Exceeded(a.outputs, a.bytes) {
		if err := a.retain(ctx); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `UPDATE ledgers SET outputs = ?, bytes = ? WHERE id = ?`, a.outputs, a.bytes, a.id)
	return err
}

// find loads the ledger and creates it if it is missing.
func (a *appendTx) find(ctx context.Context) error {
	name := a.messages[0].Cluster
	err := a.tx.QueryRowContext(ctx, `SELECT id, outputs, bytes, coalesce((SELECT max(at) FROM ledger_messages
		WHERE ledger = ledgers.id), 0)
		FROM ledgers WHERE namespace = ? AND name = ? AND erased = 0`, a.namespace, name).Scan(&a.id, &a.outputs, &a.bytes, &a.last)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return a.tx.QueryRowContext(ctx, `INSERT INTO ledgers (namespace, name, created) VALUES (?, ?, ?) RETURNING id`,
		a.namespace, name, a.opts.Now().UnixMilli()).Scan(&a.id)
}

// newOnly drops the messages that the ledger already has. Unless the mode is importing, such a
// message is an error.
func (a *appendTx) newOnly(ctx context.Context) error {
	fresh := a.messages[:0:0]
	seen := false
	trimmed, err := a.receipt(ctx)
	if err != nil {
		return err
	}
	for _, m := range a.messages {
		var known bool
		var err error
		switch {
		case trimmed.Covers(m):
			known = true
		case m.Topic == ledger.TopicOmitted:
			known = seen
			if !known {
				err = a.exists(ctx, &known, `topic = ?`, m.Topic)
			}
			seen = true
		case m.ID != "":
			err = a.exists(ctx, &known, `id = ?`, idBytes(m.ID))
		}
		switch {
		case err != nil:
			return err
		case known && a.mode != ledger.Importing:
			return ledger.IDConflict(m.ID)
		case !known:
			fresh = append(fresh, m)
		}
	}
	a.messages = fresh
	return nil
}

// receipt returns the receipt of removed messages. Only imports need it: an append is always later.
func (a *appendTx) receipt(ctx context.Context) (r ledger.Receipt, err error) {
	if a.mode != ledger.Importing {
		return r, nil
	}
	rows, err := a.tx.QueryContext(ctx, `SELECT `+messageColumns+` FROM ledger_messages WHERE ledger = ? AND topic = ?`, a.id,
		ledger.TopicOmitted)
	if err != nil {
		return r, err
	}
	err = reader{}.each(rows, func(m ledger.Message) error { r = ledger.ReceiptOf(m); return nil })
	return r, err
}

func (a *appendTx) exists(ctx context.Context, yes *bool, where string, arg any) error {
	return a.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM ledger_messages WHERE ledger = ? AND `+where+`)`, a.id,
		arg).Scan(yes) //nolint:gosec // of constants
}

// write stores a message, whose timestamp is set.
func (a *appendTx) write(ctx context.Context, m *ledger.Message) error {
	if m.ID == "" {
		m.ID = ledger.NewID(a.opts.NewID())
	}
	seq, err := a.tx.Dialect.Insert(ctx, a.tx, "seq",
		`INSERT INTO ledger_messages (ledger, at, id, topic, sender, receiver, text, data, metadata)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, a.id, m.Timestamp, idBytes(m.ID), m.Topic, m.Sender, m.Receiver, m.Text,
		cell(m.Data), cell(m.Metadata))
	if err != nil {
		return err
	}
	m.Sequence, a.last = ledger.Sequence(seq), m.Timestamp //nolint:gosec // row ids are positive
	if m.Topic == ledger.TopicAgentOutput {
		a.outputs++
		a.bytes += m.Size()
	}
	return nil
}

// retain removes the oldest output and writes the receipt.
func (a *appendTx) retain(ctx context.Context) error {
	var r ledger.Receipt
	read := reader{namespace: a.messages[0].Namespace, cluster: a.messages[0].Cluster}
	rows, err := a.tx.QueryContext(ctx, `DELETE FROM ledger_messages WHERE ledger = ? AND topic = ? RETURNING `+messageColumns,
		a.id, ledger.TopicOmitted)
	if err != nil {
		return err
	}
	if err := read.each(rows, func(m ledger.Message) error { r = ledger.ReceiptOf(m); return nil }); err != nil {
		return err
	}
	rows, err = a.tx.QueryContext(ctx, `SELECT `+messageColumns+` FROM ledger_messages WHERE ledger = ? AND topic = ?
		ORDER BY seq`, a.id, ledger.TopicAgentOutput)
	if err != nil {
		return err
	}
	err = read.each(rows, func(m ledger.Message) error {
		if a.opts.Retention.Reduced(a.outputs, a.bytes) {
			return errStop
		}
		a.outputs, a.bytes = a.outputs-1, a.bytes-m.Size()
		a.trimmed++
		return r.Add(m)
	})
	if err != nil && !errors.Is(err, errStop) {
		return err
	}
	if _, err := a.tx.ExecContext(ctx, `DELETE FROM ledger_messages WHERE ledger = ? AND topic = ? AND seq <= ?`, a.id,
		ledger.TopicAgentOutput, int64(r.LastSequence)); err != nil { //nolint:gosec // row ids fit
		return err
	}
	m, err := r.Message(read.namespace, read.cluster)
	if err != nil {
		return err
	}
	m.Timestamp = a.last + 1
	if err := a.write(ctx, &m); err != nil {
		return err
	}
	a.published = slices.Concat(a.messages, []ledger.Message{m})
	return nil
}

// errStop stops the reading of rows.
var errStop = errors.New("enough")

// Subscribe implements [ledger.Log].
func (l *Ledger) Subscribe(f ledger.Filter) (*ledger.Subscription, error) { return l.bus.Subscribe(f) }

// idBytes returns the 16 bytes of a message id.
func idBytes(id string) []byte {
	b, _ := hex.DecodeString(strings.TrimPrefix(id, "msg_")) // checked before
	return b
}

// cell returns JSON as a column value.
func cell(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}
