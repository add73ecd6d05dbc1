package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/trace"
)

// Search implements [Index].
func (h *Hybrid) Search(ctx context.Context, q Query) (Result, error) {
	if err := q.Lexical.Validate(); err != nil {
		return Result{}, fmt.Errorf("index: search: %w", err)
	}
	if q.K <= 0 {
		return Result{}, nil
	}
	switch q.Fusion.Method {
	case "keyword":
		q.Vector = nil
	case "vector":
		q.Text, q.More, q.Patterns, q.Spelling = "", nil, nil, false
	}
	if h.gauge != nil { // which may search again when the caller has gone on
		q.Filter = q.Filter.Clone()
	}
	worded := q.worded()
	res := Result{State: h.applied.Load()}
	win := h.window(&q, res.State)
	res.Window = win
	if win != nil && q.Time.List {
		res.Hits = h.listed(&q, res.State, win)
		return res, nil
	}
	// Who asks for vectors alone asks for cosines.
	featured := worded && (q.Dialogue != nil || win != nil)
	a := h.ask(ctx, &q, res.State, featured)
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	useWords, useNear := worded && a.errWords == nil, len(q.Vector) > 0 && a.errNear == nil
	if a.errWords != nil || worded && !a.allWords {
		h.lame(ctx, &res, "keyword", a.errWords, h.lexical.suspect)
	}
	if a.errNear != nil || len(q.Vector) > 0 && !a.allNear {
		h.lame(ctx, &res, "vector", a.errNear, a.space.suspect)
	}
	if !useWords && !useNear && len(res.Degraded) > 0 {
		return Result{}, fmt.Errorf("%w: no leg of the index can answer; it is being repaired, try again soon: %w",
			ragctx.ErrUnavailable, errors.Join(a.errWords, a.errNear))
	}
	defer trace.Start(ctx, trace.Fuse).End()
	res.Hits = h.join(q, a.space, a.words, a.near)
	fuse(res.Hits, q.Fusion, q.Text, useWords && a.words.Max > 0, useNear)
	slices.SortFunc(res.Hits, better)
	if featured && len(res.Hits) > 0 {
		res.Hits = h.features(&q, res.State, res.Hits, a.sessions.scores(a.words.Groups), win)
	}
	res.Hits = relate(res.Hits, useWords && a.words.Max > 0 && q.Fusion.Method != "rrf")
	res.Hits = res.Hits[:min(q.K, len(res.Hits))]
	res.Corrections, res.Terms = a.words.Corrections, a.terms
	for _, c := range res.Corrections {
		res.Terms = append(res.Terms, c.Term)
	}
	return res, nil
}

// answers are what the legs found.
type answers struct {
	space             *space // that was searched
	words             LexicalResult
	terms             []string  // that patterns stand for
	sessions          *grouping // that the lexical leg scored, or nil
	near              []Scored
	allWords, allNear bool // the leg had everything when it was asked
	errWords, errNear error
}

// leastDepth is how many units each leg is asked for at least.
const leastDepth = 100

// ask asks both legs. Each gives more than asked for: the best after fusion need
// not be at the very top of either, and features look further yet.
func (h *Hybrid) ask(ctx context.Context, q *Query, state uint64, featured bool) (a answers) {
	view := h.view.Load()
	accept, only := h.holding(ctx, q, h.accept(view, q, state)), h.only(view, q, state)
	depth := max(leastDepth, 2*q.K)
	a.space = h.dense.Load()
	var wg sync.WaitGroup
	if len(q.Vector) > 0 {
		wg.Go(func() {
			a.near, a.allNear, a.errNear = h.nearest(ctx, a.space, q.Space, DenseQuery{Vector: q.Vector, K: depth, Accept: accept, Only: only, Exact: q.Exact})
		})
	}
	if q.worded() {
		found := h.variants(ctx, q)
		for _, w := range found {
			a.terms = append(a.terms, w.Text)
		}
		words := LexicalQuery{Text: q.Text, More: slices.Concat(q.More, found), K: depth, Accept: accept, Only: only, Params: q.Lexical}
		if featured {
			a.sessions = h.grouping(q, state)
			words.K, words.Groups = max(depth, featureDepth), a.sessions.groups(h, q, state)
		}
		if q.Spelling {
			words.Spelling = h.spelling(view, q, state)
		}
		a.words, a.allWords, a.errWords = h.words(ctx, words)
		if now := h.view.Load(); q.Spelling && words.Spelling.Within == nil && now.marked {
			// What the leg has read may be somebody's, written since all was everybody's.
			words.Spelling = h.spelling(now, q, state)
			a.words, a.allWords, a.errWords = h.words(ctx, words)
		}
	}
	wg.Wait()
	return a
}

// better orders hits, best first.
func better(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) }

// lame notes a leg that failed, with an error, or that lacks something.
func (h *Hybrid) lame(ctx context.Context, res *Result, name string, err error, suspect func(error) bool) {
	res.Degraded = append(res.Degraded, name)
	if err == nil || errors.Is(err, errAbsent) {
		return
	}
	h.opts.Logger.WarnContext(ctx, "a leg failed", "leg", name, "error", err)
	if suspect(err) {
		h.rouse()
	}
}

// errAbsent says that a leg is not there: it failed and is being made again.
var errAbsent = errors.New("index: the leg is being made again")

// words searches the lexical leg, and reports whether it has everything.
func (h *Hybrid) words(ctx context.Context, q LexicalQuery) (res LexicalResult, whole bool, err error) {
	l, whole, ok := h.lexical.serving()
	if !ok {
		return res, false, errAbsent
	}
	defer trace.Start(ctx, trace.Keyword).End()
	res, err = l.Search(ctx, q)
	return res, whole, err
}

// search searches the dense leg if it holds vectors of the space that q's vector
// is in, and reports whether it has everything.
func (s *space) search(ctx context.Context, name string, q DenseQuery) (near []Scored, whole bool, err error) {
	d, whole, ok := s.serving()
	if !ok || name != s.name {
		return nil, false, errAbsent
	}
	defer trace.Start(ctx, trace.Vector).End()
	near, err = d.Search(ctx, q)
	return near, whole, err
}

// similarity returns a unit's cosine, 0 if there is none.
func (s *space) similarity(name string, v []float32, id uint64) float64 {
	d, ok := s.current()
	if !ok || name != s.name {
		return 0
	}
	cos, _ := d.Similarity(v, id)
	return cos
}

// accept returns the predicate for q, or nil if every unit passes. A unit that is
// newer than the catalog c is looked up in the current one: what it replaces may
// be marked by now.
func (h *Hybrid) accept(c *catalog, q *Query, state uint64) Accept {
	open := q.Filter.IsZero() && q.Scope.Agent == "" && q.Scope.Session == "" && q.AsOf.IsZero()
	if open && !c.marked {
		return nil
	}
	return func(id uint64) bool {
		if open && c.plain.has(id) {
			return true
		}
		in := c
		i, ok := in.at(id)
		if !ok {
			in = h.view.Load()
			i, ok = in.at(id)
		}
		return ok && q.visible(in.parents[i], state)
	}
}

// spelling counts the words of what q could see without its filter.
func (h *Hybrid) spelling(c *catalog, q *Query, state uint64) *Spelling {
	whole := Query{Scope: Scope{User: q.Scope.User, AnyUser: q.Scope.AnyUser}, AsOf: q.AsOf, Now: q.Now}
	s := &Spelling{Within: h.accept(c, &whole, state)}
	if s.Within != nil {
		s.Only = h.only(c, &whole, state)
	}
	return s
}

// alone lowers the floor of the dense leg where the lexical leg found nothing.
const alone = 0.6

// join makes one list of the legs' hits, each unit once, in no order, with the cosine of
// those that only the lexical leg found filled in.
func (h *Hybrid) join(q Query, sp *space, words LexicalResult, near []Scored) []Hit {
	c := h.view.Load() // not that of the beginning: a leg may have found newer units
	hits := make([]Hit, 0, len(words.Hits)+len(near))
	add := func(id uint64, s Signals) bool {
		i, ok := c.at(id)
		if ok {
			hits = append(hits, Hit{ID: id, Parent: c.parents[i].ID, Ordinal: int(c.ordinal[i]), Signals: s})
		}
		return ok
	}
	slices.SortFunc(near, func(a, b Scored) int { return cmp.Compare(a.ID, b.ID) })
	found := make([]bool, len(near)) // by both legs
	lacking := make([]int, 0, len(words.Hits))
	for _, w := range words.Hits {
		s := Signals{Keyword: w.Score / words.Max}
		i, known := slices.BinarySearchFunc(near, w.ID, func(n Scored, id uint64) int { return cmp.Compare(n.ID, id) })
		if known {
			s.Vector, found[i] = near[i].Score, true
		}
		if add(w.ID, s) && !known {
			lacking = append(lacking, len(hits)-1)
		}
	}
	if len(q.Vector) > 0 {
		sp.fillIn(q, hits, lacking)
	}
	floor := q.Fusion.VectorFloor
	if len(words.Hits) == 0 {
		floor *= alone // no word is known: misspelt ones reach less than whole ones
	}
	for i, n := range near {
		if !found[i] && n.Score > floor {
			add(n.ID, Signals{Vector: n.Score})
		}
	}
	return hits
}

// fewCosines are not worth another goroutine.
const fewCosines = 16

// fillIn sets the cosines of some of the hits, half of them beside the other half: their
// vectors lie apart in memory, and fetching one takes far longer than multiplying it.
func (s *space) fillIn(q Query, hits []Hit, lacking []int) {
	fill := func(some []int) {
		for _, i := range some {
			hits[i].Signals.Vector = s.similarity(q.Space, q.Vector, hits[i].ID)
		}
	}
	var other sync.WaitGroup
	if n := len(lacking); n > fewCosines {
		half := lacking[:n/2]
		lacking = lacking[n/2:]
		other.Go(func() { fill(half) })
	}
	fill(lacking)
	other.Wait()
}
