package ragctx_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
)

// A query of JSON has no types, and the constructor's one
// filters nothing.
func TestQueryDefaults(t *testing.T) {
	var fromJSON ragctx.ContextQuery
	if err := json.Unmarshal([]byte(`{"query":"q"}`), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if len(fromJSON.ContextTypes) != 0 || fromJSON.Depth != ragctx.DepthOverview || fromJSON.MaxResults != 10 || fromJSON.MaxTokens != 4000 {
		t.Errorf("a query of JSON with only a text: %+v", fromJSON)
	}
	q := ragctx.NewQuery("q")
	if len(q.ContextTypes) != 1 || q.ContextTypes[0] != ragctx.TypeResource || q.Depth != ragctx.DepthOverview || q.MaxResults != 10 || q.MaxTokens != 4000 {
		t.Errorf("a constructed query: %+v", q)
	}
	if !q.Wants(ragctx.TypeMemory) {
		t.Error("the constructor's default type hides memories")
	}
	if q = q.WithTypes(ragctx.TypeResource); q.Wants(ragctx.TypeMemory) {
		t.Error("a type that the caller chose does not filter")
	}
}

func TestDefaultTypeDoesNotTravel(t *testing.T) {
	b, err := json.Marshal(ragctx.NewQuery("q"))
	if err != nil {
		t.Fatal(err)
	}
	var back ragctx.ContextQuery
	if err := json.Unmarshal(b, &back); err != nil || !back.Wants(ragctx.TypeMemory) {
		t.Errorf("%s hides memories, %v", b, err)
	}
}

// The three presets.
func TestPresets(t *testing.T) {
	for _, c := range []struct {
		query string
		want  ragctx.Caps
	}{
		{`{"query":"q"}`, ragctx.Caps{MaxResults: 10, MaxTokens: 4000, MaxResultsPerSource: 5, MaxTokensPerSource: 2500}},
		{`{"query":"q","max_results":3,"max_tokens":500}`, ragctx.Caps{MaxResults: 3, MaxTokens: 500, MaxResultsPerSource: 2, MaxTokensPerSource: 313}},
		{`{"query":"q","max_results":100}`, ragctx.Caps{MaxResults: 100, MaxTokens: 4000, MaxResultsPerSource: 6, MaxTokensPerSource: 2500}},
		{`{"query":"q","preset":"balanced"}`, ragctx.Caps{MaxResults: 12, MaxTokens: 4000, MaxResultsPerSource: 6, MaxTokensPerSource: 2500}},
		{`{"query":"q","preset":"compact"}`, ragctx.Caps{MaxResults: 8, MaxTokens: 2500, MaxResultsPerSource: 4, MaxTokensPerSource: 1200}},
		{`{"query":"q","preset":"expansive","max_tokens":100}`, ragctx.Caps{MaxResults: 20, MaxTokens: 100, MaxResultsPerSource: 8, MaxTokensPerSource: 44}},
	} {
		var q ragctx.ContextQuery
		if err := json.Unmarshal([]byte(c.query), &q); err != nil {
			t.Fatal(err)
		}
		if got := q.Caps(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.query, got, c.want)
		}
	}
}

// What is written is read.
func TestQueryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := ragctx.NewQuery(rapid.String().Draw(t, "query")).
			WithTypes(rapid.SliceOfN(rapid.SampledFrom([]ragctx.ContextType{ragctx.TypeMemory, ragctx.TypeResource, ragctx.TypeSkill}), 1, 3).Draw(t, "types")...).
			WithDepth(rapid.SampledFrom([]ragctx.ContextDepth{ragctx.DepthAbstract, ragctx.DepthOverview, ragctx.DepthFull}).Draw(t, "depth")).
			WithMaxResults(rapid.IntRange(1, 1000).Draw(t, "results")).WithMaxTokens(rapid.IntRange(1, 1e6).Draw(t, "tokens")).
			WithSessionID(rapid.String().Draw(t, "session")).WithParam("k", "v")
		b, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		var back ragctx.ContextQuery
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(q, back, cmpopts.IgnoreUnexported(ragctx.ContextQuery{})); d != "" {
			t.Fatal(d)
		}
	})
}

func TestQueryReadsStrictly(t *testing.T) {
	for _, body := range []string{
		`{"query":"q","max_token":5}`, `{"query":7}`, `{"query":"q","context_types":["secrets"]}`,
		`{"query":"q","depth":"deep"}`, `{"query":"q","max_results":1e99}`, `{"query":"q","max_results":1.5}`,
	} {
		var q ragctx.ContextQuery
		if err := json.Unmarshal([]byte(body), &q); err == nil {
			t.Errorf("%s was read as %+v", body, q)
		}
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for field, q := range map[string]ragctx.ContextQuery{
		"query":                  ragctx.NewQuery(strings.Repeat("x", ragctx.MaxQueryBytes+1)),
		"max_results":            ragctx.NewQuery("q").WithMaxResults(-1),
		"max_tokens":             ragctx.NewQuery("q").WithMaxTokens(ragctx.MaxTokensLimit + 1),
		"stable_tokens":          {Query: "q", StableTokens: -2},
		"min_relevance":          {Query: "q", MinRelevance: new(math.NaN())},
		"diversity":              {Query: "q", Diversity: 1.5},
		"preset":                 {Query: "q", Preset: "huge"},
		"namespace":              {Query: "q", Namespace: "a\x00b"},
		"as_of":                  {Query: "q", AsOf: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"user_id":                {Query: "q", UserID: "\xff"},
		"session_id":             {Query: "q", SessionID: strings.Repeat("s", ragctx.MaxNameBytes+1)},
		"context_types":          {Query: "q", ContextTypes: []ragctx.ContextType{"x"}},
		"depth":                  {Query: "q", Depth: "x"},
		"filter":                 {Query: "q", Filter: ragctx.Filter{Tags: make([]string, ragctx.MaxFilterValues+1)}},
		"exclude":                {Query: "q", Exclude: make([]string, ragctx.MaxResultsLimit+1)},
		"queries":                {Query: "q", Queries: make([]string, ragctx.MaxQueries+1)},
		"queries[1]":             {Query: "q", Queries: []string{"a", ""}},
		"queries[0]":             {Query: "q", Queries: []string{"a\x00b"}},
		"filter.occurred_before": {Query: "q", Filter: ragctx.Filter{OccurredAfter: day(2), OccurredBefore: day(1)}},
	} {
		err := q.WithDefaults().Validate()
		var fe *ragctx.FieldError
		if !errors.As(err, &fe) || fe.Field != field || !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: got %v", field, err)
		}
	}
	half := strings.Repeat("x", ragctx.MaxQueryBytes/2)
	for q, ok := range map[*ragctx.ContextQuery]bool{
		{Query: half, Queries: []string{half}}:      true,
		{Query: half, Queries: []string{half, "x"}}: false,
		{Queries: []string{"x"}}:                    false,
	} {
		if err := q.WithDefaults().Validate(); (err == nil) != ok || !ok && !strings.Contains(err.Error(), "queries") {
			t.Errorf("%d wordings: %v", len(q.Queries), err)
		}
	}
	if err := ragctx.NewQuery("fine").Validate(); err != nil {
		t.Error(err)
	}
}

// Names in any letter case, and their aliases.
func TestTypesAndDepths(t *testing.T) {
	for in, want := range map[string]ragctx.ContextType{
		"Memory": ragctx.TypeMemory, "RESOURCE": ragctx.TypeResource, "file": ragctx.TypeResource, "Custom": ragctx.TypeResource, "skill": ragctx.TypeSkill,
	} {
		if got, err := ragctx.ParseContextType(in); err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for in, want := range map[string]ragctx.ContextDepth{"": ragctx.DepthOverview, "L0": ragctx.DepthAbstract, "Full": ragctx.DepthFull} {
		if got, err := ragctx.ParseContextDepth(in); err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	if ragctx.TypeSkill.Label() != "Skill" || ragctx.ContextType("").Label() != "Resource" {
		t.Error("labels")
	}
}

// 1.5 is 1, -.5 is 0.
func TestRelevanceIsClamped(t *testing.T) {
	for in, want := range map[float64]float64{1.5: 1, -.5: 0, .25: .25, math.Inf(1): 1, math.Inf(-1): 0} {
		if got := (ragctx.ContextItem{}).WithRelevance(in).Relevance; got != want {
			t.Errorf("%v became %v, want %v", in, got, want)
		}
	}
	if got := ragctx.Clamp01(math.NaN()); got != 0 {
		t.Errorf("NaN became %v", got)
	}
}

func TestRoundedHasSixDigits(t *testing.T) {
	for in, want := range map[float64]float64{
		0.5903534931763568: .590353, 6.148641849543269e-05: 6.14864e-05, 1: 1, 1 - 1e-6: .999999, 0: 0, -2.0000004: -2,
		math.MaxFloat64: 1.79769e308, math.Inf(1): math.Inf(1),
	} {
		if got := ragctx.Rounded(in); got != want {
			t.Errorf("%v became %v, want %v", in, got, want)
		}
	}
	if got := (ragctx.ContextItem{}).WithRelevance(1. / 3).Relevance; got != .333333 {
		t.Errorf("a relevance of a third became %v", got)
	}
}

// 50 + 75 + 25 = 150, and what exceeds an integer saturates.
func TestResultAddsUp(t *testing.T) {
	var r ragctx.ContextResult
	if !r.IsEmpty() {
		t.Error("a new result is not empty")
	}
	for _, n := range []int{50, 75, 25} {
		r.Add(ragctx.ContextItem{TokenCount: n})
	}
	if r.TotalTokens != 150 || len(r.Items) != 3 {
		t.Errorf("%d tokens in %d items", r.TotalTokens, len(r.Items))
	}
	r.Add(ragctx.ContextItem{TokenCount: math.MaxInt})
	if r.TotalTokens != math.MaxInt {
		t.Errorf("the sum did not saturate: %d", r.TotalTokens)
	}
}

func TestMessageContent(t *testing.T) {
	plain := `{"role":"user","content":"hi"}`
	var m ragctx.Message
	if err := json.Unmarshal([]byte(plain), &m); err != nil {
		t.Fatal(err)
	}
	if m.Content.String() != "hi" {
		t.Errorf("content %q", m.Content.String())
	}
	if b, _ := json.Marshal(m); string(b) != plain {
		t.Errorf("written as %s", b)
	}
	blocks := `{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"tool_use","id":"t1","name":"ls","input":{"dir":"/"}},` +
		`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"image","media_type":"image/png","data":"AA=="}],"is_error":true}],"metadata":{"execution_id":"e1","is_trace":true}}`
	if err := json.Unmarshal([]byte(blocks), &m); err != nil {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(m); string(b) != blocks {
		t.Errorf("written as %s", b)
	}
	if !m.IsTrace() || m.ExecutionID() != "e1" || len(m.ToolUses()) != 1 || len(m.ToolResults()) != 1 || m.IsEmpty() {
		t.Errorf("read as %+v", m)
	}
	for _, bad := range []string{`{"role":"boss","content":"x"}`, `{"role":"user","content":[{"type":"video"}]}`, `{"role":"user","content":5}`} {
		if err := json.Unmarshal([]byte(bad), &m); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// TestNoContent is a list without blocks, which is not null: the schema has no null.
func TestNoContent(t *testing.T) {
	for _, content := range []ragctx.Content{nil, {}} {
		b, err := json.Marshal(ragctx.Message{Role: ragctx.RoleSystem, Content: content})
		if want := `{"role":"system","content":[]}`; err != nil || string(b) != want {
			t.Errorf("%s, %v; want %s", b, err, want)
		}
	}
}

func TestTranscript(t *testing.T) {
	turn := ragctx.Turn{Prompt: "p", Response: "r"}
	if got := turn.Transcript(); len(got) != 2 || got[0].Role != ragctx.RoleUser || got[1].Content.String() != "r" {
		t.Errorf("%+v", got)
	}
	turn.Messages = []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "m")}
	if got := turn.Transcript(); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	no := false
	if !turn.Succeeded() || (ragctx.Turn{Success: &no}).Succeeded() {
		t.Error("success")
	}
}

func TestCodes(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   ragctx.Code
		status int
	}{
		{fmt.Errorf("x: %w", ragctx.Invalid("f", "bad")), "invalid", 422},
		{fmt.Errorf("x: %w", ragctx.ErrNotFound), "not_found", 404},
		{ragctx.TooLarge("f", "big"), "too_large", 413},
		{errors.New("x"), "internal", 500},
	} {
		if code, status := ragctx.CodeOf(c.err); code != c.code || status != c.status {
			t.Errorf("%v: %s %d", c.err, code, status)
		}
	}
}

func TestMetadataLimits(t *testing.T) {
	for _, m := range []map[string]any{
		{"": 1}, {"k": math.Inf(1)}, {"k": "a\x00"}, {"k": strings.Repeat("x", 100)}, {"a\x00": 1}, {"f": func() {}},
	} {
		if err := ragctx.ValidMetadata("metadata", m, 50); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%v: %v", reflect.ValueOf(m).MapKeys(), err)
		}
	}
	if err := ragctx.ValidMetadata("metadata", map[string]any{"k": 1}, 50); err != nil {
		t.Error(err)
	}
}

func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

func TestClip(t *testing.T) {
	if got := ragctx.Clip("a\nb\xff" + strings.Repeat("ü", 100)); len([]rune(got)) != 60 || strings.Contains(got, "\n") {
		t.Errorf("%q", got)
	}
}
