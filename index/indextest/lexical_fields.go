package indextest

import (
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// A word that no text has still finds those that look like it.
func lexicalMisspelt(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	for id, text := range []string{"the harbour master", "a storm at sea", "Donaudampfschifffahrt", "gasto en turismos"} {
		l.put(uint64(id), text)
	}
	l.both(func() {
		for id, q := range []string{"harbor", "storrm", "dampfschiff", "turismo"} {
			l.want(q, uint64(id))
		}
	})
}

// Words in the order of the query count more than the same words apart, with
// stop words between them or not.
func lexicalPhrase(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	l.put(1, "master of the harbour watches the light house keeper")
	l.put(2, "keeper of the light watches the house harbour master")
	l.both(func() {
		l.want("house keeper", 1, 2)
		l.want("keeper of light", 2, 1)
	})
}

// A unit of a long text is found by the words of those beside it, less with the
// distance; one of a short text is not, nor is one of another text.
func lexicalBeside(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	text := func(parent, first uint64, units int) (out []index.TextUnit) {
		for id := range uint64(units) { //nolint:gosec // small
			out = append(out, index.TextUnit{ID: first - id, Parent: parent, Text: "ab cd ef"})
		}
		return out
	}
	long, short := text(1, 100, longText), text(2, 100-longText, 9)
	long[len(long)-3].Text = "ab cd zq"
	short[5].Text = "ab cd zx"
	l.apply(append(long, short...))
	l.both(func() {
		l.want("zq", 71, 70, 72, 69, 73, 74)
		l.want("zx", 63)
	})
}

// Extra words are found and make a unit no longer.
func lexicalExtra(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	l.apply([]index.TextUnit{
		{ID: 1, Text: "we went sailing", Extra: "8 May 2023"},
		{ID: 2, Text: "we stayed home"},
	})
	l.both(func() {
		l.want("may 2023", 1)
		l.want("we", 1, 2)
	})
}

func lexicalGroups(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	var units []index.TextUnit
	for id := range uint64(12) {
		units = append(units, index.TextUnit{ID: id, Text: []string{"sails and ropes", "bread", "ropes", "tea"}[id%4]})
	}
	l.apply(units)
	accept := func(uint64) bool { return false }
	q := index.LexicalQuery{Text: "which ropes", K: 5, Accept: accept, Groups: &index.Groups{
		Of: func(id uint64) int32 { return int32(id%4) - 1 }, Sizes: []int32{3, 3, 3}, //nolint:gosec // small
	}}
	l.both(func() {
		// Group 0 has bread, 1 has ropes, 2 has tea; the sails are in none.
		got := l.search(q).Groups
		if len(got) != 3 || got[0] != 0 || !(got[1] > 0) || got[2] != 0 {
			t.Errorf("groups score %v", got)
		}
		for _, text := range []string{"?", "nothing"} {
			none := l.search(index.LexicalQuery{Text: text, K: 5, Groups: q.Groups}).Groups
			if !slices.Equal(none, make([]float64, 3)) {
				t.Errorf("%q: groups score %v, want zeros", text, none)
			}
		}
		if res := l.search(index.LexicalQuery{Text: q.Text, K: 5}); res.Groups != nil {
			t.Errorf("groups %v, which nobody asked for", res.Groups)
		}
		empty := l.search(index.LexicalQuery{Text: q.Text, K: 5, Groups: &index.Groups{Of: q.Groups.Of}})
		if len(empty.Groups) != 0 {
			t.Errorf("groups %v of none", empty.Groups)
		}
	})
}

// Words count as often as they occur, up to a limit, stored or not.
func lexicalManyTimes(t *testing.T, open OpenLexical) {
	l, model := openLex(t, open), newLexicalModel()
	var units []index.TextUnit
	for n := range 40 {
		units = append(units, index.TextUnit{
			ID: uint64(n), Title: strings.Repeat("tide ", n/4), Text: strings.Repeat("tide ", n) + strings.Repeat("calm ", 40-n), //nolint:gosec // small
		})
	}
	l.apply(units)
	model.apply(units, nil)
	l.both(func() {
		for _, q := range []string{"tide", "calm tide", "tide tide calms"} {
			model.compare(l, q)
		}
	})
}
