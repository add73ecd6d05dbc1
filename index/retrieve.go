package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/trace"
)

// Retrieve implements [Finder].
func (h *Hybrid) Retrieve(ctx context.Context, r Retrieval) (Found, error) {
	if h.opts.Deferred {
		h.awaitFed(ctx)
	}
	h.fixState(&r.Where)
	if h.monitor != nil { // a shadow query may use it after the caller has returned
		r.Filter = r.Filter.Clone()
	}
	found := Found{State: r.State}
	a := h.searchParts(ctx, &r)
	err := ctx.Err()
	if err != nil {
		return Found{}, err
	}
	useKeyword, useVector := r.hasText() && a.keywordErr == nil, len(r.Vector) > 0 && a.vectorErr == nil
	if a.keywordErr != nil || r.hasText() && !a.keywordComplete {
		h.noteDegraded(ctx, &found, "keyword", a.keywordErr, h.keyword.suspect)
	}
	if a.vectorErr != nil || len(r.Vector) > 0 && !a.vectorComplete {
		h.noteDegraded(ctx, &found, "vector", a.vectorErr, a.space.suspect)
	}
	if !useKeyword && !useVector && len(found.Degraded) > 0 {
		return Found{}, fmt.Errorf("%w: no index can answer this query; it is being repaired, try again soon: %w",
			ragctx.ErrUnavailable, errors.Join(a.keywordErr, a.vectorErr))
	}
	defer trace.Start(ctx, trace.Fuse).End()
	c := h.view.Load() // the current view, as an index may have found newer chunks
	found.Words, found.Vectors = useKeyword && a.words.Max > 0, useVector
	found.Rest.Vector = -1
	if n := len(a.words.Hits); useKeyword && n > 0 && n >= r.WordDepth {
		found.Rest.Keyword = a.words.Hits[n-1].Score / a.words.Max
	}
	if n := len(a.near); useVector && n > 0 && n >= r.VectorDepth {
		found.Rest.Vector = a.near[n-1].Score
	}
	found.Candidates, err = c.join(ctx, &r, a.space, a.words, a.near)
	if err != nil && !slices.Contains(found.Degraded, "vector") {
		h.noteDegraded(ctx, &found, "vector", err, a.space.suspect)
	}
	found.Corrections, found.Terms, found.Sessions = a.words.Corrections, a.terms, a.sessions.scores(a.words.Groups)
	if r.Window != nil {
		found.Timely = h.timely(c, &r)
	}
	if r.Messages {
		c.addMessages(&r.Where, found.Candidates)
		c.addMessages(&r.Where, found.Timely)
	}
	return found, nil
}

// fixState sets the state of a selection that asks for the newest.
func (h *Hybrid) fixState(w *Where) {
	if w.State == 0 {
		w.State = h.applied.Load()
	}
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

// searchParts searches both indexes.
func (h *Hybrid) searchParts(ctx context.Context, r *Retrieval) (a partResults) {
	view := h.view.Load()
	accept, required := h.requireTerms(ctx, view, r.Must, h.acceptFunc(view, &r.Where))
	only := h.allowList(view, &r.Where)
	if only == nil && !r.Sessions { // sessions have other chunks, too
		only = required
	}
	a.space = h.vector.Load()
	var wg sync.WaitGroup
	if len(r.Vector) > 0 {
		wg.Go(func() {
			a.near, a.vectorComplete, a.vectorErr = h.nearest(ctx, a.space, r.Space,
				VectorQuery{Vector: r.Vector, K: r.VectorDepth, Accept: accept, Only: only, Exact: r.Exact})
		})
	}
	if r.hasText() {
		found := h.expandPatterns(ctx, r)
		for _, w := range found {
			a.terms = append(a.terms, w.Text)
		}
		words := KeywordQuery{
			Text: r.Text, More: slices.Concat(r.More, found), K: r.WordDepth, Accept: accept, Only: only, Params: r.Params,
		}
		if r.Sessions {
			a.sessions = h.sessionGroups(&r.Where)
			words.Groups = a.sessions.groups(h, &r.Where)
		}
		if r.Spelling {
			words.Spelling = h.spelling(view, &r.Where)
		}
		a.words, a.keywordComplete, a.keywordErr = h.searchKeyword(ctx, words)
		if now := h.view.Load(); r.Spelling && words.Spelling.Within == nil && now.anyRestricted {
			// The index may have read words of a user's private text, written since the whole
			// collection was unrestricted.
			words.Spelling = h.spelling(now, &r.Where)
			a.words, a.keywordComplete, a.keywordErr = h.searchKeyword(ctx, words)
		}
	}
	wg.Wait()
	return a
}

// noteDegraded records an index that failed or is incomplete.
func (h *Hybrid) noteDegraded(ctx context.Context, found *Found, name string, err error, suspect func(error) bool) {
	found.Degraded = append(found.Degraded, name)
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
	if res, err = l.Search(ctx, q); errors.Is(err, ErrBehind) {
		return res, false, nil
	}
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
	if near, err = d.Search(ctx, q); errors.Is(err, ErrBehind) {
		return near, false, nil
	}
	return near, complete, err
}

// acceptFunc returns the predicate for w, or nil if every chunk passes. A chunk that is newer than
// the catalog c is looked up in the current one, as the item it replaces may be superseded by now.
func (h *Hybrid) acceptFunc(c *catalog, w *Where) Accept {
	open := w.Filter.IsZero() && w.Scope.Agent == "" && w.Scope.Session == "" && w.AsOf.IsZero()
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
		return ok && w.visible(in.items[i])
	}
}

// spelling selects the chunks that w could see without its filter for spelling corrections.
func (h *Hybrid) spelling(c *catalog, w *Where) *Spelling {
	unfiltered := Where{Scope: Scope{User: w.Scope.User, AnyUser: w.Scope.AnyUser}, AsOf: w.AsOf, Now: w.Now, State: w.State}
	s := &Spelling{Within: h.acceptFunc(c, &unfiltered)}
	if s.Within != nil {
		s.Only = h.allowList(c, &unfiltered)
	}
	return s
}

// candidate returns the chunk at a position.
func (c *catalog) candidate(i int) Candidate {
	of := c.items[i]
	return Candidate{Hit: Hit{ID: c.ids[i], Item: of.ID, Ordinal: int(c.ordinal[i])}, Long: of.chunks.Load() >= LongText}
}

// join merges the hits of both indexes into one unsorted list without duplicates. It fills in the
// cosine of hits that only the keyword index found, and those of the chunks around hits if r asks for them.
func (c *catalog) join(
	ctx context.Context, r *Retrieval, sp *vectorSpace, words KeywordResult, near []Scored,
) (list []Candidate, err error) {
	list = make([]Candidate, 0, len(words.Hits)+len(near))
	slices.SortFunc(near, byID)
	found := make([]bool, len(near)) // by both indexes
	lacking := cosines{near: near, wanted: make([]wantedCosine, 0, len(words.Hits))}
	add := func(id uint64, s Signals, known bool) {
		i, ok := c.at(id)
		if !ok {
			return
		}
		at := len(list)
		list = append(list, c.candidate(i))
		list[at].Signals = s
		if len(r.Vector) == 0 {
			return
		}
		if !known {
			lacking.want(id, at, false)
		}
		if !r.Around {
			return
		}
		for _, step := range [...]int{-1, 1} {
			if other, ok := c.beside(i, step); ok {
				lacking.want(c.ids[other], at, true)
			}
		}
	}
	for _, w := range words.Hits {
		s := Signals{Keyword: w.Score / words.Max}
		i, inBoth := slices.BinarySearchFunc(near, w.ID, scoredByID)
		if inBoth {
			s.Vector, found[i] = near[i].Score, true
		}
		add(w.ID, s, inBoth)
	}
	for i, n := range near {
		if !found[i] {
			add(n.ID, Signals{Vector: n.Score}, true)
		}
	}
	if len(lacking.wanted) > 0 {
		err = lacking.fillIn(ctx, r, sp)
		lacking.assign(list)
	}
	return list, err
}

// beside returns the position of the chunk before (-1) or after (1) one in its item. It is mostly the adjacent one. But the
// chunks of other items may lie between, as a large document is written in several parts.
func (c *catalog) beside(i, step int) (int, bool) {
	of, wanted := c.items[i], int64(c.ordinal[i])+int64(step)
	if wanted < 0 || wanted >= of.chunks.Load() {
		return 0, false
	}
	for other := i + step; other >= 0 && other < len(c.items); other += step {
		if c.items[other] == of {
			return other, int64(c.ordinal[other]) == wanted
		}
	}
	return 0, false
}

// timely returns visible chunks within the window of r.
func (h *Hybrid) timely(c *catalog, r *Retrieval) (list []Candidate) {
	h.inWindow(&r.Where, r.Window, func(m message) bool {
		for id := m.first; id < m.first+uint64(m.chunks); id++ { //nolint:gosec // not negative
			if i, ok := c.at(id); ok {
				list = append(list, c.candidate(i))
			}
		}
		return len(list) < MaxTimely
	})
	return list
}
