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

// compareKeyword compares the hits of an index for a text with the model's.
type compareKeyword = func(m *keywordModel, l *keywordIndex, text string)

// OpenKeyword opens a keyword index that keeps its files in dir. Opening the same dir again, after
// Close, must return the flushed data, unless the index persists nothing at all.
type OpenKeyword = func(t *testing.T, dir string) index.KeywordIndex

// Feature is a part of the contract of [index.KeywordIndex] that an index in another process may not be able to keep.
type Feature string

// The features.
const (
	// Scores equal the model's.
	Scores Feature = "exact scores"
	// Neighbours are hits in a long text that have no word of the query, but neighbours that do.
	Neighbours Feature = "hits beside a match"
	// GroupScores are the scores of groups.
	GroupScores Feature = "scores of groups"
	// Vocabulary lists the words that match a pattern or correct a word.
	Vocabulary Feature = "list of words"
	// TieOrder is the choice of the smallest ids among the last hits with equal scores.
	TieOrder Feature = "order of ties"
	// WholeBatches hides the beginning of a batch that is being applied.
	WholeBatches Feature = "whole batches"
)

// TestKeyword checks a keyword index against its contract. The index must score as the model does:
// BM25 over the features of package analysis, with the parameters of the query, and with the terms
// of the neighbouring chunks in items of 32 chunks or more. Cases of the features that the index is without are skipped.
func TestKeyword(t *testing.T, open func(t *testing.T, dir string) index.KeywordIndex, without ...Feature) {
	compare := (*keywordModel).compare
	if slices.Contains(without, Scores) {
		compare = (*keywordModel).compareFound
	}
	for name, c := range map[string]struct {
		test  func(*testing.T, OpenKeyword)
		needs Feature
	}{
		"Empty":               {test: keywordEmpty},
		"VisibleAtOnce":       {test: keywordVisibleAtOnce},
		"ApplyTwice":          {test: keywordApplyTwice},
		"Replace":             {test: keywordReplace},
		"Delete":              {test: keywordDelete},
		"UpsertThenDelete":    {test: keywordUpsertThenDelete},
		"LastUpsertWins":      {test: keywordLastUpsertWins},
		"Title":               {test: keywordTitle},
		"Cursor":              {test: keywordCursor},
		"Reopen":              {test: func(t *testing.T, open OpenKeyword) { keywordReopen(t, open, compare) }},
		"Accept":              {test: keywordAccept},
		"AcceptCalls":         {test: keywordAcceptCalls},
		"OnlyCommon":          {test: keywordOnlyCommon},
		"OnlyRarer":           {test: keywordOnlyRarer},
		"AskedBefore":         {test: keywordAskedBefore},
		"OddTerms":            {test: keywordOddTerms},
		"Ties":                {keywordTies, TieOrder},
		"Max":                 {test: keywordMax},
		"K":                   {test: keywordK},
		"NoTerms":             {test: keywordNoTerms},
		"StopWords":           {test: keywordStopWords},
		"RepeatedWord":        {test: keywordRepeatedWord},
		"Unicode":             {test: keywordUnicode},
		"Misspelt":            {test: keywordMisspelt},
		"Phrase":              {test: keywordPhrase},
		"Holding":             {test: keywordHolding},
		"Patterns":            {keywordPatterns, Vocabulary},
		"Spelling":            {keywordSpelling, Vocabulary},
		"TermWordings":        {keywordTermWordings, Scores},
		"Neighbours":          {keywordNeighbours, Neighbours},
		"Extra":               {test: keywordExtra},
		"Groups":              {keywordGroups, GroupScores},
		"Wordings":            {test: keywordWordings},
		"MergedWordings":      {test: keywordMergedWordings},
		"StopWordings":        {test: keywordStopWordings},
		"GroupWordings":       {keywordGroupWordings, GroupScores},
		"Params":              {keywordParams, Scores},
		"BadParams":           {test: keywordBadParams},
		"ManyTimes":           {keywordManyTimes, Scores},
		"OddChunks":           {test: keywordOddChunks},
		"Stats":               {test: keywordStats},
		"Cancelled":           {test: keywordCancelled},
		"Compact":             {test: func(t *testing.T, open OpenKeyword) { keywordCompact(t, open, compare) }},
		"CompactConcurrently": {test: keywordCompactConcurrently},
		"Closed":              {test: keywordClosed},
		"Concurrent":          {test: keywordConcurrent},
		"ConcurrentViews":     {keywordConcurrentViews, WholeBatches},
		"Model": {func(t *testing.T, open OpenKeyword) {
			keywordModelTest(t, open, index.LongText, !slices.Contains(without, Vocabulary))
		}, Scores},
	} {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(without, c.needs) {
				t.Skipf("the index has no %s", c.needs)
			}
			c.test(t, open)
		})
	}
}

// TestKeywordLong checks an index that treats items of long chunks or more as long.
func TestKeywordLong(t *testing.T, long int, open func(t *testing.T, dir string) index.KeywordIndex) {
	keywordModelTest(t, open, long, true)
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
