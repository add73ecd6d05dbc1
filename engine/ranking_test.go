package engine_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// best returns the ids of the memories that a provider's search finds.
func (f *fixture) best(q ragctx.ContextQuery) (out []string) {
	f.t.Helper()
	res, err := f.Search(f.t.Context(), q)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, it := range res.Items {
		out = append(out, it.ID)
	}
	return out
}

func TestRankingOfACollection(t *testing.T) {
	f := open(t)
	f.conversations()
	ctx, q := t.Context(), queryOf("bowl")
	before := f.best(q)
	if len(before) < 2 {
		t.Fatalf("found %v; want neighbours of the only match as well", before)
	}
	none := index.Ranking{Method: "keyword", Conversation: index.ConversationWeights{Previous: -1, Next: -1, Second: -1, Session: -1}}
	if err := f.Indexes().SetRanking(ctx, "default", store.KindMemories, none); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at once", "after reopening"} {
		if got := f.best(q); len(got) != 1 || got[0] != before[0] {
			t.Errorf("%s: %v, want only %s", when, got, before[0])
		}
		if got, err := f.Indexes().Ranking(ctx, "default", store.KindMemories); err != nil || got != none {
			t.Errorf("%s: %+v, %v", when, got, err)
		}
		if got, err := f.Indexes().Ranking(ctx, "default", store.KindDocuments); err != nil || got != (index.Ranking{}) {
			t.Errorf("%s: documents are ranked by %+v, %v", when, got, err)
		}
		f.reopen()
	}
	if err := f.Indexes().SetRanking(ctx, "default", store.KindMemories, index.Ranking{}); err != nil {
		t.Fatal(err)
	}
	f.reopen()
	if got := f.best(q); !slices.Equal(got, before) {
		t.Errorf("undone: %v, want %v", got, before)
	}
}

func TestRankingOfNoNamespace(t *testing.T) {
	f := open(t)
	if r, err := f.Indexes().Ranking(t.Context(), "nowhere", store.KindDocuments); err != nil || r != (index.Ranking{}) {
		t.Errorf("%+v, %v", r, err)
	}
	if names, err := f.Admin().NamespaceNames(t.Context()); err != nil || slices.Contains(names, "nowhere") {
		t.Errorf("a question made a namespace: %v, %v", names, err)
	}
}

func TestRankingRefused(t *testing.T) {
	f := open(t)
	for field, r := range map[string]index.Ranking{
		"method":            {Method: "best"},
		"vector_weight":     {VectorWeight: math.NaN()},
		"time_weight":       {TimeWeight: -101},
		"dialogue.previous": {Conversation: index.ConversationWeights{Previous: math.Inf(1)}},
		"keyword.k1":        {Keyword: index.KeywordParams{K1: -1}},
		"keyword.grams":     {Keyword: index.KeywordParams{Grams: math.NaN()}},
		"dialogue.timed":    {Conversation: index.ConversationWeights{Timed: 100.5}},
	} {
		err := f.Indexes().SetRanking(t.Context(), "default", store.KindMemories, r)
		if fe, ok := errors.AsType[*ragctx.FieldError](err); !ok || fe.Field != field {
			t.Errorf("%+v: %v, want an error of %s", r, err, field)
		}
	}
}
