package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
)

// Limits of searches.
const (
	maxFilterDepth = 8
	maxFilters     = 256
	maxFound       = 50
)

// question is a text, or several of which the first leads.
type question []string

// Schema implements [huma.SchemaProvider].
func (question) Schema(huma.Registry) *huma.Schema {
	length, most := ragctx.MaxQueryBytes, ragctx.MaxQueries+1
	one := &huma.Schema{Type: huma.TypeString, MaxLength: &length}
	return &huma.Schema{OneOf: []*huma.Schema{one, {Type: huma.TypeArray, Items: one, MaxItems: &most}}}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (q *question) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*q = question{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(q))
}

// searchRequest searches a vector store.
type searchRequest struct {
	Query          question       `json:"query" doc:"the question, or several wordings of it"`
	Filters        map[string]any `json:"filters,omitempty" doc:"comparison of an attribute, or of filters (and, or)"`
	MaxNumResults  int            `json:"max_num_results,omitempty" minimum:"1" maximum:"50" default:"10" doc:"maximum number of results"`
	RankingOptions *ranking       `json:"ranking_options,omitempty" doc:"how to rank"`
	RewriteQuery   bool           `json:"rewrite_query,omitempty" doc:"has no effect: every question is expanded"`
}

// ranking are the options of a search.
type ranking struct {
	Ranker         string  `json:"ranker,omitempty" enum:"none,auto,default-2024-11-15,default_2024_08_21" doc:"none: no reranker"`
	ScoreThreshold float64 `json:"score_threshold,omitempty" minimum:"0" maximum:"1" doc:"minimum score"`
}

// found is a page of results.
type found struct {
	Object      string   `json:"object" doc:"always vector_store.search_results.page"`
	SearchQuery []string `json:"search_query" nullable:"false" doc:"the question"`
	Data        []result `json:"data" nullable:"false" doc:"results, best first"`
	HasMore     bool     `json:"has_more" doc:"always false"`
	NextPage    *string  `json:"next_page" doc:"always null"`
}

// result is a passage of a file.
type result struct {
	FileID     string         `json:"file_id" doc:"id of the file"`
	Filename   string         `json:"filename" doc:"name of the file"`
	Score      float64        `json:"score" doc:"probability that the relevance or the cosine is right, 0 to 1"`
	Attributes map[string]any `json:"attributes" doc:"custom values of the file"`
	Content    []content      `json:"content" nullable:"false" doc:"the passage"`
}

type searchInput struct {
	StoreKey
	Body searchRequest
}

type searchOutput struct{ Body found }

func (s *service) search(ctx context.Context, in *searchInput) (*searchOutput, error) {
	r := in.Body
	out := found{Object: "vector_store.search_results.page", SearchQuery: r.Query, Data: []result{}}
	if len(r.Query) == 0 || strings.TrimSpace(r.Query[0]) == "" {
		return nil, ragctx.Invalid("query", "is empty; send a question")
	}
	if _, _, err := s.get(ctx, in.Namespace, storesPrefix, in.StoreID); err != nil {
		return nil, err
	}
	q := ragctx.NewQuery(r.Query[0]).WithTypes(ragctx.TypeResource)
	q.Queries, q.Namespace, q.MaxResults = r.Query[1:], in.Namespace, cmp.Or(r.MaxNumResults, 10)
	q.Filter.Tags, q.MinRelevance, q.Explain = []string{in.StoreID}, new(float64), true
	threshold := 0.0
	if o := r.RankingOptions; o != nil {
		if threshold = o.ScoreThreshold; o.Ranker == "none" {
			q = q.WithParam("rerank", false)
		}
	}
	items, err := s.among(ctx, q, in.StoreID, r.Filters)
	if err != nil {
		return nil, err
	}
	score := 1.0
	for _, it := range items {
		if score = min(score, compat.Score(it)); score < threshold {
			break
		}
		file, ours := strings.CutPrefix(it.Source, source(in.StoreID, ""))
		if !ours {
			continue // a document of another route that has the tag
		}
		d, err := s.find(ctx, in.Namespace, entriesPrefix, in.StoreID, file)
		if isNotFound(err) {
			continue // removed since
		}
		if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, result{
			FileID: file, Filename: text(record(d), "filename"), Score: ragctx.Rounded(score), Attributes: attributesOf(d),
			Content: []content{{"text", it.Content}},
		})
	}
	return &searchOutput{out}, nil
}

// among searches the files of a vector store that a filter matches. The filter is part of the search, as their
// sources.
func (s *service) among(
	ctx context.Context, q ragctx.ContextQuery, storeID string, filters map[string]any,
) ([]ragctx.ContextItem, error) {
	if len(filters) == 0 {
		res, err := s.engine.Search(ctx, q)
		return res.Items, err
	}
	n := 0
	matches, err := readFilter("filters", filters, 0, &n)
	if err != nil {
		return nil, err
	}
	files, err := s.all(ctx, q.Namespace, entriesPrefix+storeID+"/")
	if err != nil {
		return nil, err
	}
	var sources []string
	for _, d := range files {
		if matches(attributesOf(d)) {
			sources = append(sources, d.Source)
		}
	}
	var items []ragctx.ContextItem
	for some := range slices.Chunk(sources, ragctx.MaxFilterValues) {
		q.Filter.Sources = some
		res, err := s.engine.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		items = append(items, res.Items...)
	}
	slices.SortStableFunc(items, func(a, b ragctx.ContextItem) int { return cmp.Compare(b.Relevance, a.Relevance) })
	return items[:min(q.MaxResults, len(items))], nil
}

// predicate says whether attributes match.
type predicate func(map[string]any) bool

// readFilter reads a filter. n counts the filters read.
func readFilter(path string, f map[string]any, depth int, n *int) (predicate, error) {
	if *n++; *n > maxFilters || depth > maxFilterDepth {
		return nil, ragctx.Invalid(path, "is beyond %d filters or %d levels; send fewer", maxFilters, maxFilterDepth)
	}
	kind, _ := f["type"].(string)
	if kind == "and" || kind == "or" {
		return readCompound(path, kind, f, depth, n)
	}
	key, ok := f["key"].(string)
	if !ok || key == "" {
		return nil, ragctx.Invalid(path+".key", "is missing; name an attribute")
	}
	value := plainValue(f["value"])
	test, err := comparison(path, kind, value)
	if err != nil {
		return nil, err
	}
	return func(a map[string]any) bool {
		have, has := a[key]
		if !has {
			return kind == "ne" || kind == "nin"
		}
		return test(plainValue(have))
	}, nil
}

func readCompound(path, kind string, f map[string]any, depth int, n *int) (predicate, error) {
	list, ok := f["filters"].([]any)
	if !ok || len(list) == 0 {
		return nil, ragctx.Invalid(path+".filters", "is no list of filters; send one")
	}
	var all []predicate
	for i, x := range list {
		at := path + ".filters[" + strconv.Itoa(i) + "]"
		m, ok := x.(map[string]any)
		if !ok {
			return nil, ragctx.Invalid(at, "is no object; send a filter such as {\"type\": \"eq\", \"key\": \"team\", \"value\": \"ops\"}")
		}
		p, err := readFilter(at, m, depth+1, n)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return func(a map[string]any) bool {
		for _, p := range all {
			if p(a) == (kind == "or") {
				return kind == "or"
			}
		}
		return kind == "and"
	}, nil
}

// comparison returns the test of an attribute's value.
func comparison(path, kind string, value any) (func(any) bool, error) {
	switch value.(type) {
	case string, float64, bool:
	case []any:
		if kind == "in" || kind == "nin" {
			break
		}
		return nil, ragctx.Invalid(path+".value", "is a list, which only in and nin compare; send one value")
	default:
		return nil, ragctx.Invalid(path+".value", "is %s; send a text, a number, true or false", ragctx.Clip(fmt.Sprint(value)))
	}
	one := func(have any, of any) bool { return reflect.DeepEqual(have, plainValue(of)) }
	switch kind {
	case "eq":
		return func(have any) bool { return one(have, value) }, nil
	case "ne":
		return func(have any) bool { return !one(have, value) }, nil
	case "in", "nin":
		list, ok := value.([]any)
		if !ok {
			return nil, ragctx.Invalid(path+".value", "is no list; send one for %s", kind)
		}
		return func(have any) bool {
			return slices.ContainsFunc(list, func(x any) bool { return one(have, x) }) == (kind == "in")
		}, nil
	case "gt", "gte", "lt", "lte":
		return func(have any) bool {
			order, ok := compare(have, value)
			return ok && (order > 0 && kind[0] == 'g' || order < 0 && kind[0] == 'l' || order == 0 && len(kind) == len("gte"))
		}, nil
	}
	return nil, ragctx.Invalid(path+".type", "is %q; use eq, ne, gt, gte, lt, lte, in, nin, and, or", ragctx.Clip(kind))
}

// compare orders two numbers or two texts.
func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return cmp.Compare(a, b), ok
	case string:
		b, ok := b.(string)
		return cmp.Compare(a, b), ok
	}
	return 0, false
}
