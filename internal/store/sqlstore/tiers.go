package sqlstore

import (
	"cmp"
	"context"
	"math"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// trimWorking ends excess working memories, lowest score first, then oldest first.
func (s *Store) trimWorking(ctx context.Context, tx *Tx, ns int64, m ragctx.Memory, tier store.Tier) (seq uint64, err error) {
	w := tier.Weights.WithDefaults()
	now := s.now().UnixMicro()
	all, err := selectPrunable(ctx, tx, `SELECT i.id, i.key, i.version, 'there are too many working memories' FROM items i
		WHERE i.namespace = ? AND i.kind = ? AND i.user = ? AND i.agent = ? AND i.session = ? AND i.type = 'working'
		AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.item = i.id AND f.flags & 2 <> 0)
		AND i.superseded IS NULL AND (i.expires IS NULL OR i.expires > ?)
		ORDER BY `+memoryScore+` DESC, i.id DESC LIMIT ? OFFSET ?`,
		ns, store.KindMemories, m.UserID, m.AgentID, m.SessionID, now, w.Importance, w.Recency, now, float64(w.Decay.Microseconds()),
		noLimit, cmp.Or(tier.Working, ragctx.DefaultWorkingMemories))
	if err != nil {
		return 0, err
	}
	return s.endAll(ctx, tx, ns, all)
}

// prunable is a memory that a policy ends.
type prunable struct {
	id      int64
	key     string
	version int
	reason  string
}

func selectPrunable(ctx context.Context, tx *Tx, query string, args ...any) (all []prunable, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	err = Scan(rows, func() error {
		var d prunable
		err := rows.Scan(&d.id, &d.key, &d.version, &d.reason)
		all = append(all, d)
		return err
	})
	return all, err
}

// endAll ends memories by a policy.
func (s *Store) endAll(ctx context.Context, tx *Tx, ns int64, all []prunable) (seq uint64, err error) {
	for _, d := range all {
		if seq, err = s.endVersion(ctx, tx, ns, store.KindMemories, d.id); err != nil {
			return seq, err
		}
		err = s.recordHistory(ctx, tx, ns, historyEntry{
			key: d.key, op: ragctx.OpPruned, before: d.version, by: ragctx.ByPolicy,
			reason: d.reason,
		})
		if err != nil {
			return seq, err
		}
	}
	return seq, nil
}

// MemoryStats implements [store.Memories].
func (s *Store) MemoryStats(ctx context.Context, ns int64, f store.MemoryFilter, shortTerm int) (store.MemoryStats, error) {
	st := store.MemoryStats{ByType: map[string]int{}, ByKind: map[string]int{}}
	err := s.view(ctx, func(tx *Tx) error {
		where, args := memoriesWhere(f, ns)
		if err := countBy(ctx, tx, st.ByType, `SELECT i.type, count(*) FROM items i WHERE `+where+` GROUP BY 1`, args...); err != nil {
			return err
		}
		if err := countBy(ctx, tx, st.ByKind, `SELECT f.kind, count(*) FROM items i JOIN facts f ON f.item = i.id
			WHERE `+where+` AND f.kind <> '' GROUP BY 1`, args...); err != nil {
			return err
		}
		for _, n := range st.ByType {
			st.LongTerm += n
		}
		c := conditions{sql: `i.namespace = ?`, args: []any{ns}}
		addScope(&c, f)
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM quarantine i WHERE `+c.sql, c.args...).Scan(&st.Quarantined); err != nil {
			return err
		}
		c = conditions{sql: `i.namespace = ? AND i.kind = ? AND i.seq > 0
			AND i.superseded IS NOT NULL`, args: []any{ns, store.KindMemories}}
		addScope(&c, f)
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM items i WHERE `+c.sql, c.args...).Scan(&st.Superseded)
	})
	if err != nil {
		return st, failed("count memories", err)
	}
	st.Working, st.ShortTerm = st.ByType[string(ragctx.MemoryWorking)], min(st.LongTerm, shortTerm)
	return st, nil
}

func countBy(ctx context.Context, tx *Tx, into map[string]int, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // Scan closes it
	if err != nil {
		return err
	}
	return Scan(rows, func() error {
		var name string
		var n int
		err := rows.Scan(&name, &n)
		into[name] = n
		return err
	})
}

// PruneMemories implements [store.Memories].
func (s *Store) PruneMemories(
	ctx context.Context, ns int64, f store.MemoryFilter, p ragctx.PrunePolicy, dry bool, limit int,
) (ids []string, seq uint64, err error) {
	work := func(ctx context.Context, tx *Tx) error {
		query, args := pruning(p, ns, f, limit)
		all, err := selectPrunable(ctx, tx, query, args...)
		ids = make([]string, len(all))
		for i, d := range all {
			ids[i] = d.key
		}
		if err == nil && !dry {
			seq, err = s.endAll(ctx, tx, ns, all)
		}
		return err
	}
	if dry {
		err = s.view(ctx, func(tx *Tx) error { return work(ctx, tx) })
	} else {
		err = s.write.doIn(ctx, ns, Low, work)
	}
	if err != nil {
		return nil, 0, failed("prune memories", err)
	}
	return ids, seq, nil
}

// pruning returns the SQL of the memories that a policy ends, lowest score first.
func pruning(p ragctx.PrunePolicy, ns int64, f store.MemoryFilter, limit int) (string, []any) {
	where, args := memoriesWhere(f, ns)
	w := f.Weights.WithDefaults()
	all := append([]any{w.Importance, w.Recency, f.Now.UnixMicro(), float64(w.Decay.Microseconds())}, args...)
	oldest := int64(math.MinInt64) // nothing is older
	if p.MaxAge > 0 {
		oldest = f.Now.Add(-p.MaxAge).UnixMicro()
	}
	most := math.MaxInt
	if p.MaxItems > 0 {
		most = p.MaxItems
	}
	return `WITH scored AS (
			SELECT i.id, i.key, i.version, i.occurred, i.importance, ` + memoryScore + ` AS score
			FROM items i WHERE ` + where + ` AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.item = i.id AND f.flags & 2 <> 0)),
		judged AS (SELECT *, occurred < ? AND importance < ? AS old FROM scored),
		placed AS (SELECT *, row_number() OVER (ORDER BY old, score DESC, key) AS place FROM judged)
		SELECT id, key, version, CASE WHEN old THEN 'old and of little importance' ELSE 'there are too many memories' END
		FROM placed WHERE old OR place > ? ORDER BY score, key LIMIT ?`, append(all, oldest, p.MinImportance, most, limit)
}
