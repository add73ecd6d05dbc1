package indextest

import (
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// A misspelt word finds similar words.
func keywordMisspelt(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	for id, text := range []string{"the harbour master", "a storm at sea", "Donaudampfschifffahrt", "gasto en turismos"} {
		l.put(uint64(id), text)
	}
	l.both(func() {
		for id, q := range []string{"harbor", "storrm", "dampfschiff", "turismo"} {
			l.want(q, uint64(id))
		}
	})
}

// Words in the order of the query score more than the same words apart, with or without stop words
// between them.
func keywordPhrase(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "master of the harbour watches the light house keeper")
	l.put(2, "keeper of the light watches the house harbour master")
	l.both(func() {
		l.want("house keeper", 1, 2)
		l.want("keeper of light", 2, 1)
	})
}

// A chunk of a long text is found by the words of its neighbours, with a score that falls with the
// distance. A chunk of a short text is not, nor is a chunk of another text.
func keywordNeighbours(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	text := func(item, first uint64, chunks int) (out []index.TextChunk) {
		for id := range uint64(chunks) { //nolint:gosec // small
			out = append(out, index.TextChunk{ID: first - id, Item: item, Text: "ab cd ef"})
		}
		return out
	}
	long, short := text(1, 100, index.LongText), text(2, 100-index.LongText, 9)
	long[len(long)-3].Text = "ab cd zq"
	short[5].Text = "ab cd zx"
	l.apply(append(long, short...))
	l.both(func() {
		l.want("zq", 71, 70, 72, 69, 73, 74)
		l.want("zx", 63)
	})
}

// Extra words are found and do not count in the length of a chunk.
func keywordExtra(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply([]index.TextChunk{
		{ID: 1, Text: "we went sailing", Extra: "8 May 2023"},
		{ID: 2, Text: "we stayed home"},
	})
	l.both(func() {
		l.want("may 2023", 1)
		l.want("we", 1, 2)
	})
}

func keywordGroups(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	var chunks []index.TextChunk
	for id := range uint64(12) {
		chunks = append(chunks, index.TextChunk{ID: id, Text: []string{"sails and ropes", "bread", "ropes", "tea"}[id%4]})
	}
	l.apply(chunks)
	accept := func(uint64) bool { return false }
	q := index.KeywordQuery{Text: "which ropes", K: 5, Accept: accept, Groups: &index.Groups{
		Of: func(id uint64) int32 { return int32(id%4) - 1 }, Sizes: []int32{3, 3, 3}, //nolint:gosec // small
	}}
	l.both(func() {
		// Group 0 has bread, 1 has ropes, 2 has tea; the sails are in no group.
		got := l.search(q).Groups
		if len(got) != 3 || got[0] != 0 || !(got[1] > 0) || got[2] != 0 {
			t.Errorf("groups score %v", got)
		}
		for _, text := range []string{"?", "nothing"} {
			none := l.search(index.KeywordQuery{Text: text, K: 5, Groups: q.Groups}).Groups
			if !slices.Equal(none, make([]float64, 3)) {
				t.Errorf("%q: groups score %v, want zeros", text, none)
			}
		}
		if res := l.search(index.KeywordQuery{Text: q.Text, K: 5}); res.Groups != nil {
			t.Errorf("groups %v, which nobody asked for", res.Groups)
		}
		empty := l.search(index.KeywordQuery{Text: q.Text, K: 5, Groups: &index.Groups{Of: q.Groups.Of}})
		if len(empty.Groups) != 0 {
			t.Errorf("groups %v of none", empty.Groups)
		}
	})
}

// Words count as often as they occur, up to a limit, before and after a flush.
func keywordManyTimes(t *testing.T, open OpenKeyword) {
	l, model := openKeywordIndex(t, open), newKeywordModel()
	var chunks []index.TextChunk
	for n := range 40 {
		chunks = append(chunks, index.TextChunk{
			ID: uint64(n), Title: strings.Repeat("tide ", n/4), //nolint:gosec // small
			Text: strings.Repeat("tide ", n) + strings.Repeat("calm ", 40-n),
		})
	}
	l.apply(chunks)
	model.apply(chunks, nil)
	l.both(func() {
		for _, q := range []string{"tide", "calm tide", "tide tide calms"} {
			model.compare(l, q)
		}
	})
}
