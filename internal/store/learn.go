package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// Lesson is something that was found in a turn, and what is to become of it.
type Lesson struct {
	Memory  memory.Memory // with About, and in Sources the place in the turn
	Content Content
	By      string // [memory.ByTurn] or [memory.ByLLM]
	// Near is a memory that says nearly the same; it is merged with it, if it is
	// still there. Supersedes are memories whose place it takes.
	Near       string
	Supersedes []string
	// Quarantine is why it is not believed, or "".
	Quarantine string
}

// Learned is what became of a lesson.
type Learned struct {
	ID string // of the memory that now says it; "" if there is none
	// Op is created, merged, superseded if a newer turn has said otherwise, quarantined,
	// or "" if nothing changed.
	Op memory.Op
	// Superseded are the memories whose place it took.
	Superseded []string
}

// Learn stores what was found in a turn, all or nothing. A memory of the same user and
// agent that says the same is merged with what is new: it has one more source. One
// that has another value of the same exclusive attribute is superseded, unless its
// turn is the later one. What was learnt from this turn before is not learnt again,
// also if somebody has deleted it. With dry nothing is stored.
func (s *Store) Learn(ctx context.Context, ns int64, lessons []Lesson, dry bool) (out []Learned, seq uint64, err error) {
	err = s.write.doIn(ctx, ns, High, func(ctx context.Context, tx *sql.Tx) error {
		out, seq = make([]Learned, len(lessons)), 0
		for i, l := range lessons {
			c := class{Store: s, tx: tx, ns: ns, lesson: l, dry: dry}
			var err error
			if out[i], err = c.learn(ctx); err != nil {
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
		return nil, 0, failed("learn", err)
	}
	return out, seq, nil
}

// errDry takes back what a transaction has done.
var errDry = errors.New("dry run")

// class is one lesson in its transaction.
type class struct {
	*Store

	tx     *sql.Tx
	ns     int64
	lesson Lesson
	dry    bool
	seq    uint64
}

func (c *class) learn(ctx context.Context) (Learned, error) {
	m := &c.lesson.Memory
	known, err := c.learnt(ctx)
	if err == nil && !known && !c.dry {
		known, err = c.gone(ctx)
	}
	if err != nil || known {
		return Learned{}, err
	}
	if c.lesson.Quarantine != "" {
		err := c.quarantine(ctx)
		return Learned{ID: m.ID, Op: memory.OpQuarantined}, err
	}
	same, err := c.same(ctx)
	if err != nil {
		return Learned{}, err
	}
	if same != nil {
		return c.merge(ctx, *same)
	}
	others, err := c.others(ctx)
	if err != nil {
		return Learned{}, err
	}
	if err := c.ownID(ctx); err != nil {
		return Learned{}, err
	}
	w, err := c.put(ctx, c.tx, memoryRecord(c.ns, *m, c.lesson.Content), nil)
	if err != nil {
		return Learned{}, err
	}
	c.seq = max(c.seq, w.seq)
	out := Learned{ID: m.ID, Op: memory.OpCreated}
	if err := c.noteOf(ctx, entry{key: m.ID, op: memory.OpCreated, version: w.version}); err != nil {
		return out, err
	}
	for _, o := range others {
		if o.at.After(m.Sources[0].At) && !o.named {
			out.Op = memory.OpSuperseded
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

// ownID gives the memory another id while its own is taken: ids can be foreseen.
func (c *class) ownID(ctx context.Context) error {
	m := &c.lesson.Memory
	for {
		old, err := findCurrent(ctx, c.tx, c.ns, Memories, m.ID)
		if err != nil {
			return err
		}
		if old == nil {
			if err := mayTake(ctx, c.tx, c.ns, m.ID, m.UserID); !errors.Is(err, ragctx.ErrConflict) {
				return err
			}
		}
		m.ID += "+"
	}
}

// gone reports whether the turn was erased while it was learnt from.
func (c *class) gone(ctx context.Context) (yes bool, err error) {
	err = c.tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM turns WHERE namespace = ? AND key = ?)`,
		c.ns, c.lesson.Memory.Sources[0].Turn).Scan(&yes)
	return yes, err
}

// learnt reports whether the turn has taught this before: what it says there is, or
// was, a memory, or is in quarantine, maybe under another id; see [class.ownID].
func (c *class) learnt(ctx context.Context) (yes bool, err error) {
	m := &c.lesson.Memory
	a := m.About
	err = c.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM provenance p CROSS JOIN facts f ON f.item = p.item
			CROSS JOIN items i ON i.id = p.item AND i.seq > 0 WHERE p.turn = ?1 AND f.namespace = ?2 AND f.user = ?3
			AND (f.words = ?4 OR f.attribute <> '' AND f.subject = ?5 AND f.attribute = ?6 AND f.value = ?7))
		OR EXISTS (SELECT 1 FROM history WHERE namespace = ?2 AND turn = ?1 AND op = 'quarantined' AND rtrim(key, '+') = ?8)`,
		m.Sources[0].Turn, c.ns, m.UserID, facts.Key(m.Content), facts.Key(a.Subject), facts.Key(a.Attribute), facts.Key(a.Value), m.ID).Scan(&yes)
	return yes, err
}

// other is a memory that a lesson meets.
type other struct {
	id      int64
	key     string
	version int
	at      time.Time // of the turn that its words are from
	named   bool      // by the lesson itself
}

const (
	otherColumns = `i.id, i.key, i.version, coalesce((SELECT max(p.at) FROM provenance p WHERE p.item = i.id), i.occurred)`
	currentFacts = ` FROM facts f JOIN items i ON i.id = f.item AND i.superseded IS NULL AND (i.expires IS NULL OR i.expires > ?)
		WHERE f.namespace = ? AND f.user = ? AND i.agent = ? AND f.kind <> ''`
	byKey = ` AND f.item = (SELECT b.id FROM items b WHERE b.namespace = ? AND b.kind = ? AND b.key = ? AND b.superseded IS NULL)`
)

// find returns current facts of the lesson's user and agent, oldest first.
func (c *class) find(ctx context.Context, where string, args ...any) (all []other, err error) {
	m := &c.lesson.Memory
	rows, err := c.tx.QueryContext(ctx, `SELECT `+otherColumns+currentFacts+where+` ORDER BY i.id`,
		append([]any{c.now().UnixMicro(), c.ns, m.UserID, m.AgentID}, args...)...)
	if err != nil {
		return nil, err
	}
	err = scan(rows, func() error {
		var o other
		var at sql.NullInt64
		err := rows.Scan(&o.id, &o.key, &o.version, &at)
		o.at = moment(at)
		all = append(all, o)
		return err
	})
	return all, err
}

// same returns a memory that says the same: in the same words, with the same value of
// the same attribute, or nearly, as the lesson names it. nil is none.
func (c *class) same(ctx context.Context) (*other, error) {
	m := &c.lesson.Memory
	all, err := c.find(ctx, ` AND f.words = ?`, facts.Key(m.Content))
	if err == nil && len(all) == 0 && m.About.Attribute != "" {
		all, err = c.find(ctx, ` AND f.subject = ? AND f.attribute = ? AND f.attribute <> '' AND f.value = ? AND f.kind = ?`,
			facts.Key(m.About.Subject), facts.Key(m.About.Attribute), facts.Key(m.About.Value), m.About.Kind)
	}
	if err == nil && len(all) == 0 && c.lesson.Near != "" {
		all, err = c.find(ctx, byKey, c.ns, Memories, c.lesson.Near)
	}
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// others returns the memories whose place the lesson takes.
func (c *class) others(ctx context.Context) ([]other, error) {
	m := &c.lesson.Memory
	var all []other
	for _, id := range c.lesson.Supersedes {
		found, err := c.find(ctx, byKey, c.ns, Memories, id)
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
	found, err := c.find(ctx, ` AND f.subject = ? AND f.attribute = ? AND f.attribute <> ''`, facts.Key(m.About.Subject), facts.Key(m.About.Attribute))
	for _, o := range found {
		if !slices.ContainsFunc(all, func(a other) bool { return a.key == o.key }) {
			all = append(all, o)
		}
	}
	return all, err
}

// merge gives a memory one more source.
func (c *class) merge(ctx context.Context, o other) (Learned, error) {
	var fresh bool
	for _, e := range c.lesson.Memory.Sources {
		added, err := insertEvidence(ctx, c.tx, o.id, e, false)
		if err != nil {
			return Learned{}, err
		}
		fresh = fresh || added
	}
	if !fresh {
		return Learned{ID: o.key}, nil
	}
	return Learned{ID: o.key, Op: memory.OpMerged},
		c.noteOf(ctx, entry{key: o.key, op: memory.OpMerged, version: o.version, before: o.version})
}

// supersede ends a memory in favour of another.
func (c *class) supersede(ctx context.Context, key string, version int, by string) error {
	old, err := findCurrent(ctx, c.tx, c.ns, Memories, key)
	if err != nil || old == nil {
		return err
	}
	seq, err := c.end(ctx, c.tx, c.ns, Memories, old.id)
	if err != nil {
		return err
	}
	c.seq = max(c.seq, seq)
	return c.noteOf(ctx, entry{key: key, op: memory.OpSuperseded, before: version, other: by})
}

// noteOf writes what the lesson did to a memory.
func (c *class) noteOf(ctx context.Context, e entry) error {
	m := &c.lesson.Memory
	e.by, e.turn, e.reason = c.lesson.By, m.Sources[0].Turn, m.About.Reason
	return c.note(ctx, c.tx, c.ns, e)
}
