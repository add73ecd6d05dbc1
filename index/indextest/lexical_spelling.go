package indextest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// corrections returns what a query's words are read as, and the query that asks for both.
func (m *lexModel) corrections(q index.LexicalQuery) (read []index.Correction, asked index.LexicalQuery) {
	asked = q
	if q.Spelling == nil {
		return nil, q
	}
	units := make(map[string]int) // that have a term
	for id, u := range m.units {
		if q.Spelling.Within != nil && !q.Spelling.Within(id) {
			continue
		}
		for term := range u.tf {
			units[term]++
		}
	}
	unknown := slices.DeleteFunc(slices.Collect(analysis.SpelledWords(q.Text)), func(w analysis.Spelled) bool { return units[w.Term] > 0 })
	count := make(map[string]int)
	distinct := slices.DeleteFunc(slices.Clone(unknown), func(w analysis.Spelled) bool {
		count[w.Term]++
		return count[w.Term] > 1
	})
	if len(distinct) > 8 {
		return nil, q
	}
	asked.More = slices.Clone(q.More)
	for _, w := range distinct {
		c, most := index.Correction{Word: w.Written, Count: count[w.Term]}, 0
		w.Respell(func(term, spelt []byte) {
			if n := units[string(term)]; n > most {
				most, c.As, c.Term = n, string(spelt), string(term)
			}
		})
		if most > 0 {
			read = append(read, c)
			asked.More = append(asked.More, index.Wording{Text: c.Term, Weight: float64(c.Count), Term: true})
		}
	}
	return read, asked
}

// Words that no text has are read as the spelling that most units have, wherever these
// are kept; words of others do not count.
func lexicalSpelling(t *testing.T, open OpenLexical) {
	l, m := openLex(t, open), newLexicalModel()
	apply := func(units []index.TextUnit, deletes ...uint64) {
		l.apply(units, deletes...)
		m.apply(units, deletes)
	}
	apply([]index.TextUnit{
		{ID: 4, Parent: 1, Title: "Storm harbour", Text: "The harbour master closes the harbours."},
		{ID: 5, Parent: 1, Text: "Retrieval of ropes"},
		{ID: 8, Parent: 2, Text: "The master of arbour and harbor, harbour"},
		{ID: 12, Parent: 3, Text: "Brücken über книга, книги; masters"},
		{ID: 16, Parent: 4, Text: "A harbor; harbor_master"},
	})
	check := func() {
		t.Helper()
		for query, want := range map[string][]string{
			"the Harbuor":               {"harbour"}, // as many units have harbor, which is another kind of edit away
			"harbouur harbouur masetr":  {"harbour", "master"},
			"retrievla of the storms":   {"retrieval"},
			"Bruecken und brucken":      {"brücken"},
			"книга и книгп":             {"книг"},
			"harbour master":            nil,
			"harb stom":                 nil, // too short
			"harbuor_master HARBUOR":    nil, // names
			`"harbuor" harbuor~ harbu*`: nil, // meant as they are
			"lighthouse":                nil,
		} {
			q := index.LexicalQuery{Text: query, Spelling: &index.Spelling{}}
			m.compareQuery(l, q)
			var got []string
			for _, c := range l.search(q).Corrections {
				got = append(got, c.As)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q was read as %q, want %q", query, got, want)
			}
		}
		theirs := func(id uint64) bool { return id >= 16 }
		q := index.LexicalQuery{Text: "harbour masters", Spelling: &index.Spelling{Within: theirs}}
		if got := l.search(q).Corrections; len(got) != 1 || got[0].As != "harbor" || got[0].Word != "harbour" {
			t.Errorf("among others' words: %+v", got)
		}
		m.compareQuery(l, q)
	}
	l.both(check)
}

// sameListed expects the same corrections where the units whose words count are listed.
func (m *lexModel) sameListed(l *lex, q index.LexicalQuery, want []index.Correction) {
	l.t.Helper()
	if q.Spelling == nil || q.Spelling.Within == nil {
		return
	}
	only := index.Only{}
	for id := range m.units {
		if q.Spelling.Within(id) {
			only = append(only, id)
		}
	}
	slices.Sort(only)
	q.Spelling = &index.Spelling{Within: q.Spelling.Within, Only: only}
	if got := l.search(q).Corrections; !slices.Equal(got, want) {
		l.t.Fatalf("%q, by the words of %v: corrections %+v, want %+v", q.Text, only, got, want)
	}
}

// misspelt are words of the model with one edit or more.
var misspelt = []string{"harbuor", "Habour", "nedle", "neeedle", "stomr", "storrm", "Bricke", "brucke", "книгв", "كتابن", "needlse", "xyzzyx"}

// drawSpelling makes some queries ones with misspelt words.
func drawSpelling(rt *rapid.T, q *index.LexicalQuery) {
	if !rapid.Bool().Draw(rt, "misspelt") {
		return
	}
	for _, w := range rapid.SliceOfN(rapid.SampledFrom(misspelt), 0, 10).Draw(rt, "misspelt words") {
		q.Text += " " + w
	}
	q.Spelling = &index.Spelling{}
	if nth := rapid.Uint64Range(0, 3).Draw(rt, "whose words"); nth > 0 {
		q.Spelling.Within = func(id uint64) bool { return id/4%nth == 0 }
	}
}
