package indextest

import (
	"context"
	"slices"
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// holding returns the units that have all of the terms.
func (m *lexModel) holding(terms []string) (ids []uint64) {
	for id, u := range m.units {
		if !slices.ContainsFunc(terms, func(t string) bool { return u.tf[t] == 0 }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (l *lex) holdingIs(m *lexModel, terms []string) {
	l.t.Helper()
	got, err := l.leg.Holding(context.Background(), terms)
	if err != nil {
		l.t.Fatalf("Holding(%q): %v", terms, err)
	}
	if want := m.holding(terms); !slices.Equal(got, want) {
		l.t.Fatalf("Holding(%q) = %v, want %v", terms, got, want)
	}
}

// A unit holds terms wherever it is kept: in its title, its text or its extra words, and
// not in those of others.
func lexicalHolding(t *testing.T, open OpenLexical) {
	l, m := openLex(t, open), newLexicalModel()
	apply := func(units []index.TextUnit, deletes ...uint64) {
		l.apply(units, deletes...)
		m.apply(units, deletes)
	}
	apply([]index.TextUnit{
		{ID: 1, Parent: 7, Title: "Storm harbour", Text: "The harbour master ties the ropes."},
		{ID: 2, Parent: 7, Text: "A master of the harbour: harbour masters, again harbour masters."},
		{ID: 3, Parent: 8, Text: "Nothing here", Extra: "harbour master"},
		{ID: 4, Parent: 9, Text: "to be or not to be"},
	})
	check := func() {
		t.Helper()
		l.holdingIs(m, nil)
		for _, text := range []string{"harbour", "harbour master", "harbour ties", "master ropes", "the", "to be or not to be", "storm harbour master", "lighthouse"} {
			var terms []string
			analysis.Features(text, func(_ analysis.Kind, term []byte) { terms = append(terms, string(term)) })
			l.holdingIs(m, terms)
			for _, p := range analysis.Phrases(`"` + text + `"`) {
				l.holdingIs(m, p.Terms())
			}
		}
	}
	l.both(check)
	apply([]index.TextUnit{{ID: 5, Parent: 10, Text: "Harbour masters of storms"}}, 4)
	l.both(check)
	apply([]index.TextUnit{{ID: 3, Parent: 8, Text: "no more"}}, 1, 2)
	l.both(check)
}
