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

// throughout runs a check on pending units, on flushed ones, and after the leg was
// opened again; one that has lost them is filled again.
func throughout(t *testing.T, open OpenLexical, units []index.TextUnit, check func(l *lex)) {
	t.Helper()
	dir := t.TempDir()
	l := &lex{t: t, leg: open(t, dir)}
	defer func() { _ = l.leg.Close() }()
	l.apply(units)
	l.both(func() { check(l) })
	if err := l.leg.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if l.leg = open(t, dir); l.leg.Cursor() < l.seq {
		l.apply(units)
	}
	check(l)
}

func texts(list ...string) (units []index.TextUnit) {
	for i, text := range list {
		units = append(units, index.TextUnit{ID: uint64(i + 1), Text: text})
	}
	return units
}

func wording(text string, weight float64) index.Wording {
	return index.Wording{Text: text, Weight: weight}
}

// wantHits checks the order of what a query finds, and that its bound holds.
func (l *lex) wantHits(q index.LexicalQuery, ids ...uint64) index.LexicalResult {
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

// Wordings find what Text does not, by their weight.
func lexicalWordings(t *testing.T, open OpenLexical) {
	units := texts("the old lighthouse", "a quiet harbour", "some tall mast", "the long voyage")
	more := func(text string, harbour, mast float64) index.LexicalQuery {
		return index.LexicalQuery{Text: text, More: []index.Wording{wording("harbour", harbour), wording("mast", mast)}}
	}
	throughout(t, open, units, func(l *lex) {
		alone := l.wantHits(index.LexicalQuery{Text: "lighthouse"}, 1)
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

// A feature of several texts is one, and counts what it does in all of them.
func lexicalMergedWordings(t *testing.T, open OpenLexical) {
	units := texts("old lighthouse keeper", "a quiet harbour", "lighthouse by the harbour", "the keeper of bees")
	throughout(t, open, units, func(l *lex) {
		again := l.search(index.LexicalQuery{Text: "harbour lighthouse lighthouse", K: 9})
		more := []index.Wording{wording("lighthouse", 0.5), wording("Lighthouses", 0), wording("lighthouse", 0.5)}
		split := l.search(index.LexicalQuery{Text: "harbour lighthouse", More: more, K: 9})
		// The word that is repeated makes a pair, too, but one that no text has.
		if !slices.Equal(again.Hits, split.Hits) {
			t.Errorf("words by weight: %v, repeated: %v", split.Hits, again.Hits)
		}
		phrase := l.search(index.LexicalQuery{Text: "lighthouse keeper", K: 9})
		apart := l.search(index.LexicalQuery{Text: "lighthouse", More: []index.Wording{wording("keeper", 1)}, K: 9})
		if !(phrase.Hits[0].Score > apart.Hits[0].Score) {
			t.Error("words of different texts make a pair")
		}
	})
}

// Stop words count where there is nothing else in all texts together.
func lexicalStopWordings(t *testing.T, open OpenLexical) {
	units := texts("to be or not to be", "the lighthouse", "what about the harbour")
	throughout(t, open, units, func(l *lex) {
		stop := []index.Wording{wording("to be or not to be", 5)}
		with, without := l.wantHits(index.LexicalQuery{Text: "lighthouse", More: stop}, 2), l.wantHits(index.LexicalQuery{Text: "lighthouse"}, 2)
		if with.Max != without.Max {
			t.Errorf("a wording of stop words counts: Max %v, want %v", with.Max, without.Max)
		}
		l.wantHits(index.LexicalQuery{Text: "what about the", More: []index.Wording{wording("lighthouse", 0.1)}}, 2)
		l.wantHits(index.LexicalQuery{More: stop}, 1)
		l.wantHits(index.LexicalQuery{Text: "what", More: stop}, 1, 3)
		l.wantHits(index.LexicalQuery{Text: "what", More: []index.Wording{wording("not", 0.1), wording("lighthouse", -1)}}, 3, 1)
	})
}

// Groups count words by their weight.
func lexicalGroupWordings(t *testing.T, open OpenLexical) {
	units := texts("sails and ropes", "bread", "tea and cups", "other things")
	groups := &index.Groups{Of: func(id uint64) int32 { return int32(id) - 1 }, Sizes: []int32{1, 1, 1}} //nolint:gosec // small
	throughout(t, open, units, func(l *lex) {
		scores := func(weight float64) []float64 {
			q := index.LexicalQuery{Text: "ropes", More: []index.Wording{wording("bread", weight), wording("the", 9)}, K: 1, Groups: groups}
			return l.search(q).Groups
		}
		once, half := scores(1), scores(0.5)
		if !(once[0] > 0) || once[1] != once[0] || once[2] != 0 {
			t.Errorf("groups score %v, want the same for ropes and bread and nothing for tea", once)
		}
		if half[0] != once[0] || half[1] != once[1]/2 {
			t.Errorf("a wording of half the weight scores %v, one of the whole %v", half, once)
		}
		alone := l.search(index.LexicalQuery{More: []index.Wording{wording("bread", 1)}, Groups: groups}).Groups
		if !slices.Equal(alone, []float64{0, once[1], 0}) {
			t.Errorf("a wording alone scores %v, want %v", alone, once[1])
		}
	})
}

// Each parameter changes what is found as it says.
func lexicalParams(t *testing.T, open OpenLexical) {
	units := append(
		texts("the harbour master", "house keeper light", "keeper light house", "tide tide tide tide tide tide far at sea", "tide anchor far"),
		index.TextUnit{ID: 20, Parent: 9, Text: "rope rope" + strings.Repeat(" more", 40)},
		index.TextUnit{ID: 21, Parent: 9, Text: "rope"},
		index.TextUnit{ID: 30, Parent: 10, Text: strings.Repeat("much ", 40) + "wharf"},
		index.TextUnit{ID: 31, Parent: 11, Text: "wharf" + strings.Repeat(" much", 40)},
	)
	throughout(t, open, units, func(l *lex) {
		ask := func(text string, p index.LexicalParams) index.LexicalQuery {
			return index.LexicalQuery{Text: text, Params: p}
		}
		l.wantHits(ask("harbor", index.LexicalParams{}), 1)
		l.wantHits(ask("harbor", index.LexicalParams{Grams: -1}))
		l.wantHits(ask("light house", index.LexicalParams{}), 3, 2)
		none := l.wantHits(ask("light house", index.LexicalParams{Pairs: -1}), 2, 3)
		if none.Hits[0].Score != none.Hits[1].Score {
			t.Errorf("without pairs the order of words counts: %v", none.Hits)
		}
		l.wantHits(ask("tide tide anchor", index.LexicalParams{K1: 0.01}), 5, 4)
		l.wantHits(ask("tide tide anchor", index.LexicalParams{K1: 1000, Opening: -1}), 4, 5)
		l.wantHits(ask("wharf", index.LexicalParams{}), 31, 30)
		l.wantHits(ask("wharf", index.LexicalParams{Opening: -1}), 30, 31)
		l.wantHits(ask("rope", index.LexicalParams{}), 21, 20)
		l.wantHits(ask("rope", index.LexicalParams{B: 0.01}), 20, 21)
		same := l.wantHits(ask("rope", index.LexicalParams{Passage: -1}), 20, 21)
		if same.Hits[0].Score != same.Hits[1].Score {
			t.Errorf("without passages the units of a text differ: %v", same.Hits)
		}
	})
}

// Parameters out of range are refused.
func lexicalBadParams(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	l.put(1, "text")
	nan, inf := math.NaN(), math.Inf(1)
	for _, p := range []index.LexicalParams{
		{K1: -1}, {K1: 1001}, {K1: nan}, {B: -0.1}, {B: 1.1}, {B: inf}, {Pairs: 101}, {Pairs: nan}, {Grams: inf}, {Passage: 1e9},
	} {
		if _, err := l.leg.Search(t.Context(), index.LexicalQuery{Text: "text", K: 1, Params: p}); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%+v: Search = %v, want ErrInvalid", p, err)
		}
	}
	l.want("text", 1)
}
