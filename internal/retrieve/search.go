package retrieve

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/queryexpand"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/trace"
)

// ParamFacts is the query parameter that keeps facts among the hits, if it is true. They are replaced by
// their turns otherwise.
const ParamFacts = "facts"

// maxHits bounds the hits that one search requests.
const maxHits = 5000

// searchIndex is the part of an [index.Index] that a search uses.
type searchIndex interface {
	// Space names the embedding space of query vectors.
	Space() string
	Search(ctx context.Context, q index.Query) (index.Result, error)
	Neighbors(ctx context.Context, w index.Where, chunks []uint64, n int) ([]index.Neighbors, error)
}

// search is one query of one kind of item. It may ask the index several times.
type search struct {
	*Retriever

	query    ragctx.ContextQuery
	plan     index.Query
	feedback []index.Wording // words of the best hits, searched for by the keyword index as well
	facts    *turnLookup     // nil if facts stay among the hits
	index    searchIndex
	done     func() // releases the index
	last     *found // by the index; nil before the first search
}

// begin prepares a search, with the ranking of the namespace unless by is given. The caller calls
// done. A namespace that does not exist is [ragctx.ErrNotFound].
func (r *Retriever) begin(
	ctx context.Context, kind store.Kind, q ragctx.ContextQuery, plan index.Query, by *index.Ranking,
) (*search, error) {
	ns, err := access.Namespace(ctx, r.Store, q.Namespace, false)
	if err != nil {
		return nil, err
	}
	id := store.Collection{Namespace: ns, Kind: kind}
	if by == nil {
		own, err := r.Rankings.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		by = &own
	}
	by.Apply(&plan)
	s := &search{Retriever: r, query: q, plan: plan}
	// A filter applies to facts, and as_of may see a fact without its turn.
	if kind == store.KindMemories && plan.Filter.IsZero() && q.AsOf.IsZero() && q.Params[ParamFacts] != true {
		yes, err := r.hasFacts(ctx, ns)
		if err != nil {
			return nil, err
		}
		if yes {
			s.facts = newTurnLookup(r.Store, ns, plan)
		}
	}
	if s.index, s.done, err = r.Collections.Get(ctx, id); err != nil {
		return nil, err
	}
	if err := s.addFeedback(ctx); err != nil {
		s.done()
		return nil, err
	}
	return s, nil
}

// addFeedback sets the words of feedback if the query asks for pseudo-relevance feedback.
func (s *search) addFeedback(ctx context.Context) error {
	if !queryexpand.WantsFeedback(s.query) || s.plan.Time != nil && s.plan.Time.List {
		return nil
	}
	found, err := s.ask(ctx, queryexpand.FeedbackTexts)
	if err != nil {
		return err
	}
	best, err := passage.Load(ctx, s.Store, s.request(found.Result))
	if err != nil {
		return err
	}
	texts := make([]string, len(best))
	for i, b := range best {
		texts[i] = b.Unit.Text
	}
	fed := queryexpand.Feedback(s.plan.Text, texts, queryexpand.FeedbackOptions{})
	s.feedback = passage.IndexWordings(fed)
	return nil
}

// request returns the request to make items of a result.
func (s *search) request(found index.Result) passage.Request {
	return passage.Request{
		Query: s.query, Search: s.plan, Hits: found.Hits, State: found.State, Terms: found.Terms,
	}
}

// found is the result of one search of the index.
type found struct {
	index.Result
	// more reports that there may be further hits.
	more bool
}

// minAsked is the number of hits that the index is asked for at least. Fewer take the same time.
const minAsked = 100

// growing yields the hits of a search: k at first, then four times as many until the index has no
// more or the limit is reached. The caller breaks off when it has enough.
func (s *search) growing(ctx context.Context, k, limit int) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		for {
			f, err := s.results(ctx, k)
			if !yield(f, err) || err != nil || !f.more || k >= limit {
				return
			}
			k = min(4*k, limit)
		}
	}
}

// results returns k hits, with facts replaced by their turns. It searches the index only if all that the last search ranked
// does not suffice.
func (s *search) results(ctx context.Context, k int) (found, error) {
	if s.last == nil || len(s.last.Hits) < k && s.last.more {
		f, err := s.ask(ctx, max(k, minAsked))
		if err != nil {
			return f, err
		}
		f.Hits = append(f.Hits, f.Further...)
		s.last = &f
	}
	f, err := *s.last, error(nil)
	f.more = f.more || len(f.Hits) > k
	f.Hits = f.Hits[:min(k, len(f.Hits))]
	if s.facts != nil {
		f.Hits, err = s.facts.replace(ctx, f.Hits)
	}
	return f, err
}

// ask searches the index for k hits. Hits found only by the vector index must exceed the embedder's
// noise floor, unless only that index is searched.
func (s *search) ask(ctx context.Context, k int) (found, error) {
	for {
		name := s.index.Space()
		f, err := s.askIn(ctx, s.Spaces.Named(name), k)
		if ctx.Err() != nil || s.index.Space() == name {
			return f, err
		}
		// The embedding space changed during the search, so the vector was not compared; search
		// again.
	}
}

// askIn searches with a vector of an embedding space, or without one if the embedder fails.
func (s *search) askIn(ctx context.Context, in *Space, k int) (found, error) {
	plan := s.plan
	plan.K, plan.More = k, slices.Concat(plan.More, s.feedback)
	var degraded []string
	span := trace.Start(ctx, trace.Embed)
	err := s.embed(ctx, in, &plan)
	span.End()
	if err != nil {
		s.Logger.Log(ctx, EmbedderLogLevel(err), "embedder failed on a query", "error", err)
		degraded = []string{"vector"}
	}
	if in != nil {
		plan.Space = in.Name()
		in.Calibrate(&plan.Fusion)
	}
	res, err := s.index.Search(ctx, plan)
	res.Degraded = append(degraded, res.Degraded...)
	return found{res, len(res.Hits) == k}, err
}

// embed sets the vectors of a question and of its sentences. If one of a sentence fails, the sentences are left out.
func (s *search) embed(ctx context.Context, in *Space, plan *index.Query) (err error) {
	sentences := slices.Clone(plan.Sentences)
	errs := make([]error, len(sentences))
	var wg sync.WaitGroup
	for i := range sentences {
		part := s.plan
		part.Text = sentences[i].Text
		wg.Go(func() { sentences[i].Vector, errs[i] = in.queryVector(ctx, part) })
	}
	plan.Vector, err = in.queryVector(ctx, s.plan)
	wg.Wait()
	if plan.Sentences = sentences; errors.Join(errs...) != nil && err == nil {
		plan.Sentences = nil
	}
	return err
}

// EmbedderLogLevel returns the log level of an embedder's failure. Failures while the circuit breaker is
// open are logged at debug: its opening was logged already.
func EmbedderLogLevel(err error) slog.Level {
	if errors.Is(err, httpclient.ErrOpen) {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// Hit is a hit with its chunk and item, before chunks are joined to items.
type Hit = passage.Found

// Hits returns at most plan.K hits of a query, best first, and the names of signals that failed. A
// ranking replaces the ranking of the namespace.
func (r *Retriever) Hits(
	ctx context.Context, kind store.Kind, q ragctx.ContextQuery, plan index.Query, by *index.Ranking,
) ([]Hit, []string, error) {
	s, err := r.begin(ctx, kind, q, plan, by)
	if isNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer s.done()
	var last found
	for f, err := range s.growing(ctx, plan.K, maxHits) {
		if err != nil {
			return nil, nil, err
		}
		if last = f; len(f.Hits) >= plan.K {
			break
		}
	}
	last.Hits = last.Hits[:min(plan.K, len(last.Hits))]
	hits, err := passage.Load(ctx, s.Store, s.request(last.Result))
	return hits, last.Degraded, err
}

// Bounds on the hits examined for one that has the phrases of a query, at first and at most: texts
// with all words of a phrase mostly contain the phrase.
const (
	minPhraseHits = 16
	maxPhraseHits = 4096
)

// HasPhrases reports whether a text of a kind in scope has all phrases of the plan.
func (r *Retriever) HasPhrases(
	ctx context.Context, kind store.Kind, q ragctx.ContextQuery, plan index.Query,
) (bool, error) {
	s, err := r.begin(ctx, kind, q, plan, nil)
	if isNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer s.done()
	for f, err := range s.growing(ctx, minPhraseHits, maxPhraseHits) {
		if err != nil {
			return false, err
		}
		held, err := passage.Load(ctx, s.Store, s.request(f.Result))
		if err != nil || len(held) > 0 {
			return len(held) > 0, err
		}
	}
	return false, nil
}
