package indextest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// holding returns the chunks that have all of the terms.
func (m *keywordModel) holding(terms []string) (ids []uint64) {
	for id, u := range m.chunks {
		if !slices.ContainsFunc(terms, func(t string) bool { return u.tf[t] == 0 }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (l *keywordIndex) holdingIs(m *keywordModel, terms []string) {
	l.t.Helper()
	got, err := l.ix.Holding(context.Background(), terms)
	if err != nil {
		l.t.Fatalf("Holding(%q): %v", terms, err)
	}
	if want := m.holding(terms); !slices.Equal(got, want) {
		l.t.Fatalf("Holding(%q) = %v, want %v", terms, got, want)
	}
}

// A chunk holds the terms of its title, text and extra words, pending or flushed, and no terms of
// other chunks.
func keywordHolding(t *testing.T, open OpenKeyword) {
	l, m := openKeywordIndex(t, open), newKeywordModel()
	apply := func(chunks []index.TextChunk, deletes ...uint64) {
		l.apply(chunks, deletes...)
		m.apply(chunks, deletes)
	}
	apply([]index.TextChunk{
		{ID: 1, Item: 7, Title: "Storm harbour", Text: "The harbour master ties the ropes."},
		{ID: 2, Item: 7, Text: "A master of the harbour: harbour masters, again harbour masters."},
		{ID: 3, Item: 8, Text: "Nothing here", Extra: "harbour master"},
		{ID: 4, Item: 9, Text: "to be or not to be"},
	})
	check := func() {
		t.Helper()
		l.holdingIs(m, nil)
		for _, text := range []string{
			"harbour", "harbour master", "harbour ties", "master ropes", "the", "to be or not to be", "storm harbour master",
			"lighthouse",
		} {
			var terms []string
			analysis.Features(text, func(_ analysis.Kind, term []byte) { terms = append(terms, string(term)) })
			l.holdingIs(m, terms)
			for _, p := range analysis.Phrases(`"` + text + `"`) {
				l.holdingIs(m, p.Terms())
			}
		}
	}
	l.both(check)
	apply([]index.TextChunk{{ID: 5, Item: 10, Text: "Harbour masters of storms"}}, 4)
	l.both(check)
	apply([]index.TextChunk{{ID: 3, Item: 8, Text: "no more"}}, 1, 2)
	l.both(check)
}

// Terms that no text can have are found nowhere, which is no error of the index.
func keywordOddTerms(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "harbour")
	for _, term := range []string{"harbour\x00", "\xff", strings.Repeat("harbour", 1_000)} {
		if got, err := l.ix.Holding(context.Background(), []string{term}); len(got) > 0 || err != nil {
			t.Errorf("Holding(%.20q): %v, %v", term, got, err)
		}
		res := l.search(index.KeywordQuery{Text: "harbour", More: []index.Wording{{Text: term, Weight: 1, Term: true}}, K: 3})
		if len(res.Hits) != 1 {
			t.Errorf("with the term %.20q: %v", term, res.Hits)
		}
	}
}
