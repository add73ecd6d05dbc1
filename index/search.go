package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
	"github.com/ragctx/ragctx/internal/trace"
)

// Index ranks what an engine finds.
type Index struct{ Engine }

// Minimum numbers of candidates. The keyword index takes the same time for up to minWords. With [Query].Sentences there are
// at least deepDepth of both kinds: a chunk that one text ranks low may be among the best of another.
const (
	minVectors = 100
	minWords   = 300
	deepDepth  = 400
)

// Where returns the selection of q in a state; see [Where].
func (q *Query) Where(state uint64) Where {
	return Where{Scope: q.Scope, Filter: q.Filter, AsOf: q.AsOf, Now: q.Now, State: state}
}

// retrieval returns the candidates to rank for q.
func (q *Query) retrieval() Retrieval {
	vectors := max(minVectors, q.K)
	words := max(minWords, 2*vectors)
	if len(q.Sentences) > 0 {
		words, vectors = max(words, deepDepth), max(vectors, deepDepth)
	}
	r := Retrieval{
		Where: q.Where(0), Text: q.Text, More: q.More, Params: q.Keyword, Patterns: q.Patterns, Spelling: q.Spelling,
		Vector: q.Vector, Space: q.Space, Exact: q.Exact, WordDepth: words, VectorDepth: vectors,
	}
	for i := range q.Phrases {
		r.Must = append(r.Must, q.Phrases[i].Terms()...)
	}
	switch q.Fusion.Method {
	case "keyword":
		r.Vector = nil
	case "vector":
		r.Text, r.More, r.Patterns, r.Spelling = "", nil, nil, false
	}
	r.Around = r.hasText() && q.Fusion.Method != "rrf" && q.Fusion.VectorWeight >= 0
	return r
}

// withMessages also requests what the features of a conversation use, at a greater depth.
func (r *Retrieval) withMessages(d *ConversationWeights, win *timeexpr.Window) {
	r.Messages, r.WordDepth = true, max(r.WordDepth, featureDepth)
	if d != nil {
		r.Sessions, r.Window = d.WithDefaults().Session != 0, win
	}
}

// Search returns the K best chunks. It fails only if the engine could not answer, or q's parameters are
// out of range.
func (x Index) Search(ctx context.Context, q Query) (Result, error) {
	if err := q.Keyword.Validate(); err != nil {
		return Result{}, fmt.Errorf("index: search: %w", err)
	}
	if q.K <= 0 {
		return Result{}, nil
	}
	win, err := x.window(ctx, &q)
	if err != nil {
		return Result{}, err
	}
	if win != nil && q.Time.List {
		return x.during(ctx, &q, win)
	}
	rank := x.rank
	if len(q.Sentences) > 0 {
		rank = x.rankSentences
	}
	all, err := rank(ctx, &q, win)
	if err != nil {
		return Result{}, err
	}
	defer trace.Start(ctx, trace.Fuse).End()
	hits, found := hitsOf(setRelevance(all.list, all.byWords)), &all.found
	k := min(q.K, len(hits))
	res := Result{
		Hits: hits[:k:k], Further: hits[k:], State: found.State, Degraded: found.Degraded, Window: win,
		Corrections: found.Corrections, Terms: found.Terms,
	}
	for _, c := range res.Corrections {
		res.Terms = append(res.Terms, c.Term)
	}
	return res, nil
}

// ranked is what one text found, best first.
type ranked struct {
	list    []Candidate
	found   Found
	byWords bool // the scores come from words and vectors
	whole   bool // the list lacks no chunk that has more than a chance score
}

// rank ranks by one text. It makes at most three calls of the engine.
func (x Index) rank(ctx context.Context, q *Query, win *timeexpr.Window) (ranked, error) {
	r := q.retrieval()
	// A query with vectors alone gets plain cosines.
	featured := r.hasText() && (q.Conversation != nil || win != nil)
	if featured {
		r.withMessages(q.Conversation, win)
	}
	found, err := x.Retrieve(ctx, r)
	if err != nil {
		return ranked{}, err
	}
	defer trace.Start(ctx, trace.Fuse).End()
	floor := q.Fusion.floor(found.Candidates)
	list := withoutChance(found.Candidates, floor)
	fuse(list, q.Fusion, r.Text, found.Words, found.Vectors)
	slices.SortFunc(list, better)
	if featured && len(list) > 0 {
		if list, err = x.addFeatures(ctx, q, list, &found, win); err != nil {
			return ranked{}, err
		}
	}
	return ranked{
		list, found, found.Words && q.Fusion.Method != "rrf", found.Rest.Keyword <= 0 && found.Rest.Vector <= floor,
	}, nil
}

// better orders candidates, best first.
func better(a, b Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}

func hitsOf(list []Candidate) []Hit {
	hits := make([]Hit, len(list))
	for i := range list {
		hits[i] = list[i].Hit
	}
	return hits
}

// window returns the time that q asks about, or nil.
func (x Index) window(ctx context.Context, q *Query) (*timeexpr.Window, error) {
	if q.Time == nil {
		return nil, nil
	}
	var t timeexpr.Timeline
	if q.Time.Reading.NeedsTimeline() {
		var err error
		if t, err = x.Timeline(ctx, q.Where(0)); err != nil {
			return nil, err
		}
		t.Current = q.Session
	}
	w := q.Time.Reading.Window(t)
	if w.Sessions == nil && w.From.IsZero() && w.To.IsZero() {
		return nil, nil
	}
	return &w, nil
}

// during returns the chunks in a window in the order of time. Their scores fall from 1 to a half, so
// that sorting by score keeps the order: all of them match a question about that time alone.
func (x Index) during(ctx context.Context, q *Query, win *timeexpr.Window) (Result, error) {
	found, total, err := x.During(ctx, q.Where(0), *win, q.K)
	if err != nil {
		return Result{}, err
	}
	for i := range found.Candidates {
		h := &found.Candidates[i].Hit
		h.Score = 1 - 0.5*float64(i)/float64(total)
		h.Relevance = h.Score
	}
	return Result{Hits: hitsOf(found.Candidates), State: found.State, Window: win}, nil
}

// Within returns all chunks in the time that q asks about, in the order of time, and the state in
// which they were found. It returns false if q asks about no time.
func (x Index) Within(ctx context.Context, q Query) (Result, bool, error) {
	win, err := x.window(ctx, &q)
	if err != nil || win == nil {
		return Result{}, false, err
	}
	q.K = math.MaxInt
	res, err := x.during(ctx, &q, win)
	return res, err == nil, err
}

// addFeatures scores sorted candidates and additional ones by all features that q requests besides words
// and vectors.
func (x Index) addFeatures(
	ctx context.Context, q *Query, list []Candidate, found *Found, win *timeexpr.Window,
) ([]Candidate, error) {
	s := newScorer(q, list)
	if q.Conversation != nil {
		if ids := s.unscoredNeighbors(min(expandDepth, len(s.list))); len(ids) > 0 {
			more, err := x.Describe(ctx, q.Where(found.State), ids)
			if err != nil {
				return nil, err
			}
			s.add(more)
		}
		s.add(found.Timely)
	}
	s.score(found.Sessions, win)
	return s.ranked(list[0].Score), nil
}
