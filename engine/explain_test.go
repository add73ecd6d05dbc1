package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/resolve"
)

// TestExplainKeepsToTheUser: a caller bound to a user does not learn how many memories other users
// have.
func TestExplainKeepsToTheUser(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), ProviderTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for i, user := range []string{"ada", "bob", "bob"} {
		if _, _, err := e.Memories().Put(t.Context(), ragctx.Memory{UserID: user, Content: strings.Repeat("tea ", i+1) + user}); err != nil {
			t.Fatal(err)
		}
	}
	for user, want := range map[string]string{"": "3 memories", "ada": "1 memories", "bob": "2 memories"} {
		ctx := access.With(t.Context(), access.Grant{Role: access.Read, User: user})
		x, err := e.Explain(ctx, ragctx.NewQuery("tea"))
		if err != nil || len(x.Findings) == 0 || !strings.HasSuffix(x.Findings[0].Found, want) {
			t.Errorf("%q: %+v, %v", user, x.Findings, err)
		}
	}
}

// oracle is a provider that answers whatever it is asked.
type oracle struct{}

func (oracle) Name() string { return "oracle" }

func (oracle) Query(context.Context, ragctx.ContextQuery) (ragctx.ContextResult, error) {
	return ragctx.ContextResult{Items: []ragctx.ContextItem{{ID: "it", Content: "Bob is on call.", Relevance: .9}}}, nil
}

// problems returns the steps of an explanation that keep items from the answer.
func problems(x engine.Explanation) (steps []string) {
	for _, f := range x.Findings {
		if f.Problem {
			steps = append(steps, f.Step)
		}
	}
	return steps
}

// TestExplainFindsWhatIsInTheWay: each way in which an answer is empty has its problem, and an answer that is
// full has none.
func TestExplainFindsWhatIsInTheWay(t *testing.T) {
	f := open(t, spelling)
	for id, text := range map[string]string{"a.md": "Zebras have stripes.", "b.md": "Lions have manes."} {
		if _, err := f.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: id, Text: text, Tags: []string{id}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.Memories().Put(t.Context(), ragctx.Memory{UserID: "ada", SessionID: "s1", Content: "Ada draws zebras."}); err != nil {
		t.Fatal(err)
	}
	q := ragctx.ContextQuery{Query: "zebras", UserID: "ada"}
	set := func(change func(*ragctx.ContextQuery)) ragctx.ContextQuery {
		out := q
		change(&out)
		return out.WithDefaults()
	}
	for name, c := range map[string]struct {
		q      ragctx.ContextQuery
		items  int
		want   []string
		fields []string // of the first problem
	}{
		"all":         {q.WithDefaults(), 2, nil, nil},
		"no words":    {set(func(q *ragctx.ContextQuery) { q.Query = "xyzzy" }), 0, []string{"match"}, nil},
		"no question": {set(func(q *ragctx.ContextQuery) { q.Query, q.UserID = "", "bob" }), 0, []string{"scope"}, nil},
		"only documents asked, no question": {
			set(func(q *ragctx.ContextQuery) { q.Query, q.ContextTypes = "", []ragctx.ContextType{ragctx.TypeSkill} }),
			0,
			[]string{"conditions"},
			[]string{"context_types"},
		},
		"types": {set(func(q *ragctx.ContextQuery) {
			q.Query, q.ContextTypes = "manes", []ragctx.ContextType{ragctx.TypeMemory}
		}), 0, []string{"conditions"}, []string{"context_types"}},
		"two conditions": {set(func(q *ragctx.ContextQuery) {
			q.Query, q.Filter.SessionID, q.Filter.Tags, q.ContextTypes = "draws", "s2", []string{"none"}, []ragctx.ContextType{ragctx.TypeMemory}
		}), 0, []string{"scope", "conditions"}, []string{"filter.session_id", "agent_id"}},
		"no user":      {set(func(q *ragctx.ContextQuery) { q.Query, q.UserID = "draws", "" }), 0, []string{"scope"}, []string{"user_id"}},
		"budget":       {set(func(q *ragctx.ContextQuery) { q.MaxTokens = 5 }), 0, []string{"budget"}, []string{"max_tokens"}},
		"no namespace": {set(func(q *ragctx.ContextQuery) { q.Namespace = "nowhere" }), 0, []string{"namespace"}, nil},
	} {
		x, err := f.Explain(t.Context(), c.q)
		if err != nil || x.Items != c.items || !slices.Equal(problems(x), c.want) {
			t.Errorf("%s: %d items, %v: %+v", name, x.Items, err, x.Findings)
			continue
		}
		if i := slices.IndexFunc(x.Findings, func(f engine.Finding) bool { return f.Problem }); i >= 0 && !slices.Equal(x.Findings[i].Fields, c.fields) {
			t.Errorf("%s: %+v", name, x.Findings[i])
		}
		if n := slices.IndexFunc(x.Findings, func(f engine.Finding) bool { return f.Step == "conditions" && !f.Problem }); n >= 0 {
			t.Errorf("%s: a condition that changes nothing: %+v", name, x.Findings[n])
		}
	}
	// An explanation is not counted as an answer, and counts no uses.
	if tally := f.Metrics().Answers(); tally.Full+tally.Empty != 0 {
		t.Errorf("%+v", tally)
	}
	x, err := f.Explain(t.Context(), set(func(q *ragctx.ContextQuery) { q.Query = `"zebras of lions"` }))
	if err != nil || !slices.ContainsFunc(x.Findings, func(f engine.Finding) bool {
		return f.Step == "phrases" && strings.Contains(f.Found, `"zebras of lions"`)
	}) {
		t.Errorf("a phrase that is nowhere: %+v, %v", x, err)
	}
	x, err = f.Explain(t.Context(), set(func(q *ragctx.ContextQuery) { q.Query = "zebars" }))
	if n := slices.IndexFunc(x.Findings, func(f engine.Finding) bool { return f.Step == "spelling" }); err != nil || n < 0 || x.Findings[n].Problem || !strings.Contains(x.Findings[n].Found, `"zebras"`) {
		t.Errorf("a misspelt word: %+v, %v", x, err)
	}
}

// TestExplainAsksProviders: an empty store is no problem if other providers answer.
func TestExplainAsksProviders(t *testing.T) {
	f := open(t, func(o *engine.Options) { o.Providers = []resolve.Registered{{Provider: oracle{}}} })
	x, err := f.Explain(t.Context(), ragctx.ContextQuery{Query: "who is on call?"}.WithDefaults())
	if err != nil || x.Items != 1 || len(problems(x)) > 0 {
		t.Errorf("%+v, %v", x, err)
	}
}
