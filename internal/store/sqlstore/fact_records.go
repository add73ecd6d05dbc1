package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// factRecord is the fact record of a version of a memory.
type factRecord struct {
	flags      int
	attributes *ragctx.FactRecord
	provenance []ragctx.Provenance
}

// The flags of a memory. Their values are stored.
const (
	flagProfile = 1 << iota
	flagPinned
)

func factRecordOf(m ragctx.Memory) factRecord {
	k := factRecord{attributes: m.About, provenance: m.Sources}
	if m.Profile {
		k.flags |= flagProfile
	}
	if m.Pinned {
		k.flags |= flagPinned
	}
	return k
}

// insertFactRecord inserts the fact record of a version just inserted.
func insertFactRecord(ctx context.Context, tx *Tx, item int64, r record) error {
	k := r.facts
	if k.flags == 0 && k.attributes == nil {
		return nil
	}
	var about ragctx.FactRecord
	text := "{}"
	if k.attributes != nil {
		about = *k.attributes
		b, err := json.Marshal(about)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO facts (item, namespace, user, flags, kind, words, subject, attribute, value, about)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, item, r.namespace, r.user, k.flags, about.Kind, analysis.StatementKey(r.content.Text),
		analysis.StatementKey(about.Subject), analysis.StatementKey(about.Attribute),
		analysis.StatementKey(about.Value), text); err != nil {
		return err
	}
	for i, e := range k.provenance {
		if _, err := insertProvenance(ctx, tx, item, e, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// insertProvenance records another passage that states a memory, and reports whether it is new.
func insertProvenance(ctx context.Context, tx *Tx, item int64, e ragctx.Provenance, words bool) (added bool, err error) {
	source := 0
	if words {
		source = 1
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO provenance (item, turn, message, start, stop, source, at)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, item, e.Turn, e.Message, e.Start, e.End, source, e.At.UnixMicro())
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// loadFactRecords loads the fact records, provenance and usage of memories.
func loadFactRecords(ctx context.Context, tx *Tx, rows []uint64, memories []ragctx.Memory) error {
	at := make(map[uint64]*ragctx.Memory, len(rows))
	for i, id := range rows {
		at[id] = &memories[i]
	}
	in, args := placeholders(rows)
	found, err := tx.QueryContext(ctx, `SELECT item, flags, kind <> '', about FROM facts
		WHERE item IN (`+in+`)`, args...) //nolint:gosec // placeholders
	if err != nil {
		return err
	}
	if err := Scan(found, func() error {
		var id uint64
		var flags int
		var learned bool
		var about string
		if err := found.Scan(&id, &flags, &learned, &about); err != nil {
			return err
		}
		m := at[id]
		m.Profile, m.Pinned = flags&flagProfile != 0, flags&flagPinned != 0
		if learned {
			a := decode[ragctx.FactRecord](about)
			m.About = &a
		}
		return nil
	}); err != nil {
		return err
	}
	found, err = tx.QueryContext(ctx, `SELECT item, turn, message, start, stop, at FROM provenance WHERE item IN (`+in+`)
		ORDER BY item, source DESC, at, turn, message, start`, args...) //nolint:gosec // placeholders
	if err != nil {
		return err
	}
	if err := Scan(found, func() error {
		var id uint64
		var when int64
		var e ragctx.Provenance
		if err := found.Scan(&id, &e.Turn, &e.Message, &e.Start, &e.End, &when); err != nil {
			return err
		}
		e.At = time.UnixMicro(when).UTC()
		at[id].Sources = append(at[id].Sources, e)
		return nil
	}); err != nil {
		return err
	}
	found, err = tx.QueryContext(ctx, `SELECT i.id, u.count, u.last FROM items i JOIN uses u ON u.namespace = i.namespace AND u.key = i.key
		WHERE i.id IN (`+in+`)`, args...) //nolint:gosec // placeholders
	if err != nil {
		return err
	}
	return Scan(found, func() error {
		var id uint64
		var last int64
		var n int
		if err := found.Scan(&id, &n, &last); err != nil {
			return err
		}
		at[id].Uses, at[id].LastUsed = n, time.UnixMicro(last).UTC()
		return nil
	})
}

// inheritFactRecord copies the provenance of an extracted version to a version that a caller wrote over it:
// erasing a turn also erases the versions derived from it. If the caller changed the text, the new
// version has no known value and the turn does not count as its source.
func inheritFactRecord(ctx context.Context, tx *Tx, r record, version int, old int64) error {
	if r.facts.attributes != nil {
		return nil
	}
	for _, q := range []string{
		`INSERT INTO facts (item, namespace, user, flags, kind, words, subject, attribute, value, about)
			SELECT i.id, f.namespace, i.user, ?1, f.kind, ?2, f.subject, f.attribute,
				CASE WHEN f.words = ?2 THEN f.value ELSE '' END,
				CASE WHEN f.words = ?2 THEN f.about ELSE json_remove(f.about, '$.value') END
			FROM facts f JOIN items i ON i.namespace = ?3 AND i.kind = ?4 AND i.key = ?5 AND i.version = ?6
			WHERE f.item = ?7 AND f.kind <> ''
			ON CONFLICT (item) DO UPDATE SET kind = excluded.kind, words = excluded.words, subject = excluded.subject,
				attribute = excluded.attribute, value = excluded.value, about = excluded.about`,
		`INSERT INTO provenance (item, turn, message, start, stop, source, at)
			SELECT i.id, p.turn, p.message, p.start, p.stop, CASE WHEN p.source = 1 AND f.words <> ?2 THEN 2 ELSE p.source END, p.at
			FROM provenance p JOIN facts f ON f.item = p.item
			JOIN items i ON i.namespace = ?3 AND i.kind = ?4 AND i.key = ?5 AND i.version = ?6 WHERE p.item = ?7`,
	} {
		if _, err := tx.ExecContext(ctx, q, r.facts.flags, analysis.StatementKey(r.content.Text), r.namespace,
			r.kind, r.key, version, old); err != nil {
			return err
		}
	}
	return nil
}

// isExtracted reports whether a version of a memory was extracted from a turn or derived from such a
// version.
func isExtracted(ctx context.Context, tx *Tx, item int64) (yes bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM facts WHERE item = ? AND kind <> '')`, item).Scan(&yes)
	return yes, err
}

// Facts implements [store.Facts].
func (s *Store) Facts(ctx context.Context, ns int64, user, agent string, ids []string, limit int) ([]ragctx.Memory, error) {
	var out []ragctx.Memory
	if len(ids) == 0 {
		return out, nil
	}
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+memoryColumns+`, i.id FROM json_each(?) w
			CROSS JOIN items i ON i.namespace = ? AND i.kind = ? AND i.key = w.value AND i.superseded IS NULL
			CROSS JOIN facts f ON f.item = i.id AND f.kind <> ''
			JOIN namespaces n ON n.id = i.namespace JOIN texts t ON t.item = i.id
			WHERE i.user = ? AND i.agent = ? AND (i.expires IS NULL OR i.expires > ?) ORDER BY w.id LIMIT ?`,
			jsonArray(ids), ns, store.KindMemories, user, agent, s.now().UnixMicro(), limit)
		if err != nil {
			return err
		}
		var items []uint64
		err = Scan(rows, func() error {
			var id uint64
			m, err := scanMemory(rows, &id)
			out, items = append(out, m), append(items, id)
			return err
		})
		if err != nil || len(items) == 0 {
			return err
		}
		return loadFactRecords(ctx, tx, items, out)
	})
	if err != nil {
		return nil, failed("read facts", err)
	}
	return out, nil
}
