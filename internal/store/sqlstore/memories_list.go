package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// said is the time of [store.Said] of row i of items.
const said = `coalesce((SELECT min(p.at) FROM provenance p WHERE p.item = i.id), i.occurred, 0)`

// memoryScore is the score of row i of items. Its arguments are the weights of importance and recency, the
// time, and the decay as a float.
const memoryScore = `? * i.importance + ? * exp(-max(0, ? - i.occurred) / CAST(? AS DOUBLE PRECISION))`

// sortKey returns the SQL of the number that memories are sorted by, descending, and its arguments.
func sortKey(f store.MemoryFilter) (string, []any) {
	switch f.Order {
	case store.ByRecency:
		return `CAST(coalesce(i.occurred, 0) AS DOUBLE PRECISION)`, nil
	case store.BySaid:
		return `CAST(` + said + ` AS DOUBLE PRECISION)`, nil
	case store.ByImportance:
		return `i.importance`, nil
	case store.ByID:
		return `CAST(0 AS DOUBLE PRECISION)`, nil
	default:
		w := f.Weights.WithDefaults()
		return memoryScore, []any{w.Importance, w.Recency, f.Now.UnixMicro(), float64(w.Decay.Microseconds())}
	}
}

// ListMemories implements [store.Memories].
func (s *Store) ListMemories(ctx context.Context, ns int64, f store.MemoryFilter) ([]ragctx.Memory, error) {
	out := []ragctx.Memory{}
	err := s.view(ctx, func(tx *Tx) error {
		if none, err := noneFlagged(ctx, tx, ns, f); none || err != nil {
			return err
		}
		query, args := memoriesQuery(f, ns)
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		var ids []uint64
		err = Scan(rows, func() error {
			var id uint64
			var score float64
			m, err := scanMemory(rows, &score, &id)
			if m.Score, m.State = score, cmp.Or(f.State, ragctx.MemoryActive); f.Order != store.ByScore {
				m.Score = f.Weights.Score(m.Importance, f.Now.Sub(m.Occurred))
			}
			out, ids = append(out, m), append(ids, id)
			return err
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		return loadFactRecords(ctx, tx, ids, out)
	})
	if err != nil {
		return nil, failed("list memories", err)
	}
	return out, nil
}

// noneFlagged reports whether the filter asks for flagged memories and the namespace has none for the user. Every
// answer asks for them, and the full statement takes ten times as long to find nothing.
func noneFlagged(ctx context.Context, tx *Tx, ns int64, f store.MemoryFilter) (none bool, err error) {
	if !f.Pinned && !f.Profile {
		return false, nil
	}
	c := conditions{sql: `i.namespace = ? AND i.flags <> 0`, args: []any{ns}}
	addUser(&c, f)
	err = tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM facts i WHERE `+c.sql+`)`, c.args...).Scan(&none)
	return none, err
}

// memoriesQuery returns the statement of a list and its arguments.
func memoriesQuery(f store.MemoryFilter, ns int64) (string, []any) {
	where, conditions := memoriesWhere(f, ns)
	key, args := sortKey(f)
	args = append(args, conditions...)
	by := `score DESC, i.key`
	if f.Order == store.ByID {
		by = `i.key` // the order of the index
	}
	return `WITH scored AS MATERIALIZED (
			SELECT i.id, i.key, ` + key + ` AS score
			FROM items i WHERE ` + where + ` ORDER BY ` + by + ` LIMIT ?)
		SELECT ` + memoryColumns + `, s.score, s.id FROM scored s JOIN items i ON i.id = s.id
		JOIN namespaces n ON n.id = i.namespace JOIN texts t ON t.item = i.id ORDER BY s.score DESC, s.key`, append(args, f.Limit)
}

// memoriesWhere returns the conditions on row i of items and their arguments.
func memoriesWhere(f store.MemoryFilter, ns int64) (string, []any) {
	c := conditions{sql: `i.namespace = ? AND i.kind = ?`, args: []any{ns, store.KindMemories}}
	addState(&c, f)
	addScope(&c, f)
	addKind(&c, f)
	if len(f.Exclude) > 0 {
		c.and(`i.key NOT IN (SELECT value FROM json_each(?))`, jsonArray(f.Exclude))
	}
	c.filter(f.Filter)
	switch {
	case f.After.ID == "":
	case f.Order == store.ByID:
		c.and(`i.key > ?`, f.After.ID)
	default:
		key, args := sortKey(f)
		c.and(`(`+key+` < ?`, append(slices.Clone(args), f.After.Score)...)
		c.sql += ` OR ` + key + ` = ? AND i.key > ?)`
		c.args = append(append(c.args, args...), f.After.Score, f.After.ID)
	}
	return c.sql, c.args
}

// addState adds the condition on the memories' state.
func addState(c *conditions, f store.MemoryFilter) {
	at := f.Now.UnixMicro()
	switch {
	case f.State == ragctx.MemoryExpired:
		c.and(`i.superseded IS NULL AND i.expires <= ?`, at)
		return
	case f.State == ragctx.MemorySuperseded:
		c.and(lastVersion + ` = 'superseded'`)
		return
	case f.State == ragctx.MemoryDeleted:
		c.and(lastVersion + ` <> 'superseded'`)
		return
	case f.AsOf.IsZero():
		c.and(`i.superseded IS NULL`)
	default:
		at = f.AsOf.UnixMicro()
		c.and(`i.recorded <= ? AND (i.superseded IS NULL OR i.superseded > ?)`, at, at)
	}
	c.and(`(i.expires IS NULL OR i.expires > ?)`, at)
}

// lastVersion is the condition on the last version of a memory that is no longer current, and its
// last operation.
const lastVersion = `i.superseded IS NOT NULL AND i.seq > 0 AND NOT EXISTS (SELECT 1 FROM items n
		WHERE n.namespace = i.namespace AND n.kind = i.kind AND n.key = i.key AND n.version > i.version AND n.seq > 0)
	AND coalesce((SELECT h.op FROM history h WHERE h.namespace = i.namespace AND h.key = i.key ORDER BY h.id DESC LIMIT 1), '')`

// addUser adds the condition on the user of row i.
func addUser(c *conditions, f store.MemoryFilter) {
	switch {
	case f.Own:
		c.and(`i.user = ?`, f.UserID)
	case !f.AnyUser:
		c.and(`i.user IN ('', ?)`, f.UserID)
	}
}

// addScope adds the conditions on user, agent and session.
func addScope(c *conditions, f store.MemoryFilter) {
	addUser(c, f)
	if f.AgentID != "" {
		c.and(`i.agent = ?`, f.AgentID)
	}
	for _, id := range [...]string{f.SessionID, f.Filter.SessionID} {
		if id != "" {
			c.and(`i.session = ? AND i.session <> ''`, id) // makes the index of sessions apply
		}
	}
}

// addKind adds the conditions on the memories' contents.
func addKind(c *conditions, f store.MemoryFilter) {
	if len(f.Types) > 0 {
		c.and(`i.type IN (SELECT value FROM json_each(?))`, jsonArray(f.Types))
	}
	if f.MinImportance > 0 {
		c.and(`i.importance >= ?`, f.MinImportance)
	}
	if len(f.AnyTags) > 0 {
		c.and(`EXISTS (SELECT 1 FROM json_each(i.tags) w WHERE w.value IN (SELECT value FROM json_each(?)))`, jsonArray(f.AnyTags))
	}
	if f.Contains != "" {
		c.and(`EXISTS (SELECT 1 FROM texts x WHERE x.item = i.id AND instr(lower(x.text), lower(?)) > 0)`, f.Contains)
	}
	if len(f.Kinds) > 0 {
		c.and(`EXISTS (SELECT 1 FROM facts k WHERE k.item = i.id AND k.kind IN (SELECT value FROM json_each(?)))`, jsonArray(f.Kinds))
	}
	if !f.SaidAfter.IsZero() {
		c.and(said+` >= ?`, ceilMicros(f.SaidAfter))
	}
	if !f.SaidBefore.IsZero() {
		c.and(said+` < ?`, ceilMicros(f.SaidBefore))
	}
	if f.Distilled {
		c.and(`NOT EXISTS (SELECT 1 FROM provenance p JOIN facts k ON k.item = p.item AND k.namespace = i.namespace AND k.kind <> ''
			WHERE p.turn = i.key AND p.source = 1)`)
	}
	if f.Profile {
		c.and(`i.id IN (SELECT k.item FROM facts k WHERE k.namespace = i.namespace AND k.flags <> 0 AND k.flags & 1 <> 0)`)
	}
	if f.Pinned {
		c.and(`i.id IN (SELECT k.item FROM facts k WHERE k.namespace = i.namespace AND k.flags <> 0 AND k.flags & 2 <> 0)`)
	}
}

// conditions builds a WHERE clause.
type conditions struct {
	sql  string
	args []any
}

func (c *conditions) and(cond string, args ...any) {
	c.sql += " AND " + cond
	c.args = append(c.args, args...)
}

// filter adds the conditions of a filter, equivalent to package index.
func (c *conditions) filter(f ragctx.Filter) {
	if len(f.Tags) > 0 {
		c.and(`NOT EXISTS (SELECT 1 FROM json_each(?) w
			WHERE w.value NOT IN (SELECT value FROM json_each(i.tags)))`, jsonArray(f.Tags))
	}
	if len(f.Metadata) > 0 {
		// Like [store.Strings]: values other than text compare as JSON.
		c.and(`NOT EXISTS (SELECT 1 FROM json_each(?) w WHERE NOT EXISTS (SELECT 1 FROM json_each(i.metadata) m
			WHERE m.key = w.key AND w.value = CASE m.type WHEN 'text' THEN m.value
				WHEN 'null' THEN NULL WHEN 'array' THEN NULL WHEN 'object' THEN NULL
				ELSE i.metadata -> m.fullkey END))`, jsonArray(f.Metadata))
	}
	if len(f.Sources) > 0 {
		c.and(`EXISTS (SELECT 1 FROM json_each(?) w WHERE i.source = w.value
			OR w.value LIKE '%*' AND substr(i.source, 1, length(w.value) - 1) = substr(w.value, 1, length(w.value) - 1))`,
			jsonArray(f.Sources))
	}
	if !f.OccurredAfter.IsZero() {
		c.and(`i.occurred >= ?`, ceilMicros(f.OccurredAfter))
	}
	if !f.OccurredBefore.IsZero() {
		c.and(`i.occurred < ?`, ceilMicros(f.OccurredBefore))
	}
}

// ceilMicros returns the first stored time that is not before t.
func ceilMicros(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

// jsonArray returns strings as an argument of json_each.
func jsonArray(v any) string {
	b, _ := json.Marshal(v) // strings: cannot fail
	return string(b)
}
