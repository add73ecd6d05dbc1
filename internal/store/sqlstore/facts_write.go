package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// StoreFacts implements [store.Facts].
func (s *Store) StoreFacts(ctx context.Context, ns int64, lessons []store.ExtractedFact,
	dry bool,
) (out []store.FactOutcome, seq uint64, err error) {
	err = s.write.doIn(ctx, ns, High, func(ctx context.Context, tx *Tx) error {
		out, seq = make([]store.FactOutcome, len(lessons)), 0
		for i, l := range lessons {
			c := factWriter{Store: s, tx: tx, ns: ns, fact: l, dry: dry}
			var err error
			if out[i], err = c.store(ctx); err != nil {
				return err
			}
			seq = max(seq, c.seq)
		}
		if dry {
			return errDry
		}
		return nil
	})
	if errors.Is(err, errDry) {
		return out, 0, nil
	}
	if err != nil {
		return nil, 0, failed("store facts", err)
	}
	return out, seq, nil
}

// errDry rolls back a transaction.
var errDry = errors.New("dry run")

// factWriter stores one fact within a transaction.
type factWriter struct {
	*Store

	tx   *Tx
	ns   int64
	fact store.ExtractedFact
	dry  bool
	seq  uint64
}

func (c *factWriter) store(ctx context.Context) (store.FactOutcome, error) {
	m := &c.fact.Memory
	known, err := false, error(nil)
	if !c.fact.Remains {
		known, err = c.extractedBefore(ctx)
	}
	if err == nil && !known && !c.dry {
		known, err = c.turnErased(ctx)
	}
	if err != nil || known {
		return store.FactOutcome{}, err
	}
	if c.fact.Quarantine != "" {
		err := c.quarantine(ctx)
		return store.FactOutcome{ID: m.ID, Op: ragctx.OpQuarantined}, err
	}
	same, err := c.duplicate(ctx)
	if err != nil {
		return store.FactOutcome{}, err
	}
	if same != nil {
		return c.merge(ctx, *same)
	}
	others, err := c.superseded(ctx)
	if err != nil {
		return store.FactOutcome{}, err
	}
	if err := c.chooseID(ctx); err != nil {
		return store.FactOutcome{}, err
	}
	w, err := c.putVersion(ctx, c.tx, memoryRecord(c.ns, *m, c.fact.Content), nil)
	if err != nil {
		return store.FactOutcome{}, err
	}
	c.seq = max(c.seq, w.seq)
	out := store.FactOutcome{ID: m.ID, Op: ragctx.OpCreated}
	if err := c.record(ctx, historyEntry{key: m.ID, op: ragctx.OpCreated, version: w.version}); err != nil {
		return out, err
	}
	for _, o := range others {
		if o.at.After(m.Sources[0].At) && !o.named {
			out.Op = ragctx.OpSuperseded
			return out, c.supersede(ctx, m.ID, w.version, o.key)
		}
	}
	for _, o := range others {
		if err := c.supersede(ctx, o.key, o.version, m.ID); err != nil {
			return out, err
		}
		out.Superseded = append(out.Superseded, o.key)
	}
	return out, nil
}

// chooseID chooses another id for the memory while its own is taken: ids are predictable.
func (c *factWriter) chooseID(ctx context.Context) error {
	m := &c.fact.Memory
	for {
		old, err := findCurrent(ctx, c.tx, c.ns, store.KindMemories, m.ID)
		if err != nil {
			return err
		}
		if old == nil {
			if err := checkIDFree(ctx, c.tx, c.ns, m.ID, m.UserID); !errors.Is(err, ragctx.ErrConflict) {
				return err
			}
		}
		m.ID += "+"
	}
}

// turnErased reports whether the turn was erased during the extraction.
func (c *factWriter) turnErased(ctx context.Context) (yes bool, err error) {
	err = c.tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM turns WHERE namespace = ? AND key = ?)`,
		c.ns, c.fact.Memory.Sources[0].Turn).Scan(&yes)
	return yes, err
}

// extractedBefore reports whether the fact was extracted from this turn before: it is or was a memory, or in
// quarantine, possibly under another id; see [factWriter.chooseID].
func (c *factWriter) extractedBefore(ctx context.Context) (yes bool, err error) {
	m := &c.fact.Memory
	a := m.About
	err = c.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM provenance p CROSS JOIN facts f ON f.item = p.item
			CROSS JOIN items i ON i.id = p.item AND i.seq > 0 WHERE p.turn = ?1 AND f.namespace = ?2 AND f.user = ?3
			AND (f.words = ?4 OR f.attribute <> '' AND f.subject = ?5 AND f.attribute = ?6 AND f.value = ?7))
		OR EXISTS (SELECT 1 FROM history WHERE namespace = ?2 AND turn = ?1 AND op = 'quarantined' AND rtrim(key, '+') = ?8)`,
		m.Sources[0].Turn, c.ns, m.UserID, analysis.StatementKey(m.Content), analysis.StatementKey(a.Subject),
		analysis.StatementKey(a.Attribute), analysis.StatementKey(a.Value),
		m.ID).Scan(&yes)
	return yes, err
}

// related is an existing memory related to the fact.
type related struct {
	id      int64
	key     string
	version int
	at      time.Time // of the turn that its text comes from
	named   bool      // listed in Supersedes
}

const (
	relatedColumns = `i.id, i.key, i.version, coalesce((SELECT max(p.at) FROM provenance p WHERE p.item = i.id), i.occurred)`
	currentFacts   = ` FROM facts f JOIN items i ON i.id = f.item AND i.superseded IS NULL AND (i.expires IS NULL OR i.expires > ?)
		WHERE f.namespace = ? AND f.user = ? AND i.agent = ? AND f.kind <> ''`
	currentMemories = ` FROM items i WHERE i.superseded IS NULL AND (i.expires IS NULL OR i.expires > ?)
		AND i.namespace = ? AND i.user = ? AND i.agent = ?`
	byKey = ` AND f.item = (SELECT b.id FROM items b WHERE b.namespace = ? AND b.kind = ? AND b.key = ? AND b.superseded IS NULL)`
)

// find returns current facts of the same user and agent, oldest first.
func (c *factWriter) find(ctx context.Context, where string, args ...any) (all []related, err error) {
	return c.query(ctx, currentFacts+where, args...)
}

// query returns current memories of the same user and agent, oldest first.
func (c *factWriter) query(ctx context.Context, from string, args ...any) (all []related, err error) {
	m := &c.fact.Memory
	rows, err := c.tx.QueryContext(ctx, `SELECT `+relatedColumns+from+` ORDER BY i.id`,
		append([]any{c.now().UnixMicro(), c.ns, m.UserID, m.AgentID}, args...)...)
	if err != nil {
		return nil, err
	}
	err = Scan(rows, func() error {
		var o related
		var at sql.NullInt64
		err := rows.Scan(&o.id, &o.key, &o.version, &at)
		o.at = moment(at)
		all = append(all, o)
		return err
	})
	return all, err
}

// duplicate returns a memory with the same content: the same text, the same value of the same attribute,
// or the memory Near. It returns nil if none exists.
func (c *factWriter) duplicate(ctx context.Context) (*related, error) {
	m := &c.fact.Memory
	all, err := c.find(ctx, ` AND f.words = ?`, analysis.StatementKey(m.Content))
	if err == nil && len(all) == 0 && m.About.Attribute != "" {
		all, err = c.find(ctx, ` AND f.subject = ? AND f.attribute = ? AND f.attribute <> '' AND f.value = ? AND f.kind = ?`,
			analysis.StatementKey(m.About.Subject), analysis.StatementKey(m.About.Attribute),
			analysis.StatementKey(m.About.Value), m.About.Kind)
	}
	if err == nil && len(all) == 0 && c.fact.Near != "" {
		all, err = c.find(ctx, byKey, c.ns, store.KindMemories, c.fact.Near)
	}
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// superseded returns the memories that the fact may supersede.
func (c *factWriter) superseded(ctx context.Context) ([]related, error) {
	m := &c.fact.Memory
	var all []related
	for _, id := range c.fact.Supersedes {
		found, err := c.query(ctx, currentMemories+` AND i.kind = ? AND i.key = ?`, store.KindMemories, id)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			o.named = true
			all = append(all, o)
		}
	}
	if !m.About.Exclusive || m.About.Attribute == "" {
		return all, nil
	}
	found, err := c.find(ctx, ` AND f.subject = ? AND f.attribute = ? AND f.attribute <> ''`, analysis.StatementKey(m.About.Subject),
		analysis.StatementKey(m.About.Attribute))
	for _, o := range found {
		if !slices.ContainsFunc(all, func(a related) bool { return a.key == o.key }) {
			all = append(all, o)
		}
	}
	return all, err
}

// merge adds the sources of the fact to a memory.
func (c *factWriter) merge(ctx context.Context, o related) (store.FactOutcome, error) {
	var fresh bool
	for _, e := range c.fact.Memory.Sources {
		added, err := insertProvenance(ctx, c.tx, o.id, e, false)
		if err != nil {
			return store.FactOutcome{}, err
		}
		fresh = fresh || added
	}
	if !fresh {
		return store.FactOutcome{ID: o.key}, nil
	}
	return store.FactOutcome{ID: o.key, Op: ragctx.OpMerged},
		c.record(ctx, historyEntry{key: o.key, op: ragctx.OpMerged, version: o.version, before: o.version})
}

// supersede ends a memory in favour of another.
func (c *factWriter) supersede(ctx context.Context, key string, version int, by string) error {
	old, err := findCurrent(ctx, c.tx, c.ns, store.KindMemories, key)
	if err != nil || old == nil {
		return err
	}
	seq, err := c.endVersion(ctx, c.tx, c.ns, store.KindMemories, old.id)
	if err != nil {
		return err
	}
	c.seq = max(c.seq, seq)
	return c.record(ctx, historyEntry{key: key, op: ragctx.OpSuperseded, before: version, other: by})
}

// record adds a history event caused by the fact.
func (c *factWriter) record(ctx context.Context, e historyEntry) error {
	m := &c.fact.Memory
	e.by, e.turn, e.reason = c.fact.By, m.Sources[0].Turn, m.About.Reason
	return c.recordHistory(ctx, c.tx, c.ns, e)
}
