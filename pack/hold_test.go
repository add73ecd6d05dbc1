package assemble_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/assemble"
)

func ids(items []assemble.Ranked) []string {
	var out []string
	for _, r := range items {
		out = append(out, r.ID)
	}
	return out
}

// ranked reads items of one token each.
func ranked(s string) []assemble.Ranked {
	var out []assemble.Ranked
	for id := range strings.FieldsSeq(s) {
		out = append(out, assemble.Ranked{ID: id, Tokens: 1})
	}
	return out
}

func TestHold(t *testing.T) {
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
		"ids that come twice":                 {"b b", "a b a b", 4, 1, "b a"},
		"nothing fits":                        {"a", "a b", 0, 1, ""},
	} {
		if got := strings.Join(ids(assemble.Hold(strings.Fields(c.shown), ranked(c.ranked), c.most, 100, c.hold)), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestHoldIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "items")
		tokens := make(map[string]int)
		var all []string
		for i := range n {
			id := strconv.Itoa(i)
			tokens[id] = rapid.IntRange(0, 10).Draw(t, "tokens")
			all = append(all, id)
		}
		rank := func(name string) (out []assemble.Ranked) {
			if n == 0 {
				return nil
			}
			order := rapid.Permutation(all).Draw(t, name)
			for _, id := range order[:rapid.IntRange(0, n).Draw(t, "ranked")] {
				out = append(out, assemble.Ranked{ID: id, Tokens: tokens[id]})
			}
			return out
		}
		most, budget, hold := rapid.IntRange(0, 8).Draw(t, "most"), rapid.IntRange(0, 40).Draw(t, "budget"), rapid.IntRange(0, 5).Draw(t, "hold")
		shown := ids(assemble.Hold(nil, rank("before"), most, budget, hold))
		now := rank("now")
		got := assemble.Hold(shown, now, most, budget, hold)
		cost := 0
		for _, r := range got {
			cost += r.Tokens
		}
		if len(got) > most || cost > budget {
			t.Fatalf("%d items of %d tokens", len(got), cost)
		}
		if again := assemble.Hold(ids(got), now, most, budget, hold); !slices.Equal(again, got) {
			t.Fatalf("%v, then %v", got, again)
		}
		checkHeld(t, shown, now, got, hold)
	})
}

// checkHeld fails if an item took another's place without being better enough, or order
// changed. It looks at pairs of items of the same cost, where no budget is in the way.
func checkHeld(t *rapid.T, shown []string, now, got []assemble.Ranked, hold int) {
	chosen := ids(got)
	for i, gone := range now {
		if slices.Contains(chosen, gone.ID) || !slices.Contains(shown, gone.ID) {
			continue
		}
		for j, fresh := range now {
			if slices.Contains(chosen, fresh.ID) && !slices.Contains(shown, fresh.ID) && fresh.Tokens >= gone.Tokens && j >= i-hold {
				t.Fatalf("%s (rank %d) took the place of %s (rank %d): %v of %v", fresh.ID, j, gone.ID, i, chosen, now)
			}
		}
	}
	last := -1
	for _, id := range chosen {
		if at := slices.Index(shown, id); at >= 0 {
			if at < last {
				t.Fatalf("%v was shown, %v is: another order", shown, chosen)
			}
			last = at
		}
	}
}
