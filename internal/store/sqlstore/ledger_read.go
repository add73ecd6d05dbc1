package sqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
)

const messageColumns = `seq, at, id, topic, sender, receiver, text, data, metadata`

// reader decodes messages of a cluster.
type reader struct{ namespace, cluster string }

// each calls fn for the message of each row and closes rows. Damaged JSON reads as null: it must
// not hide the rest.
func (r reader) each(rows *sql.Rows, fn func(ledger.Message) error) error {
	return Scan(rows, func() error {
		m := ledger.Message{Namespace: r.namespace, Cluster: r.cluster}
		var seq int64
		var id sql.RawBytes
		var data, metadata []byte
		if err := rows.Scan(&seq, &m.Timestamp, &id, &m.Topic, &m.Sender, &m.Receiver, &m.Text, &data, &metadata); err != nil {
			return err
		}
		m.Sequence = ledger.Sequence(seq) //nolint:gosec // row ids are positive
		m.ID = "msg_" + hex.EncodeToString(id)
		m.Data, m.Metadata = validJSON(data), validJSON(metadata)
		return fn(m)
	})
}

func validJSON(b []byte) json.RawMessage {
	if b == nil || !json.Valid(b) || !utf8.Valid(b) { // invalid UTF-8 would make the response invalid JSON
		return nil
	}
	return b
}

// withLedger selects the ledger of a query, for the statement that follows.
const withLedger = `WITH this (id) AS (SELECT l.id FROM ledgers l JOIN namespaces n ON n.id = l.namespace
	WHERE n.name = ? AND l.name = ? AND l.erased = 0) `

// seqAt returns the sequence of the message nearest to a time that op compares.
func seqAt(op, order string) string {
	return `(SELECT seq FROM ledger_messages WHERE ledger = (SELECT id FROM this) AND at ` + op + ` ? ORDER BY at ` + order + ` LIMIT 1)`
}

// matchQuery returns the SQL of the matching sequences, which follows withLedger. Time bounds become
// sequence bounds, as both grow together: so every index yields the rows in the order of the
// answer.
func matchQuery(q ledger.Query) (text string, args []any) {
	c := conditions{sql: `ledger = (SELECT id FROM this)`, args: []any{q.Namespace, q.Cluster}}
	switch len(q.Topics) {
	case 0:
	case 1:
		c.and(`topic = ?`, q.Topics[0])
	default:
		c.and(`topic IN (SELECT value FROM json_each(?))`, jsonArray(q.Topics))
	}
	for _, b := range []struct {
		cond string
		on   bool
		arg  any
	}{
		{`id = ?`, q.ID != "", idBytes(q.ID)},
		{`sender = ?`, q.Sender != "", q.Sender},
		{`receiver = ?`, q.Receiver != "", q.Receiver},
		{`seq >= ` + seqAt(`>=`, `ASC`), q.Since > 0, q.Since},
		{`seq <= ` + seqAt(`<=`, `DESC`), q.Until > 0, q.Until},
		{`seq >= ` + seqAt(`>`, `ASC`), q.After > 0, q.After},
		{`seq > ?`, q.AfterSeq > 0, int64(q.AfterSeq)},
		{`seq <= ?`, q.ThroughSeq > 0, int64(q.ThroughSeq)}, //nolint:gosec // checked before
	} {
		if b.on {
			c.and(b.cond, b.arg)
		}
	}
	return `SELECT seq FROM ledger_messages WHERE ` + c.sql, c.args
}

// selectQuery returns the SQL of a query's messages. It reads the long columns of returned rows only.
func selectQuery(q ledger.Query) (text string, args []any) {
	order, limit := ` ORDER BY seq`, q.Limit
	if q.Newest {
		order += ` DESC`
	}
	if limit == 0 {
		limit = noLimit
	}
	text, args = matchQuery(q)
	return withLedger + `SELECT ` + messageColumns + ` FROM ledger_messages WHERE seq IN (` + text + order +
		` LIMIT ? OFFSET ?)` + order, append(args, limit, q.Offset)
}

// Query implements [ledger.Log].
func (l *Ledger) Query(ctx context.Context, q ledger.Query) ([]ledger.Message, error) {
	if err := errors.Join(q.Check(), l.checkOpen()); err != nil {
		return nil, err
	}
	text, args := selectQuery(q)
	found, size := []ledger.Message{}, 0
	err := l.store.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		return reader{q.Namespace, q.Cluster}.each(rows, func(m ledger.Message) error {
			found = append(found, m)
			if size += m.Size(); q.Full(len(found), size) {
				return errStop
			}
			return nil
		})
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, failed("read ledger", err)
	}
	return found, nil
}

// Find implements [ledger.Log].
func (l *Ledger) Find(ctx context.Context, q ledger.Query) (ledger.Message, bool, error) {
	q.Limit, q.Offset, q.Newest, q.MaxBytes = 1, 0, true, 0
	found, err := l.Query(ctx, q)
	if err != nil || len(found) == 0 {
		return ledger.Message{}, false, err
	}
	return found[0], true, nil
}

// Count implements [ledger.Log].
func (l *Ledger) Count(ctx context.Context, q ledger.Query) (n int, err error) {
	q.Limit, q.Offset, q.MaxBytes = 0, 0, 0
	if err := errors.Join(q.Check(), l.checkOpen()); err != nil {
		return 0, err
	}
	text, args := matchQuery(q)
	err = l.store.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, withLedger+`SELECT count(*) FROM (`+text+`) AS found`, args...).Scan(&n)
	})
	if err != nil {
		return 0, failed("count messages", err)
	}
	return n, nil
}

// maxCopies limits the clusters found for a message.
const maxCopies = 100

// ClustersOf returns the clusters of a namespace that have a message, at most 100, or
// [ragctx.ErrNotFound]. Imports can copy a message into several clusters; the first cluster to have
// it comes first.
func (l *Ledger) ClustersOf(ctx context.Context, namespace, id string) (names []string, err error) {
	if err := l.checkOpen(); err != nil {
		return nil, err
	}
	err = l.store.view(ctx, func(tx *Tx) error {
		names, err = Column[string](ctx, tx, `SELECT l.name FROM namespaces n JOIN ledgers l ON l.namespace = n.id AND l.erased = 0
			JOIN ledger_messages m ON m.ledger = l.id AND m.id = ? WHERE n.name = ? ORDER BY m.seq LIMIT ?`,
			idBytes(id), namespace, maxCopies)
		return err
	})
	if err != nil {
		return nil, failed("find message", err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("message %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	return names, nil
}

const selectCluster = `SELECT l.name, l.created, (SELECT count(*) FROM ledger_messages WHERE ledger = l.id),
	coalesce((SELECT min(seq) FROM ledger_messages WHERE ledger = l.id), 0), coalesce((SELECT max(seq) FROM ledger_messages
	WHERE ledger = l.id), 0),
	coalesce((SELECT min(at) FROM ledger_messages WHERE ledger = l.id), 0), coalesce((SELECT max(at) FROM ledger_messages
	WHERE ledger = l.id), 0)
	FROM ledgers l JOIN namespaces n ON n.id = l.namespace WHERE l.erased = 0 AND n.name = ? AND `

func (l *Ledger) clusters(ctx context.Context, where string, args ...any) ([]store.ClusterInfo, error) {
	if err := l.checkOpen(); err != nil {
		return nil, err
	}
	found := []store.ClusterInfo{}
	err := l.store.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, selectCluster+where, args...)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var c store.ClusterInfo
			var first, last, created, firstAt, lastAt int64
			err := rows.Scan(&c.Cluster, &created, &c.Messages, &first, &last, &firstAt, &lastAt)
			c.Created, c.FirstTimestamp, c.LastTimestamp = fromMillis(created), fromMillis(firstAt), fromMillis(lastAt)
			c.FirstSequence, c.LastSequence = ledger.Sequence(first), ledger.Sequence(last) //nolint:gosec // row ids are positive
			found = append(found, c)
			return err
		})
	})
	if err != nil {
		return nil, failed("read ledgers", err)
	}
	return found, nil
}

// fromMillis returns a time of the ledger; 0 is the zero time.
func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Clusters returns at most limit clusters of a namespace, by name, after the given name.
func (l *Ledger) Clusters(ctx context.Context, namespace, after string, limit int) ([]store.ClusterInfo, error) {
	return l.clusters(ctx, `l.name > ? ORDER BY l.name LIMIT ?`, namespace, after, limit)
}

// Cluster returns a cluster, or [ragctx.ErrNotFound].
func (l *Ledger) Cluster(ctx context.Context, namespace, name string) (store.ClusterInfo, error) {
	found, err := l.clusters(ctx, `l.name = ?`, namespace, name)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("cluster %q: %w", ragctx.Clip(name), ragctx.ErrNotFound)
	}
	if err != nil {
		return store.ClusterInfo{}, err
	}
	return found[0], nil
}
