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

// OpenKeyword opens a keyword index that keeps its files in dir. Opening the same dir again, after
// Close, must return the flushed data, unless the index persists nothing at all.
type OpenKeyword = func(t *testing.T, dir string) index.KeywordIndex

// TestKeyword checks a keyword index against its contract. The index must score as the model does:
// BM25 over the features of package analysis, with the parameters of the query, and with the terms
// of the neighbouring chunks in items of 32 chunks or more.
func TestKeyword(t *testing.T, open func(t *testing.T, dir string) index.KeywordIndex) {
	for name, test := range map[string]func(*testing.T, OpenKeyword){
		"Empty":               keywordEmpty,
		"VisibleAtOnce":       keywordVisibleAtOnce,
		"ApplyTwice":          keywordApplyTwice,
		"Replace":             keywordReplace,
		"Delete":              keywordDelete,
		"UpsertThenDelete":    keywordUpsertThenDelete,
		"LastUpsertWins":      keywordLastUpsertWins,
		"Title":               keywordTitle,
		"Cursor":              keywordCursor,
		"Reopen":              keywordReopen,
		"Accept":              keywordAccept,
		"AcceptCalls":         keywordAcceptCalls,
		"OnlyCommon":          keywordOnlyCommon,
		"Ties":                keywordTies,
		"Max":                 keywordMax,
		"K":                   keywordK,
		"NoTerms":             keywordNoTerms,
		"StopWords":           keywordStopWords,
		"RepeatedWord":        keywordRepeatedWord,
		"Unicode":             keywordUnicode,
		"Misspelt":            keywordMisspelt,
		"Phrase":              keywordPhrase,
		"Holding":             keywordHolding,
		"Patterns":            keywordPatterns,
		"Spelling":            keywordSpelling,
		"TermWordings":        keywordTermWordings,
		"Neighbours":          keywordNeighbours,
		"Extra":               keywordExtra,
		"Groups":              keywordGroups,
		"Wordings":            keywordWordings,
		"MergedWordings":      keywordMergedWordings,
		"StopWordings":        keywordStopWordings,
		"GroupWordings":       keywordGroupWordings,
		"Params":              keywordParams,
		"BadParams":           keywordBadParams,
		"ManyTimes":           keywordManyTimes,
		"OddChunks":           keywordOddChunks,
		"Stats":               keywordStats,
		"Cancelled":           keywordCancelled,
		"Compact":             keywordCompact,
		"CompactConcurrently": keywordCompactConcurrently,
		"Closed":              keywordClosed,
		"Concurrent":          keywordConcurrent,
		"ConcurrentViews":     keywordConcurrentViews,
		"Model":               func(t *testing.T, open OpenKeyword) { keywordModelTest(t, open, longText) },
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// TestKeywordLong checks an index that treats items of long chunks or more as long.
func TestKeywordLong(t *testing.T, long int, open func(t *testing.T, dir string) index.KeywordIndex) {
	keywordModelTest(t, open, long)
}

// keywordIndex is an index under test. It fails the test on an error.
type keywordIndex struct {
	t   rapid.TB
	ix  index.KeywordIndex
	seq uint64
}

func openKeywordIndex(t *testing.T, open OpenKeyword) *keywordIndex {
	t.Helper()
	l := &keywordIndex{t: t, ix: open(t, t.TempDir())}
	t.Cleanup(func() {
		if err := l.ix.Close(); err != nil && !errors.Is(err, index.ErrClosed) {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

// apply applies a batch. A chunk without an item becomes a text of its own.
func (l *keywordIndex) apply(upserts []index.TextChunk, deletes ...uint64) {
	l.t.Helper()
	l.seq++
	upserts = slices.Clone(upserts)
	for i := range upserts {
		upserts[i].Item = itemOf(upserts[i])
	}
	if err := l.ix.Apply(context.Background(), l.seq, upserts, deletes); err != nil {
		l.t.Fatalf("Apply: %v", err)
	}
}

// itemOf returns the item of a chunk, or an unused item if it names none.
func itemOf(u index.TextChunk) uint64 {
	return cmp.Or(u.Item, u.ID*0x9E3779B97F4A7C15>>3)
}

func (l *keywordIndex) put(id uint64, text string) {
	l.t.Helper()
	l.apply([]index.TextChunk{{ID: id, Text: text}})
}

func (l *keywordIndex) flush() {
	l.t.Helper()
	if err := l.ix.Flush(context.Background()); err != nil {
		l.t.Fatalf("Flush: %v", err)
	}
}

func (l *keywordIndex) search(q index.KeywordQuery) index.KeywordResult {
	l.t.Helper()
	res, err := l.ix.Search(context.Background(), q)
	if err != nil {
		l.t.Fatalf("Search(%q): %v", q.Text, err)
	}
	return res
}

// find returns the ids of the best hits.
func (l *keywordIndex) find(text string) []uint64 {
	l.t.Helper()
	var ids []uint64
	for _, h := range l.search(index.KeywordQuery{Text: text, K: 100}).Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func (l *keywordIndex) want(text string, ids ...uint64) {
	l.t.Helper()
	if got := l.find(text); !slices.Equal(got, ids) {
		l.t.Errorf("search for %q finds %v, want %v", text, got, ids)
	}
}

// both runs a check on pending chunks and again after a flush.
func (l *keywordIndex) both(check func()) {
	l.t.Helper()
	check()
	l.flush()
	check()
}
