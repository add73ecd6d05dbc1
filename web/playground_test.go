package web

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestRank: each item has its place by each signal, and what the answer did with it.
func TestRank(t *testing.T) {
	item := func(id string, keyword, vector float64, signals ...float64) answerItem {
		it := answerItem{ID: id, Relevance: keyword, Signals: map[string]float64{"keyword": keyword, "vector": vector}}
		if len(signals) == 2 {
			it.Signals["rerank"], it.Signals["before_rerank"] = signals[0], signals[1]
		}
		return it
	}
	found := []answerItem{item("a", .9, .1, .8, .5), item("b", .5, .9, .7, .6), item("c", .4, 0, .2, .1)}
	var a answerOf
	a.Items = []answerItem{{ID: "b", Tokens: 7}, {ID: "wish", Tokens: 3}}
	a.Dropped = append(a.Dropped, struct {
		ID, Provider, Reason string
		Tokens               int
	}{ID: "a", Reason: "budget", Tokens: 90})
	got := rank(found, a)
	if len(got) != 4 || !got[0].dropped || !strings.Contains(got[0].fate, "rest of the budget, 90 tokens") || got[1].fate != "shown, 7 tokens" ||
		!got[2].elsewhere || !strings.HasPrefix(got[3].fate, "in every answer") {
		t.Errorf("%+v", got)
	}
	if got[0].before["Words"] != 1 || got[0].before["Vectors"] != 2 || got[1].before["Vectors"] != 1 || got[2].before["Vectors"] != 0 {
		t.Errorf("places %v %v %v", got[0].before, got[1].before, got[2].before)
	}
	if got[0].reranked != 2 || got[1].reranked != 1 || got[3].reranked != 0 {
		t.Errorf("places before the reranker: %d %d %d", got[0].reranked, got[1].reranked, got[3].reranked)
	}
}

// TestGoCode: the code for a request with every field is Go.
func TestGoCode(t *testing.T) {
	q := question{text: "a \"quoted\" `question`\n", user: "ada", types: []string{"memory", "skill"}}
	s := setting{tokens: 5, items: 3, tokenizer: "claude", format: "text", depth: "full", asOf: "2026-06-01T12:00", exact: true}
	body := q.body(s)
	body["namespace"] = "team"
	for _, key := range []bool{false, true} {
		code := goCode("http://127.0.0.1:7700", body, key)
		if _, err := parser.ParseFile(token.NewFileSet(), "main.go", code, parser.SkipObjectResolution); err != nil {
			t.Errorf("%v:\n%s", err, code)
		}
		for name := range body {
			if field, known := goFields[name]; !known && name != "as_of" || known && !strings.Contains(code, field.name+": ") {
				t.Errorf("%s is not in the code:\n%s", name, code)
			}
		}
	}
}

func TestSlider(t *testing.T) {
	for tokens, want := range map[int]int{1: 0, 50: 0, 1581: 500, 50_000: 1000, 10_000_000: 1000} {
		if got := slideOf(tokens); got != want {
			t.Errorf("%d tokens are at %d, want %d", tokens, got, want)
		}
	}
}
