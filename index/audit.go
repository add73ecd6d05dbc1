package index

import (
	"context"
	"fmt"
	"time"
)

// Audit is the result of comparing an index with the store. It counts chunks.
type Audit struct {
	Chunks  int       `json:"units" doc:"chunks in the store"`
	Catalog PartAudit `json:"catalog"`
	Keyword PartAudit `json:"keyword"`
	Vector  PartAudit `json:"vector"`
	// Found is the result of searches for some of the stored vectors; nil if there was no time for
	// any. It does not affect Sound: an approximate index may miss vectors.
	Found *SearchReport `json:"found,omitempty"`
	// Searched is the duration of these searches.
	Searched time.Duration `json:"-"`
}

// AuditOptions configure an audit. The zero value works.
type AuditOptions struct {
	// Progress receives the number of compared chunks and the total; nil for none.
	Progress func(done, total int)
	// Searching is the time for searches of the vector index for some of its own vectors, which
	// measure recall; 0 means no searches.
	Searching time.Duration
}

// PartAudit counts the chunks in which a part of an index differs from the store.
type PartAudit struct {
	State   State `json:"state" doc:"ready; behind while it is being fed; failed"`
	Missing int   `json:"missing"`
	Wrong   int   `json:"wrong" doc:"present, but different from the store"`
	Extra   int   `json:"extra" doc:"not in the store"`
}

// Sound reports whether the part is ready and has no differences.
func (l PartAudit) Sound() bool {
	return l.State == Ready && l.Missing == 0 && l.Wrong == 0 && l.Extra == 0
}

// Sound reports whether no part has differences.
func (a Audit) Sound() bool { return a.Catalog.Sound() && a.Keyword.Sound() && a.Vector.Sound() }

// auditSample is the number of evenly spread chunks that are searched by their own words; for the
// others only the count is compared.
const auditSample = 500

// sameVector is the minimum cosine of two copies of a vector.
const sameVector = 0.9999

// Audit implements [Auditor]. It compares the whole index with the store: every chunk of the catalog and of the vector
// index, the number of chunks of the keyword index, and whether a sample of them is found by their
// words. It runs concurrently with searches and writes; it may skip concurrent writes.
func (h *Hybrid) Audit(ctx context.Context, o AuditOptions) (Audit, error) {
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if err := h.await(ctx); err != nil {
		return Audit{}, err
	}
	before := h.applied.Load()
	a := Audit{}
	a.Catalog.State, a.Keyword.State, a.Vector.State = Ready, h.keyword.state(), h.vector.Load().state()
	if err := h.auditCatalog(ctx, &a); err != nil {
		return a, err
	}
	vectors, probes, err := h.auditParts(ctx, before, &a, o.Progress)
	if err != nil {
		return a, err
	}
	if h.applied.Load() == before { // else the numbers are of different states
		a.Catalog.Extra = max(0, len(h.view.Load().ids)-h.countRemoved()-a.Chunks)
		a.Keyword.count(h.keyword.stats().Chunks, a.Chunks)
		a.Vector.count(h.vector.Load().stats().Chunks, vectors)
	}
	if a.Vector.State == Ready {
		start := h.opts.Now()
		a.Found, err = h.auditSearches(ctx, probes, o.Searching)
		a.Searched = h.opts.Now().Sub(start)
	}
	return a, err
}

// await waits for indexes that are being fed. It does not wait for failed ones.
func (h *Hybrid) await(ctx context.Context) error {
	for h.keyword.state() == Behind || h.vector.Load().state() == Behind {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// count compares the numbers of chunks, in case no chunk was found to be missing.
func (l *PartAudit) count(have, want int) {
	if l.State != Ready {
		return
	}
	l.Extra = max(0, have-want)
	l.Missing = max(l.Missing, want-have)
}

// countRemoved counts the catalogued chunks of removed items.
func (h *Hybrid) countRemoved() (n int) {
	for _, p := range h.view.Load().items {
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
			a.Chunks++
			at, ok := c.at(e.ID)
			switch {
			case !ok:
				a.Catalog.Missing++
			case !c.items[at].same(e.Item) || int(c.ordinal[at]) != e.Ordinal:
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

// same reports whether a catalogued item matches the store's in everything that decides its
// visibility.
func (p *item) same(q *Item) bool {
	return p.ID == q.ID && p.User == q.User && p.Agent == q.Agent && p.Session == q.Session && p.Source == q.Source &&
		p.superseded.Load() == micros(q.Superseded) && p.ended.Load() == q.Ended && !p.removed.Load() &&
		micros(p.Expires) == micros(q.Expires) && micros(p.Recorded) == micros(q.Recorded) && micros(p.Occurred) == micros(q.Occurred)
}

// auditParts compares both indexes up to a change. It returns the number of chunks with a vector,
// and some of these as probes.
func (h *Hybrid) auditParts(
	ctx context.Context, until uint64, a *Audit, progress func(done, total int),
) (vectors int, probes []probe, err error) {
	sp := h.vector.Load()
	vectorIndex, hasVectors := sp.current()
	keywordIndex, hasKeywords := h.keyword.current()
	every, done := max(1, a.Chunks/auditSample), 0
	step := max(1, a.Chunks/auditProbes)
	for at := uint64(0); at < until; {
		b, err := h.opts.Feed.Follow(ctx, at, Want{Texts: true, Space: sp.name})
		if err != nil {
			return vectors, probes, fmt.Errorf("compare indexes: %w", err)
		}
		if b.Seq == at {
			break
		}
		at = b.Seq
		for i := range b.Add {
			e := &b.Add[i]
			if b.Vectors != nil && i%vectorBatch == 0 {
				if err := b.Vectors(ctx, b.Add[i:min(i+vectorBatch, len(b.Add))]); err != nil {
					return vectors, probes, fmt.Errorf("compare indexes: %w", err)
				}
			}
			if e.Vector != nil && nonzero(e.Vector) {
				if vectors++; vectors%step == 0 {
					probes = append(probes, probe{e.ID, e.Vector})
				}
				if hasVectors && a.Vector.State == Ready {
					a.Vector.compare(vectorIndex, e)
				}
			}
			if done++; hasKeywords && a.Keyword.State == Ready && done%every == 0 {
				if err := a.Keyword.find(ctx, keywordIndex, e); err != nil {
					return vectors, probes, err
				}
			}
			*e = Chunk{} // frees memory: a long document has many
		}
		progress(done, a.Chunks)
	}
	return vectors, probes, nil
}

// nonzero reports whether a vector is not zero. Zero vectors are not stored.
func nonzero(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
}

func (l *PartAudit) compare(d VectorIndex, e *Chunk) {
	switch cos, ok := d.Similarity(e.Vector)(e.ID); {
	case !ok:
		l.Missing++
	case cos < sameVector:
		l.Wrong++
	}
}

// find searches for a chunk by the beginning of its own text.
func (l *PartAudit) find(ctx context.Context, lex KeywordIndex, e *Chunk) error {
	text := e.Text[:min(len(e.Text), 200)]
	got, err := lex.Search(ctx, KeywordQuery{Text: text, K: 1, Accept: func(id uint64) bool { return id == e.ID }})
	if err != nil {
		return fmt.Errorf("compare keyword index: %w", err)
	}
	if got.Max > 0 && len(got.Hits) == 0 {
		l.Missing++
	}
	return nil
}
