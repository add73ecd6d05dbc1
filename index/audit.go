package index

import (
	"context"
	"fmt"
	"time"
)

// Audit is what a comparison of an index with the store found. Counts are of
// units.
type Audit struct {
	Units   int      `json:"units" doc:"that the store has"`
	Catalog LegAudit `json:"catalog"`
	Keyword LegAudit `json:"keyword"`
	Vector  LegAudit `json:"vector"`
	// Found is what searches for some of the stored vectors showed; nil if there was no
	// time for any. It has no part in being sound: what approximates may miss things.
	Found *SearchReport `json:"found,omitempty" doc:"what searches of the vector leg for some of its own vectors showed; absent if there are none, or no time was given to it"`
	// Searched is the time that they took.
	Searched time.Duration `json:"-"`
}

// AuditOptions says how an index is audited. The zero value works.
type AuditOptions struct {
	// Progress is told how many units of how many were compared; nil for none.
	Progress func(done, total int)
	// Searching is how long the vector leg is searched for some of its own vectors to
	// measure recall; 0 means not.
	Searching time.Duration
}

// LegAudit counts the units in which a part of an index differs from the store.
type LegAudit struct {
	State   State `json:"state" doc:"ready; behind while it is being fed; failed"`
	Missing int   `json:"missing"`
	Wrong   int   `json:"wrong" doc:"that are there, but not as the store has them"`
	Extra   int   `json:"extra" doc:"that the store does not have"`
}

// Sound reports whether it is whole and nothing differs.
func (l LegAudit) Sound() bool {
	return l.State == Ready && l.Missing == 0 && l.Wrong == 0 && l.Extra == 0
}

// Sound reports whether nothing differs in any part.
func (a Audit) Sound() bool { return a.Catalog.Sound() && a.Keyword.Sound() && a.Vector.Sound() }

// auditSample is how many units, evenly spread, are searched by their own words;
// the number of the others is compared.
const auditSample = 500

// sameVector is the least cosine of two copies of a vector.
const sameVector = 0.9999

// Audit compares the whole index with the store: every unit of the catalog and
// of the vector leg, the number of units of the keyword leg and whether a sample
// of them is found by their words. It runs beside searches and writes; what is
// written meanwhile may be passed over.
func (h *Hybrid) Audit(ctx context.Context, o AuditOptions) (Audit, error) {
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if err := h.await(ctx); err != nil {
		return Audit{}, err
	}
	before := h.applied.Load()
	a := Audit{}
	a.Catalog.State, a.Keyword.State, a.Vector.State = Ready, h.lexical.state(), h.dense.Load().state()
	if err := h.auditCatalog(ctx, &a); err != nil {
		return a, err
	}
	vectors, probes, err := h.auditLegs(ctx, before, &a, o.Progress)
	if err != nil {
		return a, err
	}
	if h.applied.Load() == before { // else the numbers are of different states
		a.Catalog.Extra = max(0, len(h.view.Load().ids)-h.removedUnits()-a.Units)
		a.Keyword.count(h.lexical.stats().Units, a.Units)
		a.Vector.count(h.dense.Load().stats().Units, vectors)
	}
	if a.Vector.State == Ready {
		start := h.opts.Now()
		a.Found, err = h.auditSearches(ctx, probes, o.Searching)
		a.Searched = h.opts.Now().Sub(start)
	}
	return a, err
}

// await waits for legs that are being fed. One that failed is not waited for.
func (h *Hybrid) await(ctx context.Context) error {
	for h.lexical.state() == Behind || h.dense.Load().state() == Behind {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// count compares numbers of units where no unit was found to be missing.
func (l *LegAudit) count(have, want int) {
	if l.State != Ready {
		return
	}
	l.Extra = max(0, have-want)
	l.Missing = max(l.Missing, want-have)
}

// removedUnits counts units that the catalog knows to be gone.
func (h *Hybrid) removedUnits() (n int) {
	for _, p := range h.view.Load().parents {
		if p.removed.Load() {
			n++
		}
	}
	return n
}

func (h *Hybrid) auditCatalog(ctx context.Context, a *Audit) error {
	err := h.opts.Feed.All(ctx, func(b Batch) error {
		c := h.view.Load()
		for i := range b.Add {
			e := &b.Add[i]
			a.Units++
			at, ok := c.at(e.ID)
			switch {
			case !ok:
				a.Catalog.Missing++
			case !c.parents[at].same(e.Parent) || int(c.ordinal[at]) != e.Ordinal:
				a.Catalog.Wrong++
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("compare catalog: %w", err)
	}
	return nil
}

// same reports whether a catalogued parent is what the store says, as far as that
// decides who sees it when.
func (p *parent) same(q *Parent) bool {
	return p.ID == q.ID && p.User == q.User && p.Agent == q.Agent && p.Session == q.Session && p.Source == q.Source &&
		p.superseded.Load() == micros(q.Superseded) && p.ended.Load() == q.Ended && !p.removed.Load() &&
		micros(p.Expires) == micros(q.Expires) && micros(p.Recorded) == micros(q.Recorded) && micros(p.Occurred) == micros(q.Occurred)
}

// auditLegs compares the legs up to a change and returns how many units have a
// vector, and some of these.
func (h *Hybrid) auditLegs(
	ctx context.Context, until uint64, a *Audit, progress func(done, total int),
) (vectors int, probes []probe, err error) {
	sp := h.dense.Load()
	dense, hasDense := sp.current()
	lexical, hasLexical := h.lexical.current()
	every, done := max(1, a.Units/auditSample), 0
	step := max(1, a.Units/auditProbes)
	for at := uint64(0); at < until; {
		b, err := h.opts.Feed.Follow(ctx, at, Want{Texts: true, Space: sp.name})
		if err != nil {
			return vectors, probes, fmt.Errorf("compare legs: %w", err)
		}
		if b.Seq == at {
			break
		}
		at = b.Seq
		for i := range b.Add {
			e := &b.Add[i]
			if b.Vectors != nil && i%vectorsAtOnce == 0 {
				if err := b.Vectors(ctx, b.Add[i:min(i+vectorsAtOnce, len(b.Add))]); err != nil {
					return vectors, probes, fmt.Errorf("compare legs: %w", err)
				}
			}
			if e.Vector != nil && directed(e.Vector) {
				if vectors++; vectors%step == 0 {
					probes = append(probes, probe{e.ID, e.Vector})
				}
				if hasDense && a.Vector.State == Ready {
					a.Vector.compare(dense, e)
				}
			}
			if done++; hasLexical && a.Keyword.State == Ready && done%every == 0 {
				if err := a.Keyword.find(ctx, lexical, e); err != nil {
					return vectors, probes, err
				}
			}
			*e = Entry{} // a long document's are many
		}
		progress(done, a.Units)
	}
	return vectors, probes, nil
}

// directed reports whether a vector is not zero: others are not kept.
func directed(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
}

func (l *LegAudit) compare(d Dense, e *Entry) {
	switch cos, ok := d.Similarity(e.Vector, e.ID); {
	case !ok:
		l.Missing++
	case cos < sameVector:
		l.Wrong++
	}
}

// find looks for a unit by the beginning of its own text.
func (l *LegAudit) find(ctx context.Context, lex Lexical, e *Entry) error {
	text := e.Text[:min(len(e.Text), 200)]
	got, err := lex.Search(ctx, LexicalQuery{Text: text, K: 1, Accept: func(id uint64) bool { return id == e.ID }})
	if err != nil {
		return fmt.Errorf("compare keyword leg: %w", err)
	}
	if got.Max > 0 && len(got.Hits) == 0 {
		l.Missing++
	}
	return nil
}
