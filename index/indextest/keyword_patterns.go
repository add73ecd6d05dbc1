package indextest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// matching returns the n most frequent words that match a pattern.
func (m *keywordModel) matching(p analysis.Pattern, n int) []string {
	chunks := make(map[string]int)
	for _, u := range m.chunks {
		for term := range u.tf {
			like := strings.HasPrefix(term, p.Text)
			if p.Kind == analysis.Near {
				like = oneEdit([]rune(p.Text), []rune(term))
			}
			if like && !strings.ContainsFunc(term, unicode.IsControl) && !strings.Contains(term, " ") && !analysis.Stop(term) {
				chunks[term]++
			}
		}
	}
	words := slices.SortedFunc(maps.Keys(chunks), func(a, b string) int {
		return cmp.Or(cmp.Compare(chunks[b], chunks[a]), cmp.Compare(a, b))
	})
	return words[:min(n, len(words))]
}

// oneEdit reports whether a and b are one edit apart.
func oneEdit(a, b []rune) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a)+len(b) == 1 || len(a) == 1 && len(b) == 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

func (l *keywordIndex) wordsAre(m *keywordModel, p analysis.Pattern, n int) {
	l.t.Helper()
	got, err := l.ix.Words(context.Background(), p, n)
	if err != nil {
		l.t.Fatalf("Words(%+v): %v", p, err)
	}
	if want := m.matching(p, n); !slices.Equal(got, want) {
		l.t.Fatalf("Words(%+v, %d) = %q, want %q", p, n, got, want)
	}
}

// Words are found by prefix and by one edit, pending or flushed, most frequent first. Words of
// deleted chunks are not found.
func keywordPatterns(t *testing.T, open OpenKeyword) {
	l, m := openKeywordIndex(t, open), newKeywordModel()
	apply := func(chunks []index.TextChunk, deletes ...uint64) {
		l.apply(chunks, deletes...)
		m.apply(chunks, deletes)
	}
	apply([]index.TextChunk{
		{ID: 1, Item: 7, Title: "Storm harbour", Text: "The harbour master; harbours, harbour harbour."},
		{ID: 2, Item: 7, Text: "Harbinger of a storm: the harbinger, a harbinger"},
		{ID: 3, Item: 8, Text: "Harm and charm, their thermal theme", Extra: "harbour"},
		{ID: 4, Item: 9, Text: "user_identity and user_id; Brücke, Brucke, книга книги, 機器学習"},
		{ID: 5, Item: 9, Text: "harbuor master harbor"},
	})
	check := func() {
		t.Helper()
		for _, n := range []int{0, 1, 3, 100} {
			for _, text := range []string{
				"", "har", "harb", "harbour", "the", "user_", "brü", "книг", "機", "zzz",
				"\x00", "\x01", "\x02", "harbour ", "harbour\x02", "\xff",
			} {
				l.wordsAre(m, analysis.Pattern{Kind: analysis.Prefix, Text: text}, n)
			}
			for _, text := range []string{
				"harbour", "harbor", "hrbour", "arm", "harm", "thm", "brucke", "brüce", "книг", "機器習", "storn", "zzz",
			} {
				l.wordsAre(m, analysis.Pattern{Kind: analysis.Near, Text: text}, n)
			}
		}
	}
	l.both(check)
	apply([]index.TextChunk{{ID: 6, Item: 10, Text: "Harbours of harm"}}, 2, 4)
	l.both(check)
	apply([]index.TextChunk{{ID: 3, Item: 8, Text: "no more"}}, 1)
	l.both(check)
}

// drawPattern draws a pattern that words of the model sometimes match.
func drawPattern(rt *rapid.T) analysis.Pattern {
	word := analysis.Stem(rapid.SampledFrom(modelWords).Draw(rt, "word of the pattern"))
	runes := []rune(word)
	at := rapid.IntRange(0, len(runes)).Draw(rt, "at")
	if rapid.Bool().Draw(rt, "prefix") {
		return analysis.Pattern{Kind: analysis.Prefix, Text: string(runes[:at])}
	}
	letter := rapid.SampledFrom([]rune("sаб学x")).Draw(rt, "letter")
	return analysis.Pattern{Kind: analysis.Near, Text: string(slices.Insert(runes, at, letter))}
}

// A wording that is a term counts as it is, once, without pairs or grams.
func keywordTermWordings(t *testing.T, open OpenKeyword) {
	l, m := openKeywordIndex(t, open), newKeywordModel()
	chunks := []index.TextChunk{
		{ID: 1, Item: 1, Text: "databases of harbour masters"},
		{ID: 2, Item: 2, Text: "harbor data the"},
	}
	l.apply(chunks)
	m.apply(chunks, nil)
	term := func(text string) index.Wording { return index.Wording{Text: text, Weight: 0.5, Term: true} }
	l.both(func() {
		t.Helper()
		for _, q := range []index.KeywordQuery{
			{More: []index.Wording{term("databas")}},
			{More: []index.Wording{term("databases")}},
			{Text: "harbour", More: []index.Wording{term("harbor"), term("harbour"), term("databas")}},
			{Text: "the", More: []index.Wording{term("data")}},
			{Text: "the", More: []index.Wording{{Text: "data", Term: true}}},
		} {
			m.compareQuery(l, q)
		}
	})
}
