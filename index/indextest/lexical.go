package indextest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
)

// OpenLexical opens a lexical leg that keeps its files in dir. Opening the same
// dir again, after Close, must find what was flushed, unless the leg keeps
// nothing at all.
type OpenLexical = func(t *testing.T, dir string) index.Lexical

// TestLexical checks a lexical leg against its contract. The leg must score as
// the model does: BM25 over the features of package analysis, with the parameters of
// the query, and with the terms of the units beside in parents of 32 units and more.
func TestLexical(t *testing.T, open func(t *testing.T, dir string) index.Lexical) {
	for name, test := range map[string]func(*testing.T, OpenLexical){
		"Empty":            lexicalEmpty,
		"VisibleAtOnce":    lexicalVisibleAtOnce,
		"ApplyTwice":       lexicalApplyTwice,
		"Replace":          lexicalReplace,
		"Delete":           lexicalDelete,
		"UpsertThenDelete": lexicalUpsertThenDelete,
		"LastUpsertWins":   lexicalLastUpsertWins,
		"Title":            lexicalTitle,
		"Cursor":           lexicalCursor,
		"Reopen":           lexicalReopen,
		"Accept":           lexicalAccept,
		"AcceptIsAsked":    lexicalAcceptIsAsked,
		"OnlyCommon":       lexicalOnlyCommon,
		"Ties":             lexicalTies,
		"Max":              lexicalMax,
		"K":                lexicalK,
		"NoTerms":          lexicalNoTerms,
		"StopWords":        lexicalStopWords,
		"RepeatedWord":     lexicalRepeatedWord,
		"Unicode":          lexicalUnicode,
		"Misspelt":         lexicalMisspelt,
		"Phrase":           lexicalPhrase,
		"Holding":          lexicalHolding,
		"Patterns":         lexicalPatterns,
		"Spelling":         lexicalSpelling,
		"TermWordings":     lexicalTermWordings,
		"Beside":           lexicalBeside,
		"Extra":            lexicalExtra,
		"Groups":           lexicalGroups,
		"Wordings":         lexicalWordings,
		"MergedWordings":   lexicalMergedWordings,
		"StopWordings":     lexicalStopWordings,
		"GroupWordings":    lexicalGroupWordings,
		"Params":           lexicalParams,
		"BadParams":        lexicalBadParams,
		"ManyTimes":        lexicalManyTimes,
		"OddUnits":         lexicalOddUnits,
		"Stats":            lexicalStats,
		"Cancelled":        lexicalCancelled,
		"Compact":          lexicalCompact,
		"CompactBeside":    lexicalCompactBeside,
		"Closed":           lexicalClosed,
		"Concurrent":       lexicalConcurrent,
		"ConcurrentViews":  lexicalConcurrentViews,
		"Model":            func(t *testing.T, open OpenLexical) { lexicalModel(t, open, longText) },
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// TestLexicalLong checks a leg that takes parents of as many units for long.
func TestLexicalLong(t *testing.T, long int, open func(t *testing.T, dir string) index.Lexical) {
	lexicalModel(t, open, long)
}

// lex drives a leg and fails the test on an error.
type lex struct {
	t   rapid.TB
	leg index.Lexical
	seq uint64
}

func openLex(t *testing.T, open OpenLexical) *lex {
	t.Helper()
	l := &lex{t: t, leg: open(t, t.TempDir())}
	t.Cleanup(func() {
		if err := l.leg.Close(); err != nil && !errors.Is(err, index.ErrClosed) {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

// apply takes a unit without a parent for one that is a text by itself.
func (l *lex) apply(upserts []index.TextUnit, deletes ...uint64) {
	l.t.Helper()
	l.seq++
	upserts = slices.Clone(upserts)
	for i := range upserts {
		upserts[i].Parent = parentOf(upserts[i])
	}
	if err := l.leg.Apply(context.Background(), l.seq, upserts, deletes); err != nil {
		l.t.Fatalf("Apply: %v", err)
	}
}

// parentOf returns a unit's parent, one of its own if it names none.
func parentOf(u index.TextUnit) uint64 {
	return cmp.Or(u.Parent, u.ID*0x9E3779B97F4A7C15>>3)
}

func (l *lex) put(id uint64, text string) {
	l.t.Helper()
	l.apply([]index.TextUnit{{ID: id, Text: text}})
}

func (l *lex) flush() {
	l.t.Helper()
	if err := l.leg.Flush(context.Background()); err != nil {
		l.t.Fatalf("Flush: %v", err)
	}
}

func (l *lex) search(q index.LexicalQuery) index.LexicalResult {
	l.t.Helper()
	res, err := l.leg.Search(context.Background(), q)
	if err != nil {
		l.t.Fatalf("Search(%q): %v", q.Text, err)
	}
	return res
}

// find returns the ids of the best hits.
func (l *lex) find(text string) []uint64 {
	l.t.Helper()
	var ids []uint64
	for _, h := range l.search(index.LexicalQuery{Text: text, K: 100}).Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func (l *lex) want(text string, ids ...uint64) {
	l.t.Helper()
	if got := l.find(text); !slices.Equal(got, ids) {
		l.t.Errorf("search for %q finds %v, want %v", text, got, ids)
	}
}

// both runs a check on pending units and again after a flush.
func (l *lex) both(check func()) {
	l.t.Helper()
	check()
	l.flush()
	check()
}
