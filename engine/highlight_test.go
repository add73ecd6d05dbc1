package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
)

func TestHighlightOnRequest(t *testing.T) {
	f := open(t)
	f.put("a", "# Harbour\n\nBefore the storms the harbour master checks the ropes.")
	f.turn(ragctx.Turn{ID: "t1", SessionID: "s1", Prompt: "Which ropes break in storms?", Response: "Old ones."})
	for _, on := range []bool{false, true} {
		q := ragctx.ContextQuery{Query: "rope", Queries: []string{"a storm"}, Highlight: on}
		found, err := f.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		items := slices.Concat(f.ask(q).Items, found.Items)
		if len(items) != 4 {
			t.Fatalf("%d items, want two of each", len(items))
		}
		for _, it := range items {
			if !on {
				if it.Highlights != nil {
					t.Errorf("%s has highlights that nobody asked for", it.ID)
				}
				continue
			}
			words := make(map[string]bool)
			for _, m := range it.Highlights.Matches {
				words[it.Content[m.Start:m.End]] = true
			}
			if len(words) != 2 || !words["ropes"] || !words["storms"] {
				t.Errorf("%s highlights %v", it.ID, words)
			}
		}
	}
}

// TestSearchHasALimitOfTime as contexts have: a provider that is too slow is left out, or
// is an error where all are.
func TestSearchHasALimitOfTime(t *testing.T) {
	f := open(t, func(o *engine.Options) { o.ProviderTimeout = time.Nanosecond })
	f.put("a", "Storms come.")
	found, err := f.Search(t.Context(), ragctx.NewQuery("storms"))
	if !errors.Is(err, context.DeadlineExceeded) && !slices.Contains(found.Degraded, docs.Name) {
		t.Errorf("%+v, %v", found, err)
	}
}
