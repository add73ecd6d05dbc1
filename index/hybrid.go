package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
)

// Hybrid is an [Index] over a lexical and a dense leg in this process.
type Hybrid struct {
	lexical Lexical
	dense   Dense
	log     *slog.Logger

	write    sync.Mutex
	byParent map[uint64]*parent // guarded by write
	units    map[uint64][]uint64
	view     atomic.Pointer[catalog]
	applied  atomic.Uint64
}

var _ Index = (*Hybrid)(nil)

// NewHybrid returns an index over the two legs, which it owns from now on. The
// catalog starts empty: the caller applies every unit of the collection,
// leaving out text and vectors that a leg's cursor says it already holds.
func NewHybrid(lexical Lexical, dense Dense, log *slog.Logger) *Hybrid {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &Hybrid{
		lexical: lexical, dense: dense, log: log,
		byParent: make(map[uint64]*parent), units: make(map[uint64][]uint64),
	}
	h.view.Store(&catalog{})
	return h
}

// Dense returns the dense leg, for questions that only some implementations answer.
func (h *Hybrid) Dense() Dense { return h.dense }

// Cursors returns up to which sequence number each leg is durable.
func (h *Hybrid) Cursors() (lexical, dense uint64) {
	return h.lexical.Cursor(), h.dense.Cursor()
}

// Apply implements [Index]. A leg's failure is returned after the other leg and
// the catalog have been served, so one broken leg costs its signal only.
func (h *Hybrid) Apply(ctx context.Context, b Batch) error {
	h.write.Lock()
	defer h.write.Unlock()

	h.catalogue(b)
	removed := h.unitsOf(b.Removed)

	var texts []TextUnit
	var vectors []VectorUnit
	lexicalFrom, denseFrom := h.lexical.Cursor(), h.dense.Cursor()
	for i := range b.Add {
		e := &b.Add[i]
		if e.Seq > lexicalFrom {
			texts = append(texts, TextUnit{ID: e.ID, Parent: e.Parent.ID, Title: e.Title, Text: e.Text})
		}
		if e.Seq > denseFrom && e.Vector != nil {
			vectors = append(vectors, VectorUnit{ID: e.ID, Vector: e.Vector})
		}
	}
	var errLexical, errDense error
	if b.Seq > lexicalFrom {
		if errLexical = h.lexical.Apply(ctx, b.Seq, texts, removed); errLexical != nil {
			errLexical = fmt.Errorf("keyword leg: %w", errLexical)
		}
	}
	if b.Seq > denseFrom {
		if errDense = h.dense.Apply(ctx, b.Seq, vectors, removed); errDense != nil {
			errDense = fmt.Errorf("vector leg: %w", errDense)
		}
	}
	h.mark(b)
	h.applied.Store(max(h.applied.Load(), b.Seq))
	return errors.Join(errLexical, errDense)
}

func (h *Hybrid) unitsOf(parents []uint64) (units []uint64) {
	for _, id := range parents {
		units = append(units, h.units[id]...)
	}
	return units
}

// mark notes ended and removed parents. It runs when the legs have the new
// units: for a moment both versions of a document can be found, and the check
// against the truth drops the old one; never neither.
func (h *Hybrid) mark(b Batch) {
	for _, e := range b.Ended {
		if p := h.byParent[e.Parent]; p != nil {
			p.ended.Store(e.Seq)
			p.superseded.Store(micros(e.At))
		}
	}
	for _, id := range b.Removed {
		if p := h.byParent[id]; p != nil {
			p.removed.Store(true)
			delete(h.byParent, id)
			delete(h.units, id)
		}
	}
	if len(b.Ended)+len(b.Removed) > 0 {
		next := *h.view.Load()
		next.marked = true
		h.view.Store(&next)
	}
}

// catalogue publishes a view that holds the batch's new units.
func (h *Hybrid) catalogue(b Batch) {
	next := *h.view.Load()
	for i := range b.Add {
		e := &b.Add[i]
		if n := len(next.ids); n > 0 && e.ID <= next.ids[n-1] {
			continue // applied before
		}
		p := h.byParent[e.Parent.ID]
		if p == nil {
			p = &parent{Parent: e.Parent}
			p.ended.Store(e.Parent.Ended)
			p.superseded.Store(micros(e.Parent.Superseded))
			h.byParent[e.Parent.ID] = p
		}
		next.marked = next.marked || !p.plain()
		next.ids = append(next.ids, e.ID)
		next.parents = append(next.parents, p)
		next.ordinal = append(next.ordinal, int32(e.Ordinal)) //nolint:gosec // a document has far fewer than 2³¹ chunks
		h.units[e.Parent.ID] = append(h.units[e.Parent.ID], e.ID)
	}
	h.view.Store(&next)
}

// Search implements [Index].
func (h *Hybrid) Search(ctx context.Context, q Query) (Result, error) {
	if q.K <= 0 {
		return Result{}, nil
	}
	switch q.Fusion.Method {
	case "keyword":
		q.Vector = nil
	case "vector":
		q.Text = ""
	}
	res := Result{State: h.applied.Load()}
	c := h.view.Load()
	accept := h.accept(c, &q, res.State)
	// Each leg gives more than asked for: the best after fusion need not be at
	// the very top of either.
	depth := max(100, 2*q.K)

	var (
		words           LexicalResult
		near            []Scored
		errWords, errNr error
		wg              sync.WaitGroup
	)
	if len(q.Vector) > 0 {
		wg.Go(func() {
			near, errNr = h.dense.Search(ctx, DenseQuery{Vector: q.Vector, K: depth, Accept: accept, Exact: q.Exact})
		})
	}
	if q.Text != "" {
		words, errWords = h.lexical.Search(ctx, LexicalQuery{Text: q.Text, K: depth, Accept: accept})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}

	useWords, useNear := q.Text != "" && errWords == nil, len(q.Vector) > 0 && errNr == nil
	if errWords != nil {
		h.log.WarnContext(ctx, "keyword leg failed", "error", errWords)
		res.Degraded = append(res.Degraded, "keyword")
	}
	if errNr != nil {
		h.log.WarnContext(ctx, "vector leg failed", "error", errNr)
		res.Degraded = append(res.Degraded, "vector")
	}
	if !useWords && !useNear && len(res.Degraded) > 0 {
		return Result{}, errors.Join(errWords, errNr)
	}
	res.Hits = h.join(q, words, near)
	fuse(res.Hits, q.Fusion, useWords && words.Max > 0, useNear)
	slices.SortFunc(res.Hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	res.Hits = res.Hits[:min(q.K, len(res.Hits))]
	return res, nil
}

// accept returns the predicate for q, or nil if every unit passes. A unit that is
// newer than the catalog c is looked up in the current one: what it replaces may
// be marked by now.
func (h *Hybrid) accept(c *catalog, q *Query, state uint64) Accept {
	if !c.marked && q.Filter.IsZero() && q.Scope.Agent == "" && q.Scope.Session == "" && q.AsOf.IsZero() {
		return nil
	}
	return func(id uint64) bool {
		in := c
		i, ok := in.at(id)
		if !ok {
			in = h.view.Load()
			i, ok = in.at(id)
		}
		return ok && q.visible(in.parents[i], state)
	}
}

// alone lowers the floor of the dense leg where the lexical leg found nothing.
const alone = 0.6

// join makes one list of the legs' hits, each unit once, with the cosine of
// those that only the lexical leg found filled in.
func (h *Hybrid) join(q Query, words LexicalResult, near []Scored) []Hit {
	c := h.view.Load() // not that of the beginning: a leg may have found newer units
	hits := make([]Hit, 0, len(words.Hits)+len(near))
	found := make(map[uint64]int, len(words.Hits))
	add := func(id uint64, s Signals) {
		i, ok := c.at(id)
		if !ok {
			return
		}
		found[id] = len(hits)
		hits = append(hits, Hit{ID: id, Parent: c.parents[i].ID, Ordinal: int(c.ordinal[i]), Signals: s})
	}
	for _, w := range words.Hits {
		s := Signals{Keyword: w.Score / words.Max}
		if len(q.Vector) > 0 {
			s.Vector, _ = h.dense.Similarity(q.Vector, w.ID)
		}
		add(w.ID, s)
	}
	floor := q.Fusion.VectorFloor
	if len(words.Hits) == 0 {
		floor *= alone // no word is known: misspelt ones reach less than whole ones
	}
	for _, n := range near {
		if i, ok := found[n.ID]; ok {
			hits[i].Signals.Vector = n.Score
			continue
		}
		if n.Score > floor {
			add(n.ID, Signals{Vector: n.Score})
		}
	}
	return hits
}

// Flush implements [Index].
func (h *Hybrid) Flush(ctx context.Context) error {
	h.write.Lock()
	defer h.write.Unlock()
	return errors.Join(h.lexical.Flush(ctx), h.dense.Flush(ctx))
}

// Stats implements [Index].
func (h *Hybrid) Stats() Stats {
	h.write.Lock()
	parents := len(h.byParent)
	h.write.Unlock()
	return Stats{
		Units: len(h.view.Load().ids), Parents: parents,
		Lexical: h.lexical.Stats(), Dense: h.dense.Stats(),
	}
}

// Close closes both legs.
func (h *Hybrid) Close() error {
	h.write.Lock()
	defer h.write.Unlock()
	return errors.Join(h.lexical.Close(), h.dense.Close())
}
