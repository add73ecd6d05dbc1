package queryexpand_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/queryexpand"
)

// TestFeedbackTerms: words that the texts share come first, function words never, and inflections of
// a word count as one.
func TestFeedbackTerms(t *testing.T) {
	more := queryexpand.Feedback("where is the lighthouse", []string{
		"The lighthouse stands on the cliff. Its keeper winds the clockwork.",
		"A keeper of lighthouses has to wind the clockwork at dusk.",
		"The walrus is the largest seal here.",
	}, queryexpand.FeedbackOptions{Terms: 4})
	got := texts(more)
	slices.Sort(got)
	if want := []string{"clockwork", "keeper", "lighthouse", "winds"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestFeedbackMass: the weights of all words relate to the question's as (1-λ) to λ.
func TestFeedbackMass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{5,9}`)
		sentence := rapid.Custom(func(t *rapid.T) string { return word.Draw(t, "a") + " " + word.Draw(t, "b") + " " + word.Draw(t, "c") })
		list := rapid.SliceOfN(sentence, 1, 5).Draw(t, "texts")
		o := queryexpand.FeedbackOptions{Terms: rapid.IntRange(0, 9).Draw(t, "terms"), Question: rapid.Float64Range(0.1, 0.9).Draw(t, "share")}
		more := queryexpand.Feedback("lighthouse keeper", list, o)
		sum := 0.0
		for i, w := range more {
			sum += w.Weight
			if i > 0 && w.Weight > more[i-1].Weight || !(w.Weight > 0) {
				t.Fatalf("weights %v", more)
			}
		}
		if want := (1 - o.Question) / o.Question * 2; len(more) > 0 && math.Abs(sum-want) > 1e-9 {
			t.Fatalf("%d words weigh %v, want %v", len(more), sum, want)
		}
		if o.Terms > 0 && len(more) > o.Terms {
			t.Fatalf("%d words, at most %d were asked for", len(more), o.Terms)
		}
	})
}

// TestFeedbackOfNothing: without texts there are no words.
func TestFeedbackOfNothing(t *testing.T) {
	for _, list := range [][]string{nil, {""}, {"the of and", "\xff"}} {
		if more := queryexpand.Feedback("lighthouse", list, queryexpand.FeedbackOptions{}); len(more) != 0 {
			t.Errorf("%q: %v", list, more)
		}
	}
	if more := queryexpand.Feedback("lighthouse", []string{"keeper"}, queryexpand.FeedbackOptions{Question: 1}); len(more) != 0 {
		t.Errorf("the question has all the weight: %v", more)
	}
}
