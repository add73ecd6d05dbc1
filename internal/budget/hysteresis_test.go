package budget_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/budget"
)

// selectHeld selects from ranked items with hysteresis, at most most of them and at most limit
// tokens, and returns the shown ones in order.
func selectHeld(shown, ranked []string, tokens map[string]int, most, limit, hold int) []string {
	turns, places := budget.Hysteresis(shown, ranked, hold)
	list := make([]budget.Candidate, len(turns))
	for i, at := range turns {
		list[i] = budget.Candidate{
			ID: ranked[at], Order: i, Variants: []budget.Variant{budget.Fixed("", ranked[at])},
			Tokens: func(text string, _ int) int { return tokens[text] },
		}
	}
	var chosen []int
	for _, d := range budget.Select(list, budget.Options{MaxTokens: limit, MaxItems: most}).Decisions {
		if d.Status == budget.Included {
			chosen = append(chosen, turns[d.Index])
		}
	}
	slices.SortFunc(chosen, func(a, b int) int { return places[a] - places[b] })
	out := make([]string, len(chosen))
	for i, at := range chosen {
		out[i] = ranked[at]
	}
	return out
}

func TestHysteresis(t *testing.T) {
	for name, c := range map[string]struct {
		shown, ranked string
		most, hold    int
		want          string
	}{
		"nothing was shown":                   {"", "a b c d", 3, 2, "a b c"},
		"the order of what is shown stays":    {"c a", "a b c d", 3, 2, "c a b"},
		"a little better is not enough":       {"a b c", "a b d c", 3, 2, "a b c"},
		"much better is":                      {"a b c", "d e f g h a b c", 3, 2, "d e f"},
		"the best of what is shown stays":     {"a b c", "d e f g a b c", 3, 2, "a d e"},
		"exactly hold ranks better is not":    {"c", "a b c", 1, 2, "c"},
		"one more is":                         {"d", "a b c d", 1, 2, "a"},
		"what is not ranked any more is gone": {"x a", "a b", 2, 5, "a b"},
		"without hysteresis the best":         {"c d", "a b c d", 2, 0, "a b"},
		"ids that were shown twice":           {"b b", "a b", 4, 1, "b a"},
	} {
		ranked := strings.Fields(c.ranked)
		tokens := make(map[string]int)
		for _, id := range ranked {
			tokens[id] = 1
		}
		if got := strings.Join(selectHeld(strings.Fields(c.shown), ranked, tokens, c.most, 100, c.hold), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestHysteresisIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "items")
		tokens := make(map[string]int)
		var all []string
		for i := range n {
			id := strconv.Itoa(i)
			tokens[id] = rapid.IntRange(1, 10).Draw(t, "tokens")
			all = append(all, id)
		}
		rank := func(name string) []string {
			return rapid.Permutation(all).Draw(t, name)[:rapid.IntRange(0, n).Draw(t, "ranked")]
		}
		most, budget, hold := rapid.IntRange(1, 8).Draw(t, "most"), rapid.IntRange(1, 40).Draw(t, "budget"), rapid.IntRange(0, 5).Draw(t, "hold")
		shown := selectHeld(nil, rank("before"), tokens, most, budget, hold)
		now := rank("now")
		got := selectHeld(shown, now, tokens, most, budget, hold)
		if again := selectHeld(got, now, tokens, most, budget, hold); !slices.Equal(again, got) {
			t.Fatalf("%v, then %v", got, again)
		}
		checkHeld(t, shown, now, got, tokens, hold)
	})
}

// checkHeld fails if an item replaced another one without being better by more than the hysteresis,
// or if the order changed. It checks pairs with a new item at least as expensive, so that the
// budget is not the reason.
func checkHeld(t *rapid.T, shown, now, got []string, tokens map[string]int, hold int) {
	for i, gone := range now {
		if slices.Contains(got, gone) || !slices.Contains(shown, gone) {
			continue
		}
		for j, fresh := range now {
			if slices.Contains(got, fresh) && !slices.Contains(shown, fresh) && tokens[fresh] >= tokens[gone] && j >= i-hold {
				t.Fatalf("%s (rank %d) took the place of %s (rank %d): %v of %v", fresh, j, gone, i, got, now)
			}
		}
	}
	last := -1
	for _, id := range got {
		if at := slices.Index(shown, id); at >= 0 {
			if at < last {
				t.Fatalf("%v was shown, %v is: another order", shown, got)
			}
			last = at
		}
	}
}
