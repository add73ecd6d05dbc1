// Package keyword is the lexical leg of a collection: exact BM25 over the
// features of package analysis: words, pairs of words, and grams of four letters.
//
// Units that were just applied live in small immutable segments in memory and
// are searchable at once. When enough of them are pending, and on Flush, they
// move into a scorch index (the storage engine of bleve), which keeps postings
// durably, merges segments and forgets deleted units. Scorch only stores; the
// scoring is done here, over its postings, because bleve's own scores change
// when segments merge. Scores here depend on the live units alone: lengths, the
// number of units and document frequencies are exact at any time, so the same
// units score the same bit for bit however they are stored.
//
// A search works on one immutable view, which a change replaces as a whole.
// Searches take no lock and never wait for a change.
//
// # Score
//
// A text scores, over the distinct features of the query, each qtf times in it,
//
//	sum of w · qtf · idf · tf / (tf + k1·(1 - b + b·(dl+20)/(avgdl+20)))
//	idf = ln(1 + (N - df + ½)/(df + ½))
//
// where w is 1 for words and 0.2 for pairs and grams. These weights, k1, b, and the
// half below are the defaults of [index.LexicalParams]. Where the query has more
// wordings, qtf is the sum over all of them of how often each has the feature times
// what the wording weighs. For words, tf counts the
// occurrences in the text and those in the title twice, up to 16 in a unit; of
// pairs and grams it only counts whether a unit has them. dl counts the words of
// title and text, for all kinds of features: their numbers grow together. Extra
// words add to tf but not to dl. The 20 added to the lengths lets one b serve chat
// turns of a dozen words and pages alike. Each quotient is below 1, so the sum of
// the w · qtf · idf bounds every score.
//
// Pairs find phrases. Grams find words that are misspelt, inflected, compound, or
// of a language without a stemmer. Grams that more than 1,000 units have, and more
// than an eighth of all, are left out: they say the least and have the longest
// lists.
//
// A unit's score is that of its parent, taken as one text among all parents,
// plus half its own among all units. So a short text is scored whole, and the
// parts of a long one are found in the right text first and then in the right
// place: parent score and best passage, which on long texts beats either alone.
//
// A word that opens the parent, in the title of its first unit or among the first 40
// words of its units' texts, adds 0.15 · qtf · idf to the parent's score, whatever tf
// and dl are: what a text is about is said where it begins.
//
// In a parent of 32 units and more, itself no guide to the place, a unit has also
// the terms of those beside it: 0.4, 0.2 and 0.1 of the tf of those one, two and
// three away. (In short parents that would blur what the best unit tells of the
// parent.)
//
// # Two passes
//
// Grams have by far the longest lists, and most say what the words say. So a search
// of many units takes two passes. The first scores words, openings, pairs, and the
// grams of rare words, which fewer than 8 units have: those may be misspelt, and
// their grams find what the words do not. The other grams count only in the texts of
// the units on a short list: the accepted ones with the best scores so far, 300 and
// as many as hits are asked for, at least. Hits are the best units of these texts.
//
// All features are looked up in all texts where the first pass finds fewer units, where
// there are less than 32 times as many units as on the short list, since that is
// faster, and where [index.LexicalQuery] says Only. Either way a unit that is found
// has the same score, and Max counts all features: in sums, words and pairs come first,
// then the grams of rare words, then the others, each in the order of the query.
//
// Groups of units are scored by their words alone, each as one text, among all
// groups, dl being the number of units times their average length.
//
// # Words in memory
//
// The words of stored segments are kept in memory, too, in lists that need not be read
// in full; see package blockmax. They are read in the background once a segment is seen,
// and until then, and for units that are not stored, postings are read. A search adds
// what pairs and grams score, finds with the lists which units may be among the best,
// and then scores their texts as it would without. So the answer is the same, bit for
// bit.
//
// # Patterns
//
// [Index.Words] looks up words by how they begin and by what is one edit away: in the
// dictionaries of stored segments with an automaton, and in the sorted words of those in
// memory with the same one. It counts live units alone, so the answer does not depend on
// how they are stored, as long as no segment has more than 8,192 words that match.
//
// # Spelling
//
// A search may read words that no unit has as words one edit away, see [index.Spelling].
// Here the edits are made and looked up, a few hundred for a word, as the misspelling
// was made before the stemmer: what is one edit from a word is often far from its stem.
// So no dictionary is walked, and it costs nothing where all words are known.
//
// # Stored layout
//
// The directory holds "scorch", a scorch index, and the empty file "damaged"
// once reading it has failed. Neither exists before the first flush. Beside
// scorch's own files lies "root.crc" while the index is closed, the CRC-32 (IEEE,
// big-endian) of root.bolt. A scorch document is a unit: its id is the unit's in 8
// bytes, big-endian; field "t" has the unit's terms, without frequencies: one that
// occurs n times is there n times, from the second on with its number as a last
// byte. Fields "n" and "p" have one term each, of the same name, whose frequency is
// dl + 1 and the parent's id + 1. Three internal values are written with every
// batch: "version", "origin" (see [Options]), and "cursor", which holds the cursor,
// the number of live units and the sum of their dl, 8 bytes each, big-endian.
package keyword

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// version names everything that decides what is in the stored index.
const version = "5/" + analysis.Version

// MaxFrequency is how often a word counts in one unit at most.
const MaxFrequency = 16

// Defaults of [Options].
const (
	DefaultFlushUnits = 1000
	DefaultLongText   = 32
)

// Options of an index. The zero value works.
type Options struct {
	// FlushUnits is how many changed units wait in memory before they are written
	// in the background; 1,000 by default. Apply waits for the writer when four
	// times as many are pending.
	FlushUnits int
	// LongText is how many units a parent has, or more, for each of them to be
	// scored with the terms of those beside it; 32 by default. See the package
	// comment.
	LongText int
	// Origin names the state of the store that the units come from; what it returns
	// at a flush is kept with them. Knows tells on open whether an origin belongs
	// to the store's past: units of another store, or of one that was set back to
	// an older copy, are thrown away. Without Origin it is "", and a nil Knows
	// knows all.
	Origin func() string
	Knows  func(origin string) bool
	Logger *slog.Logger // silent by default

	restful time.Duration // see rest
	passes  passes
	plain   bool // postings are read where they are stored, also those in memory
}

func (o Options) withDefaults() (Options, error) {
	o.FlushUnits = cmp.Or(o.FlushUnits, DefaultFlushUnits)
	o.LongText = cmp.Or(o.LongText, DefaultLongText)
	o.restful = cmp.Or(o.restful, restful)
	o.passes = o.passes.withDefaults()
	if o.Origin == nil {
		o.Origin = func() string { return "" }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case o.FlushUnits < 0:
		return o, fmt.Errorf("keyword: FlushUnits is %d; it must be positive, or 0 for %d", o.FlushUnits, DefaultFlushUnits)
	case o.LongText < 0:
		return o, fmt.Errorf("keyword: LongText is %d; it must be positive, or 0 for %d", o.LongText, DefaultLongText)
	}
	return o, nil
}

// Index is a lexical leg. Its methods follow [index.Lexical].
type Index struct {
	opts      Options
	dir       string // empty: memory only
	openStore func(dir string) (store, error)
	recovered string

	view    atomic.Pointer[view] // nil once closed
	cursor  atomic.Uint64
	scratch sync.Pool // of *scratch

	mu      sync.Mutex // guards what follows and the replacing of the view
	closed  bool
	applied uint64          // newest seq
	touched map[uint64]bool // ids changed since the last flush began; true if live
	frozen  int             // memory segments that a running flush is writing
	retryAt int             // after a failed flush: len(touched) that tries again
	resting *time.Timer     // fires when nothing was written for a while

	writer     chan struct{} // holds a token while a flush runs; guards store
	store      store         // nil until the first flush
	dropped    bool          // it failed and was closed; what uses it next opens it again
	merger     chan struct{} // holds a token while parts are merged on purpose
	background sync.WaitGroup
	flushing   atomic.Bool // a background flush is under way
	deriving   atomic.Bool // words of segments are being read into memory
	tidying    atomic.Bool // parts are merged in the background
	stop       context.CancelFunc
	life       context.Context //nolint:containedctx // ends background flushes with the index
}

var _ index.Lexical = (*Index)(nil)

// Open opens the index in dir, or an empty one that lives in memory when dir is
// "". One process may have a directory open at a time. The directory is made at
// the first flush. An index that cannot be read, or that another version wrote,
// is removed and an empty one opened in its place: [Index.Recovered] tells, and
// Cursor is 0.
func Open(dir string, opts Options) (*Index, error) {
	return open(dir, opts, openScorch)
}

func open(dir string, opts Options, openStore func(string) (store, error)) (*Index, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	ix := &Index{
		opts: opts, dir: dir, openStore: openStore,
		touched: make(map[uint64]bool),
		writer:  make(chan struct{}, 1),
		merger:  make(chan struct{}, 1),
	}
	ix.life, ix.stop = context.WithCancel(context.Background())
	v := newView(nil, nil)
	if dir != "" && storeExists(dir) {
		if v, err = ix.load(); err != nil {
			ix.stop()
			return nil, err
		}
	}
	ix.view.Store(v)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.rest()
	ix.derive()
	return ix, nil
}

// load opens what is stored, or starts afresh if that cannot be used.
func (ix *Index) load() (*view, error) {
	s, snap, err := readStore(ix.dir, ix.openStore, ix.opts.Knows)
	switch {
	case errors.Is(err, errLocked), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return nil, fmt.Errorf("keyword: open %s: %w", ix.dir, err) // says nothing of what is stored
	case err != nil:
		ix.recovered = err.Error()
		ix.opts.Logger.Warn("keyword index is rebuilt", slog.String("dir", ix.dir), slog.Any("reason", err))
		if err := discardStore(ix.dir); err != nil {
			return nil, fmt.Errorf("keyword: remove unusable index: %w", err)
		}
		return newView(nil, nil), nil
	}
	ix.store = s
	ix.cursor.Store(snap.meta.cursor)
	ix.applied = snap.meta.cursor
	defer snap.release()
	return newView(snap, snap.parts), nil
}

// Recovered says why the stored index was thrown away on open; "" if it was not.
func (ix *Index) Recovered() string { return ix.recovered }

// Cursor implements [index.Lexical].
func (ix *Index) Cursor() uint64 {
	if ix.view.Load() == nil {
		return 0
	}
	return ix.cursor.Load()
}

// Stats implements [index.Lexical].
func (ix *Index) Stats() index.LegStats {
	v := ix.acquire()
	if v == nil {
		return index.LegStats{}
	}
	defer v.release()
	st := index.LegStats{Units: v.live, Kind: "memory"}
	if ix.dir == "" {
		ix.mu.Lock()
		defer ix.mu.Unlock()
		for _, live := range ix.touched {
			if live {
				st.Pending++
			}
		}
		return st
	}
	st.Kind = "scorch"
	for _, p := range v.memory() {
		st.Pending += p.live
	}
	if v.snap != nil {
		st.Bytes = v.snap.bytes
	}
	for _, p := range v.stored() {
		if words, _ := p.inMemory(); words != nil {
			st.Words.Units += p.live
			st.Words.Bytes += words.Bytes()
		}
	}
	return st
}

// Close ends background work and releases files. What was not flushed is lost,
// as the cursor says. Searches that are under way finish.
func (ix *Index) Close() error {
	ix.mu.Lock()
	if ix.closed {
		ix.mu.Unlock()
		return index.ErrClosed
	}
	ix.closed = true
	if ix.resting != nil {
		ix.resting.Stop()
	}
	v := ix.view.Swap(nil)
	ix.mu.Unlock()
	ix.stop()
	ix.background.Wait()
	ix.writer <- struct{}{} // for good: a Flush under way ends, another finds it closed
	v.release()
	if ix.store == nil {
		return nil
	}
	if err := ix.store.close(); err != nil {
		return fmt.Errorf("keyword: close: %w", err)
	}
	return nil
}
