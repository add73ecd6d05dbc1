package analysis_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

// checkSpans expects the terms of [analysis.Each], each derived from its span.
func checkSpans(t rapid.TB, text string) {
	var terms []string
	analysis.Spans(text, func(term []byte, start, end int) {
		if start < 0 || start >= end || end > len(text) {
			t.Fatalf("%q of %q is at %d to %d", term, text, start, end)
		}
		if !slices.Contains(analysis.Index(text[start:end]), string(term)) {
			t.Errorf("%q of %q is said to be of %q, which gives %q", term, text, text[start:end], analysis.Index(text[start:end]))
		}
		terms = append(terms, string(term))
	})
	if want := analysis.Index(text); !slices.Equal(terms, want) {
		t.Errorf("terms of %q: %q, want %q", text, terms, want)
	}
}

func TestSpans(t *testing.T) {
	for text, want := range map[string][]string{
		"Don't roll-back 3,000 user_ids": {"Don", "roll-back", "roll", "back", "3,000", "user_ids", "user", "ids"},
		"parseHTTPRequest(C++)":          {"parseHTTPRequest", "parse", "HTTP", "Request", "C", "C++"},
		"Zoë’s 東京都 ﾃﾞｰﾀ":                 {"Zoë", "東京", "京都", "ﾃﾞｰ", "ｰﾀ"},
	} {
		var got []string
		analysis.Spans(text, func(_ []byte, start, end int) { got = append(got, text[start:end]) })
		if !slices.Equal(got, want) {
			t.Errorf("spans of %q: %q, want %q", text, got, want)
		}
		checkSpans(t, text)
	}
}

func TestSpansAnalyseToTheirTerms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkSpans(rt, rapid.String().Draw(rt, "text")) })
}

func FuzzSpans(f *testing.F) {
	for _, text := range []string{
		"Don't roll-back 3,000 user_ids", "parseHTTPRequest(C++)", "Zoë’s 東京都 ﾃﾞｰﾀ", "กำข", "한국어", "é́x", "1,2,3.4", "ำำ",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkSpans(t, text) })
}
