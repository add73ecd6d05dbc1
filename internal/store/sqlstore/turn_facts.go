package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

// HasFacts implements [store.Facts].
func (s *Store) HasFacts(ctx context.Context, ns int64) (yes bool, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM facts WHERE namespace = ? AND kind <> '')`, ns).Scan(&yes)
	})
	if err != nil {
		return false, failed("find facts", err)
	}
	return yes, nil
}

// ChunksOfFacts implements [store.Facts].
func (s *Store) ChunksOfFacts(ctx context.Context, ns int64, units []uint64, now time.Time) (map[uint64][]passage.Chunk, error) {
	out := make(map[uint64][]passage.Chunk)
	if len(units) == 0 {
		return out, nil
	}
	in, args := placeholders(units)
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT f.id, u.id, u.item, u.ordinal, u.text FROM units f
			CROSS JOIN facts k ON k.item = f.item AND k.kind <> ''
			CROSS JOIN provenance p ON p.item = f.item AND p.source = 1
			CROSS JOIN items t ON t.namespace = ? AND t.kind = ? AND t.key = p.turn AND t.superseded IS NULL
				AND t.user = k.user AND (t.expires IS NULL OR t.expires > ?)
			CROSS JOIN units u ON u.item = t.id
			WHERE f.id IN (`+in+`) ORDER BY f.id, u.ordinal`, append([]any{ns, store.KindMemories, now.UnixMicro()},
			args...)...) //nolint:gosec // placeholders
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var fact uint64
			var u passage.Chunk
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

// FactsOfTurns implements [store.Facts].
func (s *Store) FactsOfTurns(ctx context.Context, ns int64, turns []string, f store.MemoryFilter) (map[string][]ragctx.TurnFact, error) {
	out := make(map[string][]ragctx.TurnFact)
	at := f.Now
	if !f.AsOf.IsZero() {
		at = f.AsOf
	}
	c := conditions{sql: `i.namespace = ? AND i.recorded <= ?`, args: []any{jsonArray(turns), ns, at.UnixMicro()}}
	addScope(&c, f)
	err := s.view(ctx, func(tx *Tx) error {
		all, err := selectTurnFacts(ctx, tx, c, at)
		for _, x := range all {
			if err == nil && x.ended {
				x.SupersededBy, err = successor(ctx, tx, ns, x, at)
			} else if x.reworded {
				x.SupersededBy = x.Content
			}
			if err != nil {
				return err
			}
			if x.ended && x.SupersededBy == "" || slices.ContainsFunc(out[x.turn], func(o ragctx.TurnFact) bool { return o.ID == x.ID }) {
				continue // deleted, or extracted from several passages of the turn
			}
			out[x.turn] = append(out[x.turn], x.TurnFact)
		}
		return err
	})
	if err != nil {
		return nil, failed("read facts of turns", err)
	}
	return out, nil
}

// turnFact is a fact and the turn it was extracted from.
type turnFact struct {
	ragctx.TurnFact

	turn, user, agent string
	// ended means that the version is no longer current, reworded that a caller has changed its
	// text.
	ended, reworded bool
}

// selectTurnFacts reads the facts of turns, once for each passage of the turn.
func selectTurnFacts(ctx context.Context, tx *Tx, c conditions, at time.Time) ([]turnFact, error) {
	rows, err := tx.QueryContext(ctx, `SELECT p.turn, p.source = 2, i.key, i.user, i.agent, x.text, k.about, i.occurred,
			i.superseded IS NOT NULL AND i.superseded <= `+strconv.FormatInt(at.UnixMicro(), 10)+`
		FROM json_each(?) w CROSS JOIN provenance p ON p.turn = w.value CROSS JOIN items i ON i.id = p.item AND i.seq > 0
		CROSS JOIN facts k ON k.item = i.id AND k.kind <> '' CROSS JOIN texts x ON x.item = i.id
		WHERE `+c.sql+` ORDER BY p.turn, i.superseded IS NOT NULL, p.message, p.start, i.key`,
		c.args...) //nolint:gosec // of constants and a number
	if err != nil {
		return nil, err
	}
	var all []turnFact
	err = Scan(rows, func() error {
		var x turnFact
		var about string
		var occurred sql.NullInt64
		err := rows.Scan(&x.turn, &x.reworded, &x.ID, &x.user, &x.agent, &x.Content, &about, &occurred, &x.ended)
		x.About, x.Occurred = decode[ragctx.FactRecord](about), moment(occurred)
		all = append(all, x)
		return err
	})
	return all, err
}

// maxSuccessors limits the length of a chain of superseded memories.
const maxSuccessors = 16

// successor returns the replacement of a fact at a time: the text of the current memory at the end
// of its chain of successors, "" if none exists. All of them belong to the fact's owner.
func successor(ctx context.Context, tx *Tx, ns int64, x turnFact, at time.Time) (text string, err error) {
	err = tx.QueryRowContext(ctx, `WITH RECURSIVE chain (key, n) AS (
			SELECT ?1, 0 UNION ALL
			SELECT h.other, c.n + 1 FROM chain c CROSS JOIN history h ON h.namespace = ?2 AND h.key = c.key
			WHERE h.op = 'superseded' AND h.other <> '' AND h.at <= ?3 AND c.n < ?4
			AND NOT EXISTS (SELECT 1 FROM history d WHERE d.namespace = h.namespace AND d.key = h.key AND d.undid = h.id))
		SELECT t.text FROM chain c CROSS JOIN items i ON i.namespace = ?2 AND i.kind = ?5 AND i.key = c.key AND i.seq > 0
		CROSS JOIN facts k ON k.item = i.id AND k.kind <> '' CROSS JOIN texts t ON t.item = i.id
		WHERE c.n > 0 AND i.user = ?6 AND i.agent = ?7 AND i.recorded <= ?3 AND (i.superseded IS NULL OR i.superseded > ?3)
			AND (i.expires IS NULL OR i.expires > ?3)
		ORDER BY c.n DESC LIMIT 1`, x.ID, ns, at.UnixMicro(), maxSuccessors, store.KindMemories, x.user, x.agent).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return text, err
}
