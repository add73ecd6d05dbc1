package passage_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

func TestHighlights(t *testing.T) {
	for _, tt := range []struct {
		name, query, text string
		want              []string
	}{
		{"stems", "how do runners run?", "The runner was running; a run.", []string{"runner", "running", "run"}},
		{"stop words", "the storm", "The storm is the end", []string{"storm"}},
		{"nothing but stop words", "to be or not", "To be is not to do", []string{"To", "be", "not", "to"}},
		{"letter case", "HARBOUR", "Harbours, the harbour", []string{"Harbours", "harbour"}},
		{"a part of a compound", "request id", "parseHTTPRequest(user_id)", []string{"Request", "id"}},
		{"a whole compound", "user_id", "user_id and id", []string{"user_id", "id"}},
		{"pairs of characters", "東京都", "在東京都内、京都", []string{"東京都", "京都"}},
		{"half width", "データ", "このﾃﾞｰﾀは", []string{"ﾃﾞｰﾀ"}},
		{"numbers", "3000 ships", "3,000 ships", []string{"3,000", "ships"}},
		{"nothing", "lighthouse", "The harbour", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := []string{}
			for _, s := range passage.NewHighlighter(tt.query).In(tt.text).Matches {
				got = append(got, tt.text[s.Start:s.End])
				if runes := []rune(tt.text); string(runes[s.StartRune:s.EndRune]) != tt.text[s.Start:s.End] {
					t.Errorf("%+v is %q by code points", s, string(runes[s.StartRune:s.EndRune]))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q in %q (-want +got):\n%s", tt.query, tt.text, diff)
			}
		})
	}
}

func TestFragment(t *testing.T) {
	filler := strings.Repeat("Boats lie in the bay and wait for wind. ", 20)
	for _, tt := range []struct{ name, text, want string }{
		{"short", "The storm season begins.", "The storm season begins."},
		{"none", filler + filler, strings.TrimSpace(filler[:240])},
		{
			"the most words", "A storm. " + filler + "\nThe storm season begins in the harbour.\n" + filler + "harbour",
			"The storm season begins in the harbour.",
		},
		{"the first of several", "storm\n" + filler + "storm", "storm"},
		{
			"without spaces", strings.Repeat("海", 500) + "嵐季" + strings.Repeat("海", 500),
			strings.Repeat("海", 119) + "嵐季" + strings.Repeat("海", 119),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := passage.NewHighlighter("storm season harbour 嵐季").In(tt.text).Fragment
			if got := tt.text[f.Start:f.End]; got != tt.want {
				t.Errorf("fragment %q, want %q", got, tt.want)
			}
		})
	}
}

// checkHighlights checks that each match analyses to a word of the query, that no word is missing,
// and that the fragment is valid.
func checkHighlights(t rapid.TB, query, text string) {
	wanted := analysis.Query(query)
	h := passage.NewHighlighter(query).In(text)
	inside := func(start, end int) bool {
		return slices.ContainsFunc(h.Matches, func(s ragctx.TextSpan) bool { return s.Start <= start && end <= s.End })
	}
	end := 0
	for _, s := range h.Matches {
		if s.Start < end || s.End <= s.Start || s.End > len(text) {
			t.Fatalf("match %+v after %d in %d bytes", s, end, len(text))
		}
		end = s.End
		terms := analysis.Index(text[s.Start:s.End])
		if !slices.ContainsFunc(terms, func(term string) bool { return slices.Contains(wanted, term) }) {
			t.Errorf("%q in %q gives %q, none of %q", text[s.Start:s.End], text, terms, wanted)
		}
		checkRunes(t, text, s)
	}
	analysis.Spans(text, func(term []byte, start, end int) {
		if slices.Contains(wanted, string(term)) && !inside(start, end) && len(h.Matches) < ragctx.MaxMatches {
			t.Errorf("%q at %d to %d in %q is left out", term, start, end, text)
		}
	})
	checkRunes(t, text, h.Fragment)
	if f := h.Fragment; f.EndRune-f.StartRune > max(ragctx.FragmentChars, longestText(h.Matches)) {
		t.Errorf("fragment %+v of %q is too long", f, text)
	}
}

func longestText(spans []ragctx.TextSpan) (n int) {
	for _, s := range spans {
		n = max(n, s.EndRune-s.StartRune)
	}
	return n
}

func checkRunes(t rapid.TB, text string, s ragctx.TextSpan) {
	if s.Start < 0 || s.End < s.Start || s.End > len(text) ||
		utf8.RuneCountInString(text[:s.Start]) != s.StartRune || utf8.RuneCountInString(text[:s.End]) != s.EndRune {
		t.Fatalf("span %+v of %q", s, text)
	}
}

func TestHighlightsAreTheQuerys(t *testing.T) {
	words := rapid.OneOf(
		rapid.SampledFrom([]string{
			"the", "Storms", "storm", "harbour", "user_id", "id", "parseHTTPRequest", "request", "C++",
			"don't", "1.5", "3,000", "3000", "東京都", "京都", "水", "ﾃﾞｰﾀ", "データ",
			"новыми", "a/b.c", "\n", "\xff",
		}),
		rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		query := strings.Join(rapid.SliceOfN(words, 0, 5).Draw(rt, "query"), " ")
		text := strings.Join(rapid.SliceOfN(words, 0, 80).Draw(rt, "text"), rapid.SampledFrom([]string{" ", "", "\n", "-"}).Draw(rt, "between"))
		checkHighlights(rt, query, text)
	})
}

func TestHighlightsAreBounded(t *testing.T) {
	text := strings.Repeat("storm ", 1<<19)
	if n := len(passage.NewHighlighter("storm").In(text).Matches); n != ragctx.MaxMatches {
		t.Errorf("%d matches, want %d", n, ragctx.MaxMatches)
	}
	checkHighlights(t, "東京", strings.Repeat("東京", 1<<18))
}

func FuzzHighlights(f *testing.F) {
	f.Add("storm season", "The storm-season: 3,000 ships")
	f.Add("東京都 ﾃﾞｰﾀ", "在東京都内 データ")
	f.Fuzz(func(t *testing.T, query, text string) { checkHighlights(t, query, text) })
}
