package store

import (
	"context"
	"database/sql"

	"github.com/ragctx/ragctx/passage"
	"github.com/ragctx/ragctx/providers/memory"
)

// HasFacts reports whether anything was ever found in the turns of a namespace.
func (s *Store) HasFacts(ctx context.Context, ns int64) (yes bool, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM facts WHERE namespace = ? AND kind <> '')`, ns).Scan(&yes)
	})
	if err != nil {
		return false, failed("look for facts", err)
	}
	return yes, nil
}

// ToldIn returns the units of the turns that facts were found in, by the facts' units:
// those of the current episode of the turn that the words are from, in order. Units of
// other items are left out, and so are those whose episode is not there any more.
func (s *Store) ToldIn(ctx context.Context, ns int64, units []uint64) (map[uint64][]passage.Unit, error) {
	out := make(map[uint64][]passage.Unit)
	if len(units) == 0 {
		return out, nil
	}
	in, args := list(units)
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT f.id, u.id, u.item, u.ordinal, u.text FROM units f
			JOIN facts k ON k.item = f.item AND k.kind <> ''
			JOIN provenance p ON p.item = f.item AND p.source = 1
			JOIN items t ON t.namespace = ? AND t.kind = ? AND t.key = p.turn AND t.superseded IS NULL
			JOIN units u ON u.item = t.id
			WHERE f.id IN (`+in+`) ORDER BY f.id, u.ordinal`, append([]any{ns, Memories}, args...)...) //nolint:gosec // placeholders
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var fact uint64
			var u passage.Unit
			err := rows.Scan(&fact, &u.ID, &u.Item, &u.Ordinal, &u.Text)
			out[fact] = append(out[fact], u)
			return err
		})
	})
	if err != nil {
		return nil, failed("read the turns of facts", err)
	}
	return out, nil
}

// FactsOf returns what was found in turns, by the turns' ids: facts that are current at
// a time of asking, and those that others have superseded, with what superseded them.
func (s *Store) FactsOf(ctx context.Context, ns int64, turns []string, f MemoryFilter) (map[string][]memory.Fact, error) {
	out := make(map[string][]memory.Fact)
	at := f.Now
	if !f.AsOf.IsZero() {
		at = f.AsOf
	}
	c := conditions{sql: `i.namespace = ? AND i.recorded <= ?`, args: []any{at.UnixMicro(), each(turns), ns, at.UnixMicro()}}
	f.scope(&c)
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT p.turn, i.key, x.text, k.about, i.occurred, coalesce(CASE WHEN h.at <= ? THEN y.text END, '')
			FROM json_each(?) w JOIN provenance p ON p.turn = w.value JOIN items i ON i.id = p.item
			JOIN facts k ON k.item = i.id AND k.kind <> ''
			JOIN texts x ON x.item = i.id
			LEFT JOIN history h ON h.namespace = i.namespace AND h.key = i.key AND h.op = 'superseded' AND h.before = i.version
				AND NOT EXISTS (SELECT 1 FROM history d WHERE d.namespace = h.namespace AND d.key = h.key AND d.undid = h.id)
			LEFT JOIN items j ON j.namespace = i.namespace AND j.kind = i.kind AND j.key = h.other AND j.superseded IS NULL
			LEFT JOIN texts y ON y.item = j.id
			WHERE `+c.sql+` AND (i.superseded IS NULL OR i.superseded > ? OR h.id IS NOT NULL)
			ORDER BY p.turn, p.message, p.start, i.key`, append(c.args, at.UnixMicro())...) //nolint:gosec // of constants
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var turn, about string
			var occurred sql.NullInt64
			var fact memory.Fact
			err := rows.Scan(&turn, &fact.ID, &fact.Content, &about, &occurred, &fact.Since)
			fact.About, fact.Occurred = decode[memory.About](about), moment(occurred)
			out[turn] = append(out[turn], fact)
			return err
		})
	})
	if err != nil {
		return nil, failed("read what was found in turns", err)
	}
	return out, nil
}
