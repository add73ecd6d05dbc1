package budget_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/budget"
)

// drawCandidates draws candidates with distinct ids, whose variants need not be
// sorted and may be empty.
func drawCandidates(t *rapid.T) []budget.Candidate {
	n := rapid.IntRange(0, 12).Draw(t, "candidates")
	out := make([]budget.Candidate, n)
	for i := range out {
		c := budget.Candidate{
			ID:       fmt.Sprintf("c%02d", i),
			Source:   rapid.SampledFrom([]string{"", "docs", "memory"}).Draw(t, "source"),
			Priority: rapid.SampledFrom([]budget.Priority{"", "required", "high", "medium", "low", "odd"}).Draw(t, "priority"),
			Required: rapid.IntRange(0, 9).Draw(t, "required") == 0,
			Preserve: rapid.Bool().Draw(t, "preserve"),
			Order:    rapid.IntRange(0, 5).Draw(t, "order"),
		}
		for j := range rapid.IntRange(0, 4).Draw(t, "variants") {
			text := chars(rapid.IntRange(0, 9).Draw(t, "tokens"))
			c.Variants = append(c.Variants, budget.Fixed(fmt.Sprint("v", j), text))
		}
		c.Preferred = rapid.IntRange(-1, 4).Draw(t, "preferred")
		if rapid.Bool().Draw(t, "can be cut") {
			c.Cut = func(limit int) (string, int) { n := min(limit, 3); return chars(n), n }
		}
		out[i] = c
	}
	return out
}

func drawOptions(t *rapid.T) budget.Options {
	return budget.Options{
		MaxTokens:          rapid.IntRange(0, 40).Draw(t, "max tokens"),
		MaxItems:           rapid.IntRange(0, 6).Draw(t, "max items"),
		MaxTokensPerSource: rapid.IntRange(0, 10).Draw(t, "max tokens per source"),
		MaxItemsPerSource:  rapid.IntRange(0, 3).Draw(t, "max items per source"),
		MaxChars:           rapid.IntRange(0, 200).Draw(t, "max chars"),
		RequiredMayExceed:  rapid.Bool().Draw(t, "required may exceed"),
	}
}

func TestSelectionKeepsItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cands, opts := drawCandidates(t), drawOptions(t)
		s := budget.Select(cands, opts)
		used, items := 0, 0
		for _, d := range s.Decisions {
			used += d.Tokens
			if d.Status == budget.Included {
				items++
			}
			if d.Tokens != budget.Estimate(d.Text) || d.Chars != budget.Chars(d.Text) {
				t.Fatalf("%s: tokens or chars are not those of its text: %+v", d.ID, d)
			}
		}
		if used != s.Budget.UsedTokens {
			t.Errorf("used %d tokens, reported %d", used, s.Budget.UsedTokens)
		}
		if !opts.RequiredMayExceed {
			if opts.MaxTokens > 0 && used > opts.MaxTokens {
				t.Errorf("used %d tokens of %d", used, opts.MaxTokens)
			}
			if opts.MaxItems > 0 && items > opts.MaxItems {
				t.Errorf("used %d items of %d", items, opts.MaxItems)
			}
		}
		if opts.MaxTokens > 0 && used > opts.MaxTokens+s.Budget.OverBudgetTokens {
			t.Errorf("used %d tokens of %d, but reported only %d over", used, opts.MaxTokens, s.Budget.OverBudgetTokens)
		}
		if n := budget.Chars(s.Text()); opts.MaxChars > 0 && n > opts.MaxChars {
			t.Errorf("%d chars, limit %d", n, opts.MaxChars)
		}
	})
}

func TestEveryCandidateHasOneDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cands, opts := drawCandidates(t), drawOptions(t)
		s := budget.Select(cands, opts)
		seen := make(map[string]bool)
		for _, d := range s.Decisions {
			if seen[d.ID] || cands[d.Index].ID != d.ID {
				t.Fatalf("%s is decided twice or has the wrong index", d.ID)
			}
			seen[d.ID] = true
			if (d.Status == budget.Skipped) != (d.Reason != "") {
				t.Errorf("%s: status %s with reason %q", d.ID, d.Status, d.Reason)
			}
			if d.Status == budget.Skipped && (d.Variant != "" || d.Text != "" || d.Tokens != 0) {
				t.Errorf("%s is skipped, yet has a text: %+v", d.ID, d)
			}
			if d.Required && opts.RequiredMayExceed && d.Status == budget.Skipped && d.Reason != budget.ReasonEmpty {
				t.Errorf("%s is required and skipped: %s", d.ID, d.Reason)
			}
		}
		if len(seen) != len(cands) {
			t.Errorf("%d decisions for %d candidates", len(seen), len(cands))
		}
	})
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cands, opts := drawCandidates(t), drawOptions(t)
		want := budget.Select(cands, opts)
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		rnd.Shuffle(len(cands), func(i, j int) { cands[i], cands[j] = cands[j], cands[i] })
		got := budget.Select(cands, opts)
		ignoreIndex := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Index" }, cmp.Ignore())
		if diff := cmp.Diff(want, got, ignoreIndex); diff != "" {
			t.Error(diff)
		}
	})
}

// TestEnoughRoomIncludesAll: nothing is skipped or shortened unnecessarily.
func TestEnoughRoomIncludesAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cands := drawCandidates(t)
		need := 0
		for _, c := range cands {
			longest := 0
			for _, v := range c.Variants {
				longest = max(longest, budget.Estimate(v.Text()))
			}
			need += longest
		}
		s := budget.Select(cands, budget.Options{MaxTokens: need, MaxTokensPerSource: 1, MaxItemsPerSource: 1})
		for _, d := range s.Decisions {
			if d.Status == budget.Skipped && d.Reason != budget.ReasonEmpty {
				t.Errorf("%s is skipped for %s", d.ID, d.Reason)
			}
			if d.Truncated {
				t.Errorf("%s is cut", d.ID)
			}
			c := cands[d.Index]
			longest := min(max(c.Preferred, 0), len(c.Variants)-1)
			for longest < len(c.Variants)-1 && c.Variants[longest].Text() == "" {
				longest++
			}
			if d.Status == budget.Included && d.VariantIndex > longest {
				t.Errorf("%s is shown as variant %d, not %d", d.ID, d.VariantIndex, longest)
			}
		}
	})
}

func TestEachVariantIsRenderedAtMostOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cands, opts := drawCandidates(t), drawOptions(t)
		calls := make(map[string]int)
		for i, c := range cands {
			for j, v := range c.Variants {
				text := v.Text
				cands[i].Variants[j].Text = func() string {
					calls[c.ID+v.Name]++
					return text()
				}
			}
		}
		budget.Select(cands, opts)
		for id, n := range calls {
			if n > 1 {
				t.Errorf("%s was rendered %d times", id, n)
			}
		}
	})
}

// TestTokensMayStopEarly: a counter that stops above its limit gives the same selection as one that
// always counts to the end.
func TestTokensMayStopEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cands, opts := drawCandidates(t), drawOptions(t)
		want := budget.Select(cands, opts)
		for i := range cands {
			cands[i].Tokens = func(text string, limit int) int {
				if n := budget.Estimate(text); n <= limit {
					return n
				}
				return limit + 1
			}
		}
		if diff := cmp.Diff(want, budget.Select(cands, opts)); diff != "" {
			t.Error(diff)
		}
	})
}

func BenchmarkSelect(b *testing.B) {
	var cands []budget.Candidate
	for i := range 100 {
		cands = append(cands, compact(full(fmt.Sprint(i), "", i, 500), 100))
	}
	for b.Loop() {
		budget.Select(cands, budget.Options{MaxTokens: 4000, MaxItems: 10})
	}
}
