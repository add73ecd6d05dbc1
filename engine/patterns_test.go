package engine_test

import (
	"slices"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

func TestPatterns(t *testing.T) {
	f := open(t)
	f.put("harbour", "The harbour is closed.")
	f.put("harbinger", "A harbinger of spring.")
	f.put("other", "Charm of the sea.")
	f.turn(ragctx.Turn{ID: "t1", SessionID: "s1", Prompt: "Who is the harbourmaster?", Response: "Nobody."})

	for _, tt := range []struct {
		query    string
		patterns bool
		want     []string
	}{
		{"har*", true, []string{"harbinger", "harbour", "t1"}},
		{"harbour*", true, []string{"harbour", "t1"}},
		{"Harbuor~", true, []string{"harbour"}},
		{"har*", false, nil},
		{"Harbuor~", false, nil},
		{"harbuor", true, []string{"harbour"}},
		{"Harbuor~", true, []string{"harbour"}},
	} {
		q := ragctx.ContextQuery{Query: tt.query}.WithParam("patterns", tt.patterns)
		var keys []string
		for _, kind := range []store.Kind{store.KindDocuments, store.KindMemories} {
			o := engine.HitsOptions{Kind: kind, K: 50}
			o.Ranking.Method, o.Ranking.Keyword.Grams = "keyword", -1
			hits, _, err := f.Indexes().Hits(t.Context(), q, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				keys = append(keys, h.Key)
			}
		}
		slices.Sort(keys)
		if keys = slices.Compact(keys); !slices.Equal(keys, tt.want) {
			t.Errorf("%s, patterns %v: hits %v, want %v", tt.query, tt.patterns, keys, tt.want)
		}
	}

	// A search has patterns unless it says otherwise.
	best := func(q ragctx.ContextQuery) float64 {
		t.Helper()
		res, err := f.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range res.Items {
			if it.Signals["keyword"] > 0 && names([]ragctx.ContextItem{it})[0] == "harbinger" {
				return it.Signals["keyword"]
			}
		}
		return 0
	}
	q := ragctx.ContextQuery{Query: "harbin*", Explain: true}
	if with, without := best(q), best(q.WithParam("patterns", false)); !(with > without) {
		t.Errorf("keyword signal %v with patterns, %v without", with, without)
	}
}
