package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

// judge is a reranker that likes one word.
type judge struct {
	word string
	err  error
}

func (j judge) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	out := make([]float64, len(texts))
	for i, t := range texts {
		out[i] = .25
		if strings.Contains(t, j.word) {
			out[i] = .75
		}
	}
	return out, j.err
}

func withReranker(j judge) func(*engine.Options) {
	return func(o *engine.Options) { o.Reranker = j }
}

// TestReranker: documents and memories are scored alike, in answers and in lists.
func TestReranker(t *testing.T) {
	f := open(t, withReranker(judge{word: "oolong"}))
	f.put("tea.md", "Tea, tea, tea: all about tea and how tea is made.")
	f.put("cups.md", "Cups for tea.")
	f.turn(ragctx.Turn{ID: "m", SessionID: "s", Prompt: "Which tea is it today?", Response: "It is oolong."})
	q := query("tea")
	q.Explain = true
	for name, first := range map[string]func(ragctx.ContextQuery) ([]ragctx.ContextItem, []string){
		"context": func(q ragctx.ContextQuery) ([]ragctx.ContextItem, []string) {
			a := f.ask(q)
			return a.Items, a.Degraded
		},
		"search": func(q ragctx.ContextQuery) ([]ragctx.ContextItem, []string) {
			r, err := f.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			return r.Items, r.Degraded
		},
	} {
		items, degraded := first(q)
		if len(items) != 3 || len(degraded) != 0 {
			t.Fatalf("%s: %+v, without %v", name, items, degraded)
		}
		it := items[0]
		if it.Type != ragctx.TypeMemory || it.Relevance != .75 || it.Signals["rerank"] != .75 || it.Signals["before_rerank"] >= items[1].Signals["before_rerank"] {
			t.Errorf("%s: the best item is %+v", name, it)
		}
		least := q
		least.MinRelevance = new(.5)
		if items, _ = first(least); len(items) != 1 || items[0].ID != it.ID {
			t.Errorf("%s: %d items of relevance .5", name, len(items))
		}
		if items, _ = first(q.WithParam("rerank", false)); items[0].Type != ragctx.TypeResource || items[0].Signals["rerank"] != 0 {
			t.Errorf("%s, switched off: the best item is %+v", name, items[0])
		}
	}
}

func TestRerankerFails(t *testing.T) {
	f := open(t, withReranker(judge{err: errors.New("no answer")}))
	f.put("tea.md", "All about tea.")
	if a := f.askOnce(query("tea")); len(a.Items) != 1 || !slices.Equal(a.Degraded, []string{"rerank"}) {
		t.Errorf("%+v", a)
	}
	r, err := f.Search(t.Context(), query("tea"))
	if err != nil || len(r.Items) != 1 || !slices.Equal(r.Degraded, []string{"rerank"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSearchDiversity: near copies do not fill a list.
func TestSearchDiversity(t *testing.T) {
	f := open(t)
	for _, id := range []string{"v1", "v2", "v3", "v4", "v5"} {
		f.put(id, "To restore a backup, run the restore command of version "+id+".")
	}
	f.put("rights", "Only owners may restore.")
	q := query("restore a backup").WithMaxResults(2)
	r, err := f.Search(t.Context(), q)
	if err != nil || slices.ContainsFunc(r.Items, func(it ragctx.ContextItem) bool { return it.ID == "rights@1#0" }) {
		t.Fatalf("%+v, %v", r, err)
	}
	q.Diversity = .9
	r, err = f.Search(t.Context(), q)
	if err != nil || len(r.Items) != 2 || r.Items[1].ID != "rights@1#0" {
		t.Errorf("%+v, %v", r, err)
	}
}
