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
	if err := q.Keyword.Validate(); err != nil {
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
	if h.monitor != nil { // a shadow query may use it after the caller has returned
		q.Filter = q.Filter.Clone()
	}
	hasText := q.hasText()
	res := Result{State: h.applied.Load()}
	win := h.window(&q, res.State)
	res.Window = win
	if win != nil && q.Time.List {
		res.Hits = h.listByTime(&q, res.State, win)
		return res, nil
	}
	// A query with vectors alone gets plain cosines.
	featured := hasText && (q.Conversation != nil || win != nil)
	a := h.searchParts(ctx, &q, res.State, featured)
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	useKeyword, useVector := hasText && a.keywordErr == nil, len(q.Vector) > 0 && a.vectorErr == nil
	if a.keywordErr != nil || hasText && !a.keywordComplete {
		h.noteDegraded(ctx, &res, "keyword", a.keywordErr, h.keyword.suspect)
	}
	if a.vectorErr != nil || len(q.Vector) > 0 && !a.vectorComplete {
		h.noteDegraded(ctx, &res, "vector", a.vectorErr, a.space.suspect)
	}
	if !useKeyword && !useVector && len(res.Degraded) > 0 {
		return Result{}, fmt.Errorf("%w: no index can answer this query; it is being repaired, try again soon: %w",
			ragctx.ErrUnavailable, errors.Join(a.keywordErr, a.vectorErr))
	}
	defer trace.Start(ctx, trace.Fuse).End()
	res.Hits = h.join(q, a.space, a.words, a.near)
	fuse(res.Hits, q.Fusion, q.Text, useKeyword && a.words.Max > 0, useVector)
	slices.SortFunc(res.Hits, better)
	if featured && len(res.Hits) > 0 {
		res.Hits = h.features(&q, res.State, res.Hits, a.sessions.scores(a.words.Groups), win)
	}
	res.Hits = setRelevance(res.Hits, useKeyword && a.words.Max > 0 && q.Fusion.Method != "rrf")
	res.Hits = res.Hits[:min(q.K, len(res.Hits))]
	res.Corrections, res.Terms = a.words.Corrections, a.terms
	for _, c := range res.Corrections {
		res.Terms = append(res.Terms, c.Term)
	}
	return res, nil
}

// partResults are the results of both indexes.
type partResults struct {
	space                           *vectorSpace // the one searched
	words                           KeywordResult
	terms                           []string       // that patterns expanded to
	sessions                        *sessionGroups // scored by the keyword index, or nil
	near                            []Scored
	keywordComplete, vectorComplete bool // the index was complete when it was searched
	keywordErr, vectorErr           error
}

// minDepth is the minimum number of chunks requested from each index.
const minDepth = 100

// searchParts searches both indexes. It over-fetches: the best after fusion need not be at the very
// top of either, and features use even more.
func (h *Hybrid) searchParts(ctx context.Context, q *Query, state uint64, featured bool) (a partResults) {
	view := h.view.Load()
	accept, only := h.requirePhrases(ctx, q, h.acceptFunc(view, q, state)), h.allowList(view, q, state)
	depth := max(minDepth, 2*q.K)
	a.space = h.vector.Load()
	var wg sync.WaitGroup
	if len(q.Vector) > 0 {
		wg.Go(func() {
			a.near, a.vectorComplete, a.vectorErr = h.nearest(ctx, a.space, q.Space,
				VectorQuery{Vector: q.Vector, K: depth, Accept: accept, Only: only, Exact: q.Exact})
		})
	}
	if q.hasText() {
		found := h.expandPatterns(ctx, q)
		for _, w := range found {
			a.terms = append(a.terms, w.Text)
		}
		words := KeywordQuery{Text: q.Text, More: slices.Concat(q.More, found), K: depth, Accept: accept, Only: only, Params: q.Keyword}
		if featured {
			a.sessions = h.sessionGroups(q, state)
			words.K, words.Groups = max(depth, featureDepth), a.sessions.groups(h, q, state)
		}
		if q.Spelling {
			words.Spelling = h.spelling(view, q, state)
		}
		a.words, a.keywordComplete, a.keywordErr = h.searchKeyword(ctx, words)
		if now := h.view.Load(); q.Spelling && words.Spelling.Within == nil && now.anyRestricted {
			// The index may have read words of a user's private text, written since the whole
			// collection was unrestricted.
			words.Spelling = h.spelling(now, q, state)
			a.words, a.keywordComplete, a.keywordErr = h.searchKeyword(ctx, words)
		}
	}
	wg.Wait()
	return a
}

// better orders hits, best first.
func better(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) }

// noteDegraded records an index that failed or is incomplete.
func (h *Hybrid) noteDegraded(ctx context.Context, res *Result, name string, err error, suspect func(error) bool) {
	res.Degraded = append(res.Degraded, name)
	if err == nil || errors.Is(err, errAbsent) {
		return
	}
	h.opts.Logger.WarnContext(ctx, "search of an index failed", "index", name, "error", err)
	if suspect(err) {
		h.wakeUp()
	}
}

// errAbsent reports that an index has failed and is being rebuilt.
var errAbsent = errors.New("index: it failed and is being rebuilt")

// searchKeyword searches the keyword index and reports whether it is complete.
func (h *Hybrid) searchKeyword(ctx context.Context, q KeywordQuery) (res KeywordResult, complete bool, err error) {
	l, complete, ok := h.keyword.serving()
	if !ok {
		return res, false, errAbsent
	}
	defer trace.Start(ctx, trace.Keyword).End()
	res, err = l.Search(ctx, q)
	return res, complete, err
}

// search searches the vector index if it holds vectors of the query's space, and reports whether it
// is complete.
func (s *vectorSpace) search(ctx context.Context, name string, q VectorQuery) (near []Scored, complete bool, err error) {
	d, complete, ok := s.serving()
	if !ok || name != s.name {
		return nil, false, errAbsent
	}
	defer trace.Start(ctx, trace.Vector).End()
	near, err = d.Search(ctx, q)
	return near, complete, err
}

// similarity returns a chunk's cosine, or 0 if it is unknown.
func (s *vectorSpace) similarity(name string, v []float32, id uint64) float64 {
	d, ok := s.current()
	if !ok || name != s.name {
		return 0
	}
	cos, _ := d.Similarity(v, id)
	return cos
}

// acceptFunc returns the predicate for q, or nil if every chunk passes. A chunk that is newer than
// the catalog c is looked up in the current one, as the item it replaces may be superseded by now.
func (h *Hybrid) acceptFunc(c *catalog, q *Query, state uint64) Accept {
	open := q.Filter.IsZero() && q.Scope.Agent == "" && q.Scope.Session == "" && q.AsOf.IsZero()
	if open && !c.anyRestricted {
		return nil
	}
	return func(id uint64) bool {
		if open && c.unrestricted.has(id) {
			return true
		}
		in := c
		i, ok := in.at(id)
		if !ok {
			in = h.view.Load()
			i, ok = in.at(id)
		}
		return ok && q.visible(in.items[i], state)
	}
}

// spelling selects the chunks that q could see without its filter for spelling corrections.
func (h *Hybrid) spelling(c *catalog, q *Query, state uint64) *Spelling {
	unfiltered := Query{Scope: Scope{User: q.Scope.User, AnyUser: q.Scope.AnyUser}, AsOf: q.AsOf, Now: q.Now}
	s := &Spelling{Within: h.acceptFunc(c, &unfiltered, state)}
	if s.Within != nil {
		s.Only = h.allowList(c, &unfiltered, state)
	}
	return s
}

// loneVectorFloor lowers the floor of the vector index if the keyword index found nothing.
const loneVectorFloor = 0.6

// join merges the hits of both indexes into one unsorted list without duplicates. It fills in the
// cosine of hits that only the keyword index found.
func (h *Hybrid) join(q Query, sp *vectorSpace, words KeywordResult, near []Scored) []Hit {
	c := h.view.Load() // the current view, as an index may have found newer chunks
	hits := make([]Hit, 0, len(words.Hits)+len(near))
	add := func(id uint64, s Signals) bool {
		i, ok := c.at(id)
		if ok {
			hits = append(hits, Hit{ID: id, Item: c.items[i].ID, Ordinal: int(c.ordinal[i]), Signals: s})
		}
		return ok
	}
	slices.SortFunc(near, func(a, b Scored) int { return cmp.Compare(a.ID, b.ID) })
	found := make([]bool, len(near)) // by both indexes
	lacking := make([]int, 0, len(words.Hits))
	for _, w := range words.Hits {
		s := Signals{Keyword: w.Score / words.Max}
		i, inBoth := slices.BinarySearchFunc(near, w.ID, func(n Scored, id uint64) int { return cmp.Compare(n.ID, id) })
		if inBoth {
			s.Vector, found[i] = near[i].Score, true
		}
		if add(w.ID, s) && !inBoth {
			lacking = append(lacking, len(hits)-1)
		}
	}
	if len(q.Vector) > 0 {
		sp.fillIn(q, hits, lacking)
	}
	floor := q.Fusion.VectorFloor
	if len(words.Hits) == 0 {
		floor *= loneVectorFloor // no word is known: misspelt words have lower cosines than correct ones
	}
	for i, n := range near {
		if !found[i] && n.Score > floor {
			add(n.ID, Signals{Vector: n.Score})
		}
	}
	return hits
}

// parallelCosines is the number of cosines from which a second goroutine is worth its cost.
const parallelCosines = 16

// fillIn sets the cosines of some hits, half of them in a second goroutine: their vectors are
// scattered in memory, and fetching one takes far longer than multiplying it.
func (s *vectorSpace) fillIn(q Query, hits []Hit, lacking []int) {
	fill := func(some []int) {
		for _, i := range some {
			hits[i].Signals.Vector = s.similarity(q.Space, q.Vector, hits[i].ID)
		}
	}
	var other sync.WaitGroup
	if n := len(lacking); n > parallelCosines {
		half := lacking[:n/2]
		lacking = lacking[n/2:]
		other.Go(func() { fill(half) })
	}
	fill(lacking)
	other.Wait()
}
