package budget_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragctx/ragctx/internal/budget"
)

// chars returns a text that budget.Estimate counts as n tokens.
func chars(n int) string { return strings.Repeat("abcd", n) }

func full(id string, p budget.Priority, order, tokens int) budget.Candidate {
	return budget.Candidate{ID: id, Priority: p, Order: order, Variants: []budget.Variant{budget.Fixed("full", chars(tokens))}}
}

func compact(c budget.Candidate, tokens int) budget.Candidate {
	c.Variants = append(c.Variants, budget.Fixed("compact", chars(tokens)))
	return c
}

func source(c budget.Candidate, s string) budget.Candidate { c.Source = s; return c }

// summary writes a selection as one word per decision.
func summary(s budget.Selection) string {
	var words []string
	for _, d := range s.Decisions {
		w := d.ID + "=" + d.Variant
		if d.Status == budget.Skipped {
			w = d.ID + "!" + string(d.Reason)
		}
		if d.Truncated {
			w += "~"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func TestEstimate(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 4: 1, 5: 2} {
		if got := budget.Estimate(strings.Repeat("x", n)); got != want {
			t.Errorf("Estimate of %d chars = %d, want %d", n, got, want)
		}
	}
	if got := budget.Chars("aé漢😀\xff"); got != 6 {
		t.Errorf("Chars = %d, want 6: one each, two for the character outside the basic plane", got)
	}
}

func FuzzChars(f *testing.F) {
	for _, s := range []string{"", "12345678", "1234567é", "12345678é12345678", "😀1234567\xff", "\xf0\x9f12345678", "漢字漢字漢字"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := budget.Chars(s), len(utf16.Encode([]rune(s))); got != want || 3*got < len(s) {
			t.Errorf("Chars(%q) = %d, want %d, and at least a third of %d bytes", s, got, want, len(s))
		}
	})
}

func TestSelect(t *testing.T) {
	zeroshot := budget.Options{RequiredMayExceed: true}
	tests := []struct {
		name  string
		cands []budget.Candidate
		opts  func(*budget.Options)
		want  string
		over  int
	}{
		{
			name: "one token keeps what is required and drops the rest",
			cands: []budget.Candidate{
				full("issue", budget.Required, 0, 5), full("plan", budget.Required, 1, 5),
				full("notes", budget.Medium, 2, 3), full("trigger", budget.Required, 3, 2),
			},
			opts: func(o *budget.Options) { o.MaxTokens = 1 },
			want: "issue=full plan=full notes!budget trigger=full",
			over: 11,
		},
		{
			name: "high is made compact before low is skipped",
			cands: []budget.Candidate{
				compact(full("low", budget.Low, 0, 3), 2), compact(full("high", budget.High, 1, 6), 3),
			},
			opts: func(o *budget.Options) { o.MaxTokens = 4 },
			want: "low!budget high=compact",
		},
		{
			name:  "the scan goes on after a misfit",
			cands: []budget.Candidate{full("a", budget.High, 0, 9), full("b", budget.High, 1, 2)},
			opts:  func(o *budget.Options) { o.MaxTokens = 3 },
			want:  "a!budget b=full",
		},
		{
			name:  "unknown priorities are medium",
			cands: []budget.Candidate{full("low", budget.Low, 0, 2), full("odd", "urgent", 1, 2), full("none", "", 2, 2)},
			opts:  func(o *budget.Options) { o.MaxTokens = 4 },
			want:  "low!budget odd=full none=full",
		},
		{
			name: "nothing to show is empty, also when required",
			cands: []budget.Candidate{
				{ID: "a", Required: true, Order: 0, Variants: []budget.Variant{budget.Fixed("full", ""), {Name: "compact"}}},
				{ID: "b", Order: 1},
			},
			want: "a!empty b!empty",
		},
		{
			name:  "required with an empty full variant uses the compact one",
			cands: []budget.Candidate{compact(full("a", budget.Required, 0, 0), 2)},
			want:  "a=compact",
		},
		{
			name: "required uses a compact variant that exceeds if it is merely smaller",
			cands: []budget.Candidate{
				compact(full("a", budget.Required, 0, 9), 5), compact(full("b", budget.Required, 1, 3), 4),
			},
			opts: func(o *budget.Options) { o.MaxTokens = 2 },
			want: "a=compact b=full",
			over: 6,
		},
		{
			name:  "zero means unlimited",
			cands: []budget.Candidate{full("a", budget.Low, 0, 1_000_000)},
			want:  "a=full",
		},
		{
			name: "items are limited, required ones go on",
			cands: []budget.Candidate{
				full("a", "", 0, 1), full("b", "", 1, 1), full("r", budget.Required, 2, 1), full("s", budget.Required, 3, 1),
			},
			opts: func(o *budget.Options) { o.MaxItems = 1 },
			want: "a!max_items b!max_items r=full s=full",
		},
		{
			name:  "required within the budget steps down, then is skipped",
			cands: []budget.Candidate{compact(full("r", budget.Required, 0, 9), 3), full("s", budget.Required, 1, 9), full("a", "", 2, 1)},
			opts:  func(o *budget.Options) { o.MaxTokens, o.RequiredMayExceed = 4, false },
			want:  "r=compact s!budget a=full",
		},
		{
			name: "a longer variant is used for what is left",
			cands: []budget.Candidate{
				{ID: "a", Order: 0, Preferred: 1, Variants: []budget.Variant{budget.Fixed("wide", chars(9)), budget.Fixed("full", chars(3))}},
				{ID: "b", Order: 1, Preferred: 1, Variants: []budget.Variant{budget.Fixed("wide", chars(5)), budget.Fixed("full", chars(3))}},
				full("c", "", 2, 1),
			},
			opts: func(o *budget.Options) { o.MaxTokens = 9 },
			want: "a=full b=wide c=full",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := zeroshot
			if tt.opts != nil {
				tt.opts(&opts)
			}
			s := budget.Select(tt.cands, opts)
			if got := summary(s); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if s.Budget.OverBudgetTokens != tt.over {
				t.Errorf("over budget by %d, want %d", s.Budget.OverBudgetTokens, tt.over)
			}
		})
	}
}

func TestSourceShares(t *testing.T) {
	cands := func(spec string) []budget.Candidate {
		var out []budget.Candidate
		for i, w := range strings.Fields(spec) {
			out = append(out, source(full(w, "", i, 2), w[:1]))
		}
		return out
	}
	tests := []struct{ name, spec, want string }{
		{"another source gets its place", "a1 a2 a3 b1", "a1=full a2=full a3!source_cap b1=full"},
		{"what the others leave is refilled", "a1 a2 a3", "a1=full a2=full a3=full"},
		{"refilled beside another source", "a1 b1", "a1=full b1=full"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := summary(budget.Select(cands(tt.spec), budget.Options{MaxTokens: 6, MaxItemsPerSource: 2}))
			if got != tt.want {
				t.Errorf("by items: got %s, want %s", got, tt.want)
			}
			got = summary(budget.Select(cands(tt.spec), budget.Options{MaxTokens: 6, MaxTokensPerSource: 4}))
			if got != tt.want {
				t.Errorf("by tokens: got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("a shorter form fits the share", func(t *testing.T) {
		long := func(id, from string, order int) budget.Candidate {
			return source(budget.Candidate{
				ID: id, Order: order,
				Variants: []budget.Variant{budget.Fixed("full", chars(4)), budget.Fixed("short", chars(1))},
			}, from)
		}
		for maxTokens, want := range map[int]string{
			9:  "a1=full a2=short a3!source_cap b1=full",
			12: "a1=full a2=short a3=short b1=full",
			13: "a1=full a2=full a3=short b1=full",
		} {
			got := summary(budget.Select([]budget.Candidate{
				long("a1", "a", 0), long("a2", "a", 1), long("a3", "a", 2), long("b1", "b", 3),
			}, budget.Options{MaxTokens: maxTokens, MaxTokensPerSource: 5}))
			if got != want {
				t.Errorf("%d tokens: got %s, want %s", maxTokens, got, want)
			}
		}
	})
	t.Run("a source's first candidate is not held back", func(t *testing.T) {
		got := summary(budget.Select(cands("a1 b1 b2"), budget.Options{MaxTokens: 4, MaxTokensPerSource: 1}))
		if want := "a1=full b1=full b2!source_cap"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestCut(t *testing.T) {
	cut := func(c budget.Candidate) budget.Candidate {
		c.Cut = func(limit int) (string, int) { return chars(limit), limit }
		return c
	}
	tests := []struct {
		name  string
		cands []budget.Candidate
		want  string
	}{
		{"the first when nothing else fits", []budget.Candidate{cut(full("a", "", 0, 9)), cut(full("b", "", 1, 9))}, "a=cut~ b!budget"},
		{"the best although a worse one fits", []budget.Candidate{cut(full("a", "", 0, 9)), full("b", "", 1, 1)}, "a=cut~ b!budget"},
		{
			"the best that can be",
			[]budget.Candidate{full("a", "", 0, 9), cut(full("b", "", 1, 9)), full("c", "", 2, 1)},
			"a!budget b=cut~ c!budget",
		},
		{"no other than the best", []budget.Candidate{full("a", "", 0, 1), cut(full("b", "", 1, 9))}, "a=full b!budget"},
		{
			"required ones to what is left",
			[]budget.Candidate{full("a", budget.Required, 0, 3), cut(full("b", budget.Required, 1, 9))},
			"a=full b=cut~",
		},
		{"nothing is left", []budget.Candidate{full("a", budget.Required, 0, 4), cut(full("b", budget.Required, 1, 9))}, "a=full b!budget"},
		{"not possible", []budget.Candidate{full("a", "", 0, 9)}, "a!budget"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := budget.Select(tt.cands, budget.Options{MaxTokens: 4})
			if got := summary(s); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if s.Budget.UsedTokens > 4 {
				t.Errorf("used %d tokens of 4", s.Budget.UsedTokens)
			}
		})
	}
}

// All optional candidates are compacted, then dropped, then the largest required one is
// cut.
func TestGuard(t *testing.T) {
	keep := full("keep", budget.Required, 5, 20)
	keep.Preserve = true
	cands := []budget.Candidate{
		full("r", budget.Required, 0, 20),
		compact(full("low", budget.Low, 1, 10), 2),
		compact(full("high", budget.High, 2, 10), 2),
		compact(full("high2", budget.High, 3, 10), 2),
		keep,
	}
	tests := []struct {
		name string
		max  int
		want string
	}{
		{"within the limit", 280, "r=full low=full high=full high2=full keep=full"},
		{"lowest priority is made compact first", 279, "r=full low=compact high=full high2=full keep=full"},
		{"then the latest", 240, "r=full low=compact high=full high2=compact keep=full"},
		{"all compact before one is dropped", 184, "r=full low=compact high=compact high2=compact keep=full"},
		{"the lowest is dropped first", 180, "r=full low!max_chars high=compact high2=compact keep=full"},
		{"required is cut when nothing optional is left", 150, "r=full~ low!max_chars high!max_chars high2!max_chars keep=full"},
		{"what is preserved is cut last", 60, "r=full~ low!max_chars high!max_chars high2!max_chars keep=full~"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := budget.Select(cands, budget.Options{MaxTokens: 1000, MaxChars: tt.max, RequiredMayExceed: true})
			if got := summary(s); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			got := budget.Chars(s.Text())
			if got > tt.max || got != s.MaxChars.AfterChars {
				t.Errorf("%d chars, reported %d, limit %d", got, s.MaxChars.AfterChars, tt.max)
			}
			if s.MaxChars.Applied != (tt.max < 280) || s.MaxChars.BeforeChars != 280 {
				t.Errorf("guard = %+v", s.MaxChars)
			}
			if *s.Budget.RemainingTokens != 1000-70 {
				t.Errorf("the guard changed the remaining tokens to %d", *s.Budget.RemainingTokens)
			}
		})
	}
}

func TestGuardMarksCuts(t *testing.T) {
	long := full("r", budget.Required, 0, 30)
	s := budget.Select([]budget.Candidate{long}, budget.Options{MaxChars: 60})
	if got := s.Text(); !strings.HasSuffix(got, "\n\n[Context truncated to fit limit]\n") || len(got) != 60 {
		t.Errorf("cut to %q", got)
	}
	s = budget.Select([]budget.Candidate{long}, budget.Options{MaxChars: 9})
	if got, want := s.Text(), "abcdabcda"; got != want {
		t.Errorf("cut to %q, want the bare prefix %q", got, want)
	}
}

func TestDecision(t *testing.T) {
	c := compact(full("a", budget.High, 7, 9), 2)
	c.Section = "sources"
	got := budget.Select([]budget.Candidate{c}, budget.Options{MaxTokens: 5}).Decisions
	want := []budget.Decision{{
		ID: "a", Section: "sources", Priority: budget.High, Status: budget.Included, Variant: "compact",
		Chars: 8, Tokens: 2, Order: 7, Text: chars(2), VariantIndex: 1,
	}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}
