package indextest

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// throughout runs a check on pending chunks, on flushed ones, and after reopening. An index that
// persists nothing is refilled.
func throughout(t *testing.T, open OpenKeyword, chunks []index.TextChunk, check func(l *keywordIndex)) {
	t.Helper()
	dir := t.TempDir()
	l := &keywordIndex{t: t, ix: open(t, dir)}
	defer func() { _ = l.ix.Close() }()
	l.apply(chunks)
	l.both(func() { check(l) })
	if err := l.ix.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if l.ix = open(t, dir); l.ix.Cursor() < l.seq {
		l.apply(chunks)
	}
	check(l)
}

func texts(list ...string) (chunks []index.TextChunk) {
	for i, text := range list {
		chunks = append(chunks, index.TextChunk{ID: uint64(i + 1), Text: text})
	}
	return chunks
}

func wording(text string, weight float64) index.Wording {
	return index.Wording{Text: text, Weight: weight}
}

// wantHits checks the order of a query's hits, and that Max bounds their scores.
func (l *keywordIndex) wantHits(q index.KeywordQuery, ids ...uint64) index.KeywordResult {
	l.t.Helper()
	q.K = 100
	res := l.search(q)
	var got []uint64
	for _, h := range res.Hits {
		got = append(got, h.ID)
		if !(h.Score > 0 && h.Score <= res.Max) {
			l.t.Errorf("%+v: score %v of %d, Max %v", q, h.Score, h.ID, res.Max)
		}
	}
	if !slices.Equal(got, ids) {
		l.t.Errorf("%+v finds %v, want %v", q, got, ids)
	}
	return res
}

// Wordings find texts that Text does not, by their weight.
func keywordWordings(t *testing.T, open OpenKeyword) {
	chunks := texts("the old lighthouse", "a quiet harbour", "some tall mast", "the long voyage")
	more := func(text string, harbour, mast float64) index.KeywordQuery {
		return index.KeywordQuery{Text: text, More: []index.Wording{wording("harbour", harbour), wording("mast", mast)}}
	}
	throughout(t, open, chunks, func(l *keywordIndex) {
		alone := l.wantHits(index.KeywordQuery{Text: "lighthouse"}, 1)
		l.wantHits(more("lighthouse", 0.5, 0.25), 1, 2, 3)
		l.wantHits(more("lighthouse", 0.5, 3), 3, 1, 2)
		l.wantHits(more("", 0.25, 0.5), 3, 2)
		l.wantHits(more("?!", 0.25, 0.5), 3, 2)
		l.wantHits(more("lighthouse", math.Inf(1), 1e9), 2, 3, 1)
		for _, none := range []float64{0, -1, math.Inf(-1), math.NaN()} {
			if res := l.wantHits(more("lighthouse", none, none), 1); res.Max != alone.Max || res.Hits[0] != alone.Hits[0] {
				t.Errorf("wordings that weigh %v change the answer: %v, want %v", none, res, alone)
			}
			if res := l.wantHits(more("", none, none)); res.Max != 0 {
				t.Errorf("nothing is asked for, and Max is %v", res.Max)
			}
		}
	})
}

// A feature of several wordings counts once, with the sum of their weights.
func keywordMergedWordings(t *testing.T, open OpenKeyword) {
	chunks := texts("old lighthouse keeper", "a quiet harbour", "lighthouse by the harbour", "the keeper of bees")
	throughout(t, open, chunks, func(l *keywordIndex) {
		again := l.search(index.KeywordQuery{Text: "harbour lighthouse lighthouse", K: 9})
		more := []index.Wording{wording("lighthouse", 0.5), wording("Lighthouses", 0), wording("lighthouse", 0.5)}
		split := l.search(index.KeywordQuery{Text: "harbour lighthouse", More: more, K: 9})
		// The repeated word also makes a pair, but no text has that pair.
		if !slices.Equal(again.Hits, split.Hits) {
			t.Errorf("words by weight: %v, repeated: %v", split.Hits, again.Hits)
		}
		phrase := l.search(index.KeywordQuery{Text: "lighthouse keeper", K: 9})
		apart := l.search(index.KeywordQuery{Text: "lighthouse", More: []index.Wording{wording("keeper", 1)}, K: 9})
		if !(phrase.Hits[0].Score > apart.Hits[0].Score) {
			t.Error("words of different texts make a pair")
		}
	})
}

// Stop words count only if the wordings have no other words.
func keywordStopWordings(t *testing.T, open OpenKeyword) {
	chunks := texts("to be or not to be", "the lighthouse", "what about the harbour")
	throughout(t, open, chunks, func(l *keywordIndex) {
		stop := []index.Wording{wording("to be or not to be", 5)}
		with, without := l.wantHits(index.KeywordQuery{Text: "lighthouse", More: stop}, 2),
			l.wantHits(index.KeywordQuery{Text: "lighthouse"}, 2)
		if with.Max != without.Max {
			t.Errorf("a wording of stop words counts: Max %v, want %v", with.Max, without.Max)
		}
		l.wantHits(index.KeywordQuery{Text: "what about the", More: []index.Wording{wording("lighthouse", 0.1)}}, 2)
		l.wantHits(index.KeywordQuery{More: stop}, 1)
		l.wantHits(index.KeywordQuery{Text: "what", More: stop}, 1, 3)
		l.wantHits(index.KeywordQuery{Text: "what", More: []index.Wording{wording("not", 0.1), wording("lighthouse", -1)}}, 3, 1)
	})
}

// Groups count words by their weight.
func keywordGroupWordings(t *testing.T, open OpenKeyword) {
	chunks := texts("sails and ropes", "bread", "tea and cups", "other things")
	groups := &index.Groups{Of: func(id uint64) int32 { return int32(id) - 1 }, Sizes: []int32{1, 1, 1}} //nolint:gosec // small
	throughout(t, open, chunks, func(l *keywordIndex) {
		scores := func(weight float64) []float64 {
			q := index.KeywordQuery{Text: "ropes", More: []index.Wording{wording("bread", weight), wording("the", 9)}, K: 1, Groups: groups}
			return l.search(q).Groups
		}
		once, half := scores(1), scores(0.5)
		if !(once[0] > 0) || once[1] != once[0] || once[2] != 0 {
			t.Errorf("groups score %v, want the same for ropes and bread and nothing for tea", once)
		}
		if half[0] != once[0] || half[1] != once[1]/2 {
			t.Errorf("a wording of half the weight scores %v, one of the whole %v", half, once)
		}
		alone := l.search(index.KeywordQuery{More: []index.Wording{wording("bread", 1)}, Groups: groups}).Groups
		if !slices.Equal(alone, []float64{0, once[1], 0}) {
			t.Errorf("a wording alone scores %v, want %v", alone, once[1])
		}
	})
}

// Each parameter has its documented effect.
func keywordParams(t *testing.T, open OpenKeyword) {
	chunks := append(
		texts("the harbour master", "house keeper light", "keeper light house",
			"tide tide tide tide tide tide far at sea", "tide anchor far"),
		index.TextChunk{ID: 20, Item: 9, Text: "rope rope" + strings.Repeat(" more", 40)},
		index.TextChunk{ID: 21, Item: 9, Text: "rope"},
		index.TextChunk{ID: 30, Item: 10, Text: strings.Repeat("much ", 40) + "wharf"},
		index.TextChunk{ID: 31, Item: 11, Text: "wharf" + strings.Repeat(" much", 40)},
	)
	throughout(t, open, chunks, func(l *keywordIndex) {
		ask := func(text string, p index.KeywordParams) index.KeywordQuery {
			return index.KeywordQuery{Text: text, Params: p}
		}
		l.wantHits(ask("harbor", index.KeywordParams{}), 1)
		l.wantHits(ask("harbor", index.KeywordParams{Grams: -1}))
		l.wantHits(ask("light house", index.KeywordParams{}), 3, 2)
		none := l.wantHits(ask("light house", index.KeywordParams{Pairs: -1}), 2, 3)
		if none.Hits[0].Score != none.Hits[1].Score {
			t.Errorf("without pairs the order of words counts: %v", none.Hits)
		}
		l.wantHits(ask("tide tide anchor", index.KeywordParams{K1: 0.01}), 5, 4)
		l.wantHits(ask("tide tide anchor", index.KeywordParams{K1: 1000, Opening: -1}), 4, 5)
		l.wantHits(ask("wharf", index.KeywordParams{}), 31, 30)
		l.wantHits(ask("wharf", index.KeywordParams{Opening: -1}), 30, 31)
		l.wantHits(ask("rope", index.KeywordParams{}), 21, 20)
		l.wantHits(ask("rope", index.KeywordParams{B: 0.01}), 20, 21)
		same := l.wantHits(ask("rope", index.KeywordParams{Passage: -1}), 20, 21)
		if same.Hits[0].Score != same.Hits[1].Score {
			t.Errorf("without passages the chunks of a text differ: %v", same.Hits)
		}
	})
}

// Parameters out of range are rejected.
func keywordBadParams(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "text")
	nan, inf := math.NaN(), math.Inf(1)
	for _, p := range []index.KeywordParams{
		{K1: -1}, {K1: 1001}, {K1: nan}, {B: -0.1}, {B: 1.1}, {B: inf}, {Pairs: 101}, {Pairs: nan}, {Grams: inf}, {Passage: 1e9},
	} {
		if _, err := l.ix.Search(t.Context(), index.KeywordQuery{Text: "text", K: 1, Params: p}); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%+v: Search = %v, want ErrInvalid", p, err)
		}
	}
	l.want("text", 1)
}
