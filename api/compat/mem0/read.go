package mem0

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/compat"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// mem0Page is a page of memories in mem0's format.
type mem0Page struct {
	Count    int          `json:"count" doc:"total number of memories"`
	Next     *string      `json:"next"`
	Previous *string      `json:"previous"`
	Results  []mem0Memory `json:"results" nullable:"false"`
}

// mem0Found is a search result in mem0's v1.1 format.
type mem0Found struct {
	Results   []mem0Memory `json:"results" nullable:"false"`
	Relations []any        `json:"relations" nullable:"false" doc:"always empty"`
}

type listInput struct {
	Project
	UserID     string   `query:"user_id" maxLength:"512"`
	AgentID    string   `query:"agent_id" maxLength:"512"`
	RunID      string   `query:"run_id" maxLength:"512" doc:"session id"`
	Categories []string `query:"categories,explode" maxItems:"16" doc:"tags; a memory must carry one of them"`
	Keywords   string   `query:"keywords" maxLength:"4096" doc:"substring of the memory"`
	StartDate  string   `query:"start_date" doc:"only memories created at or after this time"`
	EndDate    string   `query:"end_date" doc:"only memories created before this time"`
	Page       int      `query:"page" minimum:"1" maximum:"10000"`
	PageSize   int      `query:"page_size" minimum:"1" maximum:"1000"`
	Limit      int      `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

type filterInput struct {
	Project
	Page     int `query:"page" minimum:"1" maximum:"10000"`
	PageSize int `query:"page_size" minimum:"1" maximum:"1000"`
	Body     mem0Filters

	url *url.URL
}

// Resolve implements [huma.Resolver]; it keeps the URL.
func (in *filterInput) Resolve(ctx huma.Context) []error {
	in.url = humaecho.Unwrap(ctx).Request().URL
	return nil
}

// mem0Filters requests a list of memories.
type mem0Filters struct {
	Owners
	Filters   request.Metadata `json:"filters,omitempty"`
	Page      int              `json:"page,omitempty" minimum:"1" maximum:"10000"`
	PageSize  int              `json:"page_size,omitempty" minimum:"1" maximum:"1000"`
	OrgID     string           `json:"org_id,omitempty" maxLength:"512" doc:"ignored"`
	ProjectID string           `json:"project_id,omitempty" maxLength:"512" doc:"namespace"`
	Version   string           `json:"version,omitempty" doc:"ignored"`
}

// anyOutput is an answer whose format depends on the request.
type anyOutput struct{ Body any }

func (s *service) list(ctx context.Context, in *listInput) (*anyOutput, error) {
	scope := selection{user: in.UserID, agent: in.AgentID, run: in.RunID, contains: in.Keywords}.of(access.From(ctx))
	if !scope.named() {
		return nil, ragctx.Invalid("user_id", "is missing, and so are agent_id and run_id; send at least one of them")
	}
	var err error
	if scope.after, err = day("start_date", in.StartDate); err != nil {
		return nil, err
	}
	if scope.before, err = day("end_date", in.EndDate); err != nil {
		return nil, err
	}
	scopes := withCategories([]selection{scope}, in.Categories)
	if in.Page == 0 || in.PageSize == 0 {
		found, _, err := s.memories(ctx, in.ProjectID, scopes, in.Limit)
		return &anyOutput{mem0Shapes(found)}, err
	}
	page, err := s.page(ctx, in.ProjectID, scopes, in.Page, in.PageSize, nil)
	return &anyOutput{page}, err
}

func (s *service) listV2(ctx context.Context, in *filterInput) (*anyOutput, error) {
	page, err := s.filtered(ctx, in)
	return &anyOutput{page.Results}, err
}

func (s *service) listV3(ctx context.Context, in *filterInput) (*anyOutput, error) {
	page, err := s.filtered(ctx, in)
	return &anyOutput{page}, err
}

func (s *service) filtered(ctx context.Context, in *filterInput) (mem0Page, error) {
	scopes, err := in.Body.scopes(in.Body.Filters, access.From(ctx))
	if err != nil {
		return mem0Page{}, err
	}
	n, size := cmp.Or(in.Page, in.Body.Page, 1), cmp.Or(in.PageSize, in.Body.PageSize, engine.DefaultPage)
	return s.page(ctx, cmp.Or(in.ProjectID, in.Body.ProjectID), scopes, n, size, in.url)
}

// maxMem0Gathered is how many memories a paged list over several alternatives reaches.
const maxMem0Gathered = 10_000

// mem0Page returns page n of a list, counted from 1.
func (s *service) page(ctx context.Context, namespace string, scopes []selection, n, size int,
	at *url.URL,
) (mem0Page, error) {
	page := mem0Page{Results: []mem0Memory{}}
	most := n * size
	if most > maxMem0Gathered {
		return page, ragctx.Invalid("page", "reaches beyond the first %d memories; narrow the list", maxMem0Gathered)
	}
	if len(scopes) > 1 {
		most = maxMem0Gathered
	}
	found, count, err := s.memories(ctx, namespace, scopes, most)
	if err != nil {
		return page, err
	}
	page.Count = count
	page.Results = mem0Shapes(found[min((n-1)*size, len(found)):min(n*size, len(found))])
	if n*size < count {
		page.Next = pageURL(at, n+1, size)
	}
	if n > 1 {
		page.Previous = pageURL(at, n-1, size)
	}
	return page, nil
}

// pageURL returns the URL of a page.
func pageURL(at *url.URL, n, size int) *string {
	u := url.URL{Path: Memories + "/"}
	if at != nil {
		u.Path = at.Path + "/"
	}
	u.RawQuery = url.Values{"page": {strconv.Itoa(n)}, "page_size": {strconv.Itoa(size)}}.Encode()
	text := u.String()
	return &text
}

// mem0Memories returns at most limit of the newest memories in scopes, and their total. With
// several scopes, the total covers only the gathered memories.
func (s *service) memories(ctx context.Context, namespace string, scopes []selection,
	limit int,
) ([]ragctx.Memory, int, error) {
	var all []ragctx.Memory
	count := 0
	seen := make(map[string]bool)
	for _, scope := range scopes {
		f := scope.memories()
		n, err := s.engine.Memories().Count(ctx, namespace, f)
		if err != nil {
			return nil, 0, err
		}
		count += n
		f.Order = store.BySaid
		err = engine.EachPage(ctx, s.engine.Memories().List, namespace, f, limit, func(page []ragctx.Memory) error {
			for _, m := range page {
				if !seen[m.ID] {
					seen[m.ID] = true
					all = append(all, m)
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	if len(scopes) > 1 {
		count = len(all)
		slices.SortStableFunc(all, func(a, b ragctx.Memory) int {
			return cmp.Or(store.Said(b).Compare(store.Said(a)),
				cmp.Compare(a.ID, b.ID))
		})
	}
	return all[:min(limit, len(all))], count, nil
}

func mem0Shapes(found []ragctx.Memory) []mem0Memory {
	out := make([]mem0Memory, len(found))
	for i, m := range found {
		out[i] = toMem0(m)
	}
	return out
}

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

// Owners are owners beside the filters, as some clients send them.
type Owners struct {
	UserID  string `json:"user_id,omitempty" maxLength:"512"`
	AgentID string `json:"agent_id,omitempty" maxLength:"512"`
	RunID   string `json:"run_id,omitempty" maxLength:"512" doc:"session id"`
}

// scopes parses filters, to which the owners are added.
func (o Owners) scopes(filters request.Metadata, key access.Grant) ([]selection, error) {
	given := map[string]any{}
	for name, id := range map[string]string{"user_id": o.UserID, "agent_id": o.AgentID, "run_id": o.RunID} {
		if id != "" {
			given[name] = id
		}
	}
	switch {
	case len(given) == 0:
		return readFilters(filters, key)
	case len(filters) == 0:
		return readFilters(given, key)
	}
	return readFilters(request.Metadata{"AND": []any{given, map[string]any(filters)}}, key)
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

// withCategories restricts each scope to memories that carry one of the tags.
func withCategories(scopes []selection, tags []string) []selection {
	if len(tags) == 0 {
		return scopes
	}
	var out []selection
	for _, s := range scopes {
		for _, tag := range tags {
			one := s
			one.filter.Tags = append(slices.Clone(s.filter.Tags), tag)
			out = append(out, one)
		}
	}
	return out
}

// mem0Change is an entry of a memory's history in mem0's format.
type mem0Change struct {
	ID        string    `json:"id"`
	MemoryID  string    `json:"memory_id"`
	Input     []any     `json:"input" nullable:"false" doc:"always empty; the turn has the messages"`
	OldMemory *string   `json:"old_memory"`
	NewMemory *string   `json:"new_memory"`
	UserID    *string   `json:"user_id"`
	Event     string    `json:"event" enum:"ADD,UPDATE,DELETE"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type historyOutput struct{ Body []mem0Change }

func (s *service) history(ctx context.Context, in *Key) (*historyOutput, error) {
	anyone := engine.Viewer{Anyone: true}
	changes, err := s.engine.Memories().History(ctx, in.ProjectID, in.ID, anyone)
	if err != nil {
		return nil, err
	}
	m, _ := s.engine.Memories().Find(ctx, in.ProjectID, in.ID, anyone) // for the owner, if it still exists
	out := []mem0Change{}
	for i, c := range changes {
		if c.Op == ragctx.OpQuarantined || c.Op == ragctx.OpDiscarded {
			continue // was never visible
		}
		out = append(out, mem0Change{
			ID: fmt.Sprintf("%s:%d", in.ID, i+1), MemoryID: in.ID, Input: []any{}, OldMemory: orNull(c.Previous),
			NewMemory: orNull(c.Content),
			UserID:    orNull(m.UserID), Event: eventOfChange(c), CreatedAt: c.At, UpdatedAt: c.At,
		})
	}
	return &historyOutput{out}, nil
}

func eventOfChange(c ragctx.MemoryChange) string {
	switch {
	case c.Version == 0:
		return "DELETE"
	case c.Before == 0:
		return "ADD"
	default:
		return "UPDATE"
	}
}
