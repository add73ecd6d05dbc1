package indextest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// corrections returns the corrections of a query's words, and the query with them added.
func (m *keywordModel) corrections(q index.KeywordQuery) (read []index.Correction, asked index.KeywordQuery) {
	asked = q
	if q.Spelling == nil {
		return nil, q
	}
	chunks := make(map[string]int) // number of chunks with a term
	for id, u := range m.chunks {
		if q.Spelling.Within != nil && !q.Spelling.Within(id) {
			continue
		}
		for term := range u.tf {
			chunks[term]++
		}
	}
	unknown := slices.DeleteFunc(slices.Collect(analysis.SpelledWords(q.Text)), func(w analysis.Spelled) bool { return chunks[w.Term] > 0 })
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
			if n := chunks[string(term)]; n > most {
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

// Unknown words are corrected to the spelling that most chunks have, pending or flushed. Only
// visible chunks count.
func keywordSpelling(t *testing.T, open OpenKeyword) {
	l, m := openKeywordIndex(t, open), newKeywordModel()
	apply := func(chunks []index.TextChunk, deletes ...uint64) {
		l.apply(chunks, deletes...)
		m.apply(chunks, deletes)
	}
	apply([]index.TextChunk{
		{ID: 4, Item: 1, Title: "Storm harbour", Text: "The harbour master closes the harbours."},
		{ID: 5, Item: 1, Text: "Retrieval of ropes"},
		{ID: 8, Item: 2, Text: "The master of arbour and harbor, harbour"},
		{ID: 12, Item: 3, Text: "Brücken über книга, книги; masters"},
		{ID: 16, Item: 4, Text: "A harbor; harbor_master"},
	})
	check := func() {
		t.Helper()
		for query, want := range map[string][]string{
			"the harbuor":               {"harbour"}, // harbor occurs in as many chunks, but by a later kind of edit
			"harbouur harbouur masetr":  {"harbour", "master"},
			"retrievla of the storms":   {"retrieval"},
			"Bruecken und brucken":      {"brücken"},
			"книга и книгп":             {"книг"},
			"harbour master":            nil,
			"harb stom":                 nil, // too short
			"harbuor_master HARBUOR":    nil, // identifiers
			"the Harbuor":               nil, // a name
			`"harbuor" harbuor~ harbu*`: nil, // quoted, or patterns
			"lighthouse":                nil,
		} {
			q := index.KeywordQuery{Text: query, Spelling: &index.Spelling{}}
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
		q := index.KeywordQuery{Text: "harbour masters", Spelling: &index.Spelling{Within: theirs}}
		if got := l.search(q).Corrections; len(got) != 1 || got[0].As != "harbor" || got[0].Word != "harbour" {
			t.Errorf("among others' words: %+v", got)
		}
		m.compareQuery(l, q)
	}
	l.both(check)
}

// sameListed checks that listing the visible chunks gives the same corrections.
func (m *keywordModel) sameListed(l *keywordIndex, q index.KeywordQuery, want []index.Correction) {
	l.t.Helper()
	if q.Spelling == nil || q.Spelling.Within == nil {
		return
	}
	only := index.Only{}
	for id := range m.chunks {
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

// misspelt are words of the model with one or more edits.
var misspelt = []string{
	"harbuor", "Habour", "nedle", "neeedle", "stomr", "storrm", "Bricke", "brucke", "книгв", "كتابن", "needlse", "xyzzyx",
}

// drawSpelling adds misspelt words to some queries.
func drawSpelling(rt *rapid.T, q *index.KeywordQuery) {
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
