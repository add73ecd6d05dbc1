package pack_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragctx/ragctx/pack"
)

// chars returns a text that pack.Estimate counts as n tokens.
func chars(n int) string { return strings.Repeat("abcd", n) }

func full(id string, p pack.Priority, order, tokens int) pack.Candidate {
	return pack.Candidate{ID: id, Priority: p, Order: order, Variants: []pack.Variant{pack.Fixed("full", chars(tokens))}}
}

func compact(c pack.Candidate, tokens int) pack.Candidate {
	c.Variants = append(c.Variants, pack.Fixed("compact", chars(tokens)))
	return c
}

func source(c pack.Candidate, s string) pack.Candidate { c.Source = s; return c }

// summary writes a selection as one word per decision.
func summary(s pack.Selection) string {
	var words []string
	for _, d := range s.Decisions {
		w := d.ID + "=" + d.Variant
		if d.Status == pack.Skipped {
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
		if got := pack.Estimate(strings.Repeat("x", n)); got != want {
			t.Errorf("Estimate of %d chars = %d, want %d", n, got, want)
		}
	}
	if got := pack.Chars("aé漢😀\xff"); got != 6 {
		t.Errorf("Chars = %d, want 6: one each, two for the character outside the basic plane", got)
	}
}

func FuzzChars(f *testing.F) {
	for _, s := range []string{"", "12345678", "1234567é", "12345678é12345678", "😀1234567\xff", "\xf0\x9f12345678", "漢字漢字漢字"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := pack.Chars(s), len(utf16.Encode([]rune(s))); got != want || 3*got < len(s) {
			t.Errorf("Chars(%q) = %d, want %d, and at least a third of %d bytes", s, got, want, len(s))
		}
	})
}

func TestSelect(t *testing.T) {
	zeroshot := pack.Options{RequiredMayExceed: true}
	tests := []struct {
		name  string
		cands []pack.Candidate
		opts  func(*pack.Options)
		want  string
		over  int
	}{
		{
			name: "one token keeps what is required and drops the rest",
			cands: []pack.Candidate{
				full("issue", pack.Required, 0, 5), full("plan", pack.Required, 1, 5),
				full("notes", pack.Medium, 2, 3), full("trigger", pack.Required, 3, 2),
			},
			opts: func(o *pack.Options) { o.MaxTokens = 1 },
			want: "issue=full plan=full notes!budget trigger=full",
			over: 11,
		},
		{
			name: "high is made compact before low is skipped",
			cands: []pack.Candidate{
				compact(full("low", pack.Low, 0, 3), 2), compact(full("high", pack.High, 1, 6), 3),
			},
			opts: func(o *pack.Options) { o.MaxTokens = 4 },
			want: "low!budget high=compact",
		},
		{
			name:  "the scan goes on after a misfit",
			cands: []pack.Candidate{full("a", pack.High, 0, 9), full("b", pack.High, 1, 2)},
			opts:  func(o *pack.Options) { o.MaxTokens = 3 },
			want:  "a!budget b=full",
		},
		{
			name:  "unknown priorities are medium",
			cands: []pack.Candidate{full("low", pack.Low, 0, 2), full("odd", "urgent", 1, 2), full("none", "", 2, 2)},
			opts:  func(o *pack.Options) { o.MaxTokens = 4 },
			want:  "low!budget odd=full none=full",
		},
		{
			name: "nothing to show is empty, also when required",
			cands: []pack.Candidate{
				{ID: "a", Required: true, Order: 0, Variants: []pack.Variant{pack.Fixed("full", ""), {Name: "compact"}}},
				{ID: "b", Order: 1},
			},
			want: "a!empty b!empty",
		},
		{
			name:  "required with an empty full variant uses the compact one",
			cands: []pack.Candidate{compact(full("a", pack.Required, 0, 0), 2)},
			want:  "a=compact",
		},
		{
			name: "required uses a compact variant that exceeds if it is merely smaller",
			cands: []pack.Candidate{
				compact(full("a", pack.Required, 0, 9), 5), compact(full("b", pack.Required, 1, 3), 4),
			},
			opts: func(o *pack.Options) { o.MaxTokens = 2 },
			want: "a=compact b=full",
			over: 6,
		},
		{
			name:  "zero means unlimited",
			cands: []pack.Candidate{full("a", pack.Low, 0, 1_000_000)},
			want:  "a=full",
		},
		{
			name:  "items are limited, required ones go on",
			cands: []pack.Candidate{full("a", "", 0, 1), full("b", "", 1, 1), full("r", pack.Required, 2, 1), full("s", pack.Required, 3, 1)},
			opts:  func(o *pack.Options) { o.MaxItems = 1 },
			want:  "a!max_items b!max_items r=full s=full",
		},
		{
			name:  "required within the budget steps down, then is skipped",
			cands: []pack.Candidate{compact(full("r", pack.Required, 0, 9), 3), full("s", pack.Required, 1, 9), full("a", "", 2, 1)},
			opts:  func(o *pack.Options) { o.MaxTokens, o.RequiredMayExceed = 4, false },
			want:  "r=compact s!budget a=full",
		},
		{
			name: "a longer variant is used for what is left",
			cands: []pack.Candidate{
				{ID: "a", Order: 0, Preferred: 1, Variants: []pack.Variant{pack.Fixed("wide", chars(9)), pack.Fixed("full", chars(3))}},
				{ID: "b", Order: 1, Preferred: 1, Variants: []pack.Variant{pack.Fixed("wide", chars(5)), pack.Fixed("full", chars(3))}},
				full("c", "", 2, 1),
			},
			opts: func(o *pack.Options) { o.MaxTokens = 9 },
			want: "a=full b=wide c=full",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := zeroshot
			if tt.opts != nil {
				tt.opts(&opts)
			}
			s := pack.Select(tt.cands, opts)
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
	cands := func(spec string) []pack.Candidate {
		var out []pack.Candidate
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
			got := summary(pack.Select(cands(tt.spec), pack.Options{MaxTokens: 6, MaxItemsPerSource: 2}))
			if got != tt.want {
				t.Errorf("by items: got %s, want %s", got, tt.want)
			}
			got = summary(pack.Select(cands(tt.spec), pack.Options{MaxTokens: 6, MaxTokensPerSource: 4}))
			if got != tt.want {
				t.Errorf("by tokens: got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("a source's first candidate is not held back", func(t *testing.T) {
		got := summary(pack.Select(cands("a1 b1 b2"), pack.Options{MaxTokens: 4, MaxTokensPerSource: 1}))
		if want := "a1=full b1=full b2!source_cap"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestCut(t *testing.T) {
	cut := func(c pack.Candidate) pack.Candidate {
		c.Cut = func(limit int) (string, int) { return chars(limit), limit }
		return c
	}
	tests := []struct {
		name  string
		cands []pack.Candidate
		want  string
	}{
		{"the first when nothing else fits", []pack.Candidate{cut(full("a", "", 0, 9)), cut(full("b", "", 1, 9))}, "a=cut~ b!budget"},
		{"the best although a worse one fits", []pack.Candidate{cut(full("a", "", 0, 9)), full("b", "", 1, 1)}, "a=cut~ b!budget"},
		{"the best that can be", []pack.Candidate{full("a", "", 0, 9), cut(full("b", "", 1, 9)), full("c", "", 2, 1)}, "a!budget b=cut~ c!budget"},
		{"no other than the best", []pack.Candidate{full("a", "", 0, 1), cut(full("b", "", 1, 9))}, "a=full b!budget"},
		{"required ones to what is left", []pack.Candidate{full("a", pack.Required, 0, 3), cut(full("b", pack.Required, 1, 9))}, "a=full b=cut~"},
		{"nothing is left", []pack.Candidate{full("a", pack.Required, 0, 4), cut(full("b", pack.Required, 1, 9))}, "a=full b!budget"},
		{"not possible", []pack.Candidate{full("a", "", 0, 9)}, "a!budget"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := pack.Select(tt.cands, pack.Options{MaxTokens: 4})
			if got := summary(s); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if s.Budget.UsedTokens > 4 {
				t.Errorf("used %d tokens of 4", s.Budget.UsedTokens)
			}
		})
	}
}

// trap 32: the compact forms of all come first, then optional ones go, then the largest
// required one is cut.
func TestGuard(t *testing.T) {
	keep := full("keep", pack.Required, 5, 20)
	keep.Preserve = true
	cands := []pack.Candidate{
		full("r", pack.Required, 0, 20),
		compact(full("low", pack.Low, 1, 10), 2),
		compact(full("high", pack.High, 2, 10), 2),
		compact(full("high2", pack.High, 3, 10), 2),
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
			s := pack.Select(cands, pack.Options{MaxTokens: 1000, MaxChars: tt.max, RequiredMayExceed: true})
			if got := summary(s); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			got := pack.Chars(s.Text())
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

func TestGuardMarksWhatItCuts(t *testing.T) {
	long := full("r", pack.Required, 0, 30)
	s := pack.Select([]pack.Candidate{long}, pack.Options{MaxChars: 60})
	if got := s.Text(); !strings.HasSuffix(got, "\n\n[Context truncated to fit limit]\n") || len(got) != 60 {
		t.Errorf("cut to %q", got)
	}
	s = pack.Select([]pack.Candidate{long}, pack.Options{MaxChars: 9})
	if got, want := s.Text(), "abcdabcda"; got != want {
		t.Errorf("cut to %q, want the bare prefix %q", got, want)
	}
}

func TestDecision(t *testing.T) {
	c := compact(full("a", pack.High, 7, 9), 2)
	c.Section = "sources"
	got := pack.Select([]pack.Candidate{c}, pack.Options{MaxTokens: 5}).Decisions
	want := []pack.Decision{{
		ID: "a", Section: "sources", Priority: pack.High, Status: pack.Included, Variant: "compact",
		Chars: 8, Tokens: 2, Order: 7, Text: chars(2), VariantIndex: 1,
	}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}
