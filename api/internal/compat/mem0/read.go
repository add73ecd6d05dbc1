package mem0

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
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

// Owners are owners in addition to the filters, as some clients send them.
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
