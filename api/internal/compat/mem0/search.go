package mem0

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// mem0SearchV1 searches memories by text.
type mem0SearchV1 struct {
	Mem0Query
	UserID   string           `json:"user_id,omitempty" maxLength:"512"`
	AgentID  string           `json:"agent_id,omitempty" maxLength:"512"`
	RunID    string           `json:"run_id,omitempty" maxLength:"512" doc:"session id"`
	Metadata request.Metadata `json:"metadata,omitempty" doc:"metadata values that a memory must have"`
}

// mem0SearchV2 searches memories by text and filters.
type mem0SearchV2 struct {
	Mem0Query
	Owners
	Filters request.Metadata `json:"filters,omitempty"`
}

// Mem0Query are the fields of both kinds of search.
type Mem0Query struct {
	Query          string   `json:"query" minLength:"1" maxLength:"65536"`
	TopK           int      `json:"top_k,omitempty" minimum:"1" maximum:"1000" default:"10"`
	Threshold      float64  `json:"threshold,omitempty" minimum:"0" maximum:"1" doc:"minimum relevance; default is none"`
	Rerank         *bool    `json:"rerank,omitempty" doc:"false skips the reranker, if the server has one"`
	KeywordSearch  bool     `json:"keyword_search,omitempty" doc:"ignored: keywords always count"`
	FilterMemories bool     `json:"filter_memories,omitempty" doc:"ignored"`
	OrgID          string   `json:"org_id,omitempty" maxLength:"512" doc:"ignored"`
	ProjectID      string   `json:"project_id,omitempty" maxLength:"512" doc:"namespace"`
	Version        string   `json:"version,omitempty" doc:"ignored"`
	OutputFormat   string   `json:"output_format,omitempty" enum:"v1.0,v1.1" default:"v1.0" doc:"v1.1 returns an object instead of a list"`
	LatestOnly     bool     `json:"latest_only,omitempty" doc:"ignored: superseded facts are never found"`
	Categories     []string `json:"categories,omitempty" maxItems:"16" doc:"tags; a memory must carry one of them"`
	ReferenceDate  any      `json:"reference_date,omitempty" doc:"time of the question: a day, a time, or seconds since 1970"`
	AsyncMode      bool     `json:"async_mode,omitempty" doc:"ignored"`
}

type searchInput struct {
	Project
	Body mem0SearchV1
}

type searchV2Input struct {
	Project
	Body mem0SearchV2
}

func (s *service) search(ctx context.Context, in *searchInput) (*anyOutput, error) {
	r := in.Body
	scope := selection{user: r.UserID, agent: r.AgentID, run: r.RunID}.of(access.From(ctx))
	if !scope.named() {
		return nil, ragctx.Invalid("user_id", "is missing, and so are agent_id and run_id; send at least one of them")
	}
	scopes := []selection{scope}
	if len(r.Metadata) > 0 {
		meta, err := metadataCondition("metadata", map[string]any(r.Metadata))
		if err != nil {
			return nil, err
		}
		scopes, _ = cross("metadata", scopes, meta) // a single alternative: cannot fail
	}
	found, err := s.find(ctx, cmp.Or(in.ProjectID, r.ProjectID), r.Mem0Query, scopes)
	if r.OutputFormat == "v1.1" {
		return &anyOutput{mem0Found{found, []any{}}}, err
	}
	return &anyOutput{found}, err
}

func (s *service) searchV2(ctx context.Context, in *searchV2Input) (*anyOutput, error) {
	found, err := s.findV2(ctx, in)
	if in.Body.OutputFormat == "v1.1" {
		return &anyOutput{mem0Found{found, []any{}}}, err
	}
	return &anyOutput{found}, err
}

func (s *service) searchV3(ctx context.Context, in *searchV2Input) (*anyOutput, error) {
	found, err := s.findV2(ctx, in)
	return &anyOutput{mem0Found{found, []any{}}}, err
}

func (s *service) findV2(ctx context.Context, in *searchV2Input) ([]mem0Memory, error) {
	scopes, err := in.Body.scopes(in.Body.Filters, access.From(ctx))
	if err != nil {
		return nil, err
	}
	return s.find(ctx, cmp.Or(in.ProjectID, in.Body.ProjectID), in.Body.Mem0Query, scopes)
}

// mem0Hit is an item of a search and its memory.
type mem0Hit struct {
	ragctx.ContextItem

	memory ragctx.Memory
}

// mem0Find searches all scopes and returns the best results, by [mem0Distill].
func (s *service) find(ctx context.Context, namespace string, r Mem0Query, scopes []selection) ([]mem0Memory, error) {
	limit := cmp.Or(r.TopK, ragctx.DefaultMaxResults)
	hits, err := s.hits(ctx, namespace, r, scopes, min(2*limit+10, ragctx.MaxResultsLimit)) // some turns are left out
	if err != nil {
		return nil, err
	}
	out := []mem0Memory{}
	score := 1.0
	for _, h := range mem0Distill(hits) {
		if score = min(score, compat.Score(h.ContextItem)); score < r.Threshold || len(out) == limit {
			break
		}
		shape := toMem0(h.memory)
		shape.Score = new(ragctx.Rounded(score))
		if h.Metadata["facts"] != nil && h.Highlights != nil {
			shape.Memory = h.Content[h.Highlights.Fragment.Start:h.Highlights.Fragment.End]
		}
		shape.Memory, _ = redact.Visible(shape.Memory) // for a model; a list returns the stored text
		out = append(out, shape)
	}
	return out, nil
}

// mem0Hits returns the hits of all scopes, best first, without outdated turns.
func (s *service) hits(
	ctx context.Context, namespace string, r Mem0Query, scopes []selection, limit int,
) ([]mem0Hit, error) {
	now, err := r.now()
	if err != nil {
		return nil, err
	}
	var hits []mem0Hit
	seen := make(map[string]bool)
	for _, scope := range withCategories(scopes, r.Categories) {
		q := ragctx.NewQuery(r.Query).WithTypes(ragctx.TypeMemory).
			WithParam(memory.ParamFacts, true).WithParam(memory.ParamConversation, false)
		q.Namespace, q.UserID, q.AgentID, q.Now = namespace, scope.user, scope.agent, now
		q.Filter, q.MinRelevance, q.Explain, q.Highlight = scope.filter, new(float64), true, true
		q.Filter.SessionID, q.MaxResults = scope.run, limit
		if !scope.after.IsZero() || !scope.before.IsZero() {
			q.MaxResults = ragctx.MaxResultsLimit // the indexes know the times of events, not these
		}
		if r.Rerank != nil && !*r.Rerank {
			q = q.WithParam("rerank", false)
		}
		found, err := s.engine.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, it := range found.Items {
			if seen[it.ID] {
				continue
			}
			m, err := s.engine.Memories().Get(ctx, namespace, it.ID, scope.user, false)
			if errors.Is(err, ragctx.ErrNotFound) {
				continue // deleted concurrently
			}
			outdated := false
			if err == nil {
				outdated, err = s.outdated(ctx, namespace, it, m)
			}
			if err != nil {
				return nil, err
			}
			if !outdated && scope.includes(store.Said(m)) {
				seen[it.ID] = true
				hits = append(hits, mem0Hit{it, m})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b mem0Hit) int { return cmp.Compare(b.Relevance, a.Relevance) })
	return hits, nil
}

// mem0Standing is the share of a turn's score with which a fact of the turn stands for it: the fact is
// shorter and says what is still true.
const mem0Standing = 0.6

// mem0Distill leaves out the turns that a found fact stands for.
func mem0Distill(hits []mem0Hit) []mem0Hit {
	best := make(map[string]float64) // score of a turn's best fact
	for _, h := range hits {
		for _, from := range h.memory.Sources {
			best[from.Turn] = max(best[from.Turn], compat.Score(h.ContextItem))
		}
	}
	return slices.DeleteFunc(hits, func(h mem0Hit) bool { return best[h.ID] > 0 && best[h.ID] >= mem0Standing*compat.Score(h.ContextItem) })
}

// mem0Outdated reports whether a memory is a turn of whose facts one was replaced, changed or deleted. What
// the turn says is no longer valid then, and its other facts are found by themselves.
func (s *service) outdated(ctx context.Context, namespace string, it ragctx.ContextItem, m ragctx.Memory) (bool, error) {
	if it.Since != "" || m.Type != ragctx.MemoryEpisodic || m.About != nil {
		return it.Since != "", nil
	}
	by := engine.Viewer{User: m.UserID}
	changes, err := s.engine.Sessions().TurnChanges(ctx, namespace, m.ID, by)
	for _, c := range changes {
		if c.Op != ragctx.OpCreated {
			continue
		}
		_, err := s.engine.Memories().Get(ctx, namespace, c.MemoryID, by.User, false)
		if errors.Is(err, ragctx.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, err
}

// now returns the time of the question; zero is the server's clock.
func (r Mem0Query) now() (time.Time, error) {
	switch at := r.ReferenceDate.(type) {
	case nil:
		return time.Time{}, nil
	case json.Number:
		seconds, err := at.Int64()
		if err != nil {
			return time.Time{}, ragctx.Invalid("reference_date", "is %s; use whole seconds since 1970", at)
		}
		return time.Unix(seconds, 0).UTC(), nil
	case float64:
		return time.Unix(int64(at), 0).UTC(), nil
	default:
		return mem0Time("reference_date", at)
	}
}
