// Package keyword is the keyword index of a collection. It scores exact BM25 over the features of
// package analysis: words, pairs of words, and grams of four letters.
//
// New chunks live in small immutable segments in memory and are searchable at once. When enough are
// pending, and on Flush, they move into a scorch index (the storage engine of bleve), which keeps
// segments durably, decides when they merge and drops deleted chunks. The segment files are those
// of termfile.go. Scores are computed here, because bleve's own scores change when segments merge. Scores
// depend only on the live chunks: lengths, the number of chunks and document frequencies are exact
// at any time. The same chunks thus score the same, bit for bit, however they are stored.
//
// A search works on one immutable view, which a change replaces as a whole. Searches take no lock
// and never wait for a change.
//
// # Score
//
// The score of a text is a sum over the distinct features of the query, where qtf is the frequency
// in the query:
//
//	sum of w · qtf · idf · tf / (tf + k1·(1 - b + b·(dl+20)/(avgdl+20)))
//	idf = ln(1 + (N + 4 - df + ½)/(df + ½))
//
// The 4 texts added to N ([index.UnseenTexts]) matter in small collections only: there, every text can have the
// word that a question asks for. w is 1 for words and 0.2 for pairs and grams. These weights, k1, b, and the half below are the
// defaults of [index.KeywordParams]. If the query has several wordings, qtf is the weighted sum of
// the frequencies in each.
//
// For words, tf counts occurrences, those in the title twice, up to 16 in a chunk. For pairs and
// grams, tf is 1 in a chunk that has them. dl counts the words of title and text for all kinds of
// features, because their numbers grow together. Extra words add to tf but not to dl. The 20 added
// to the lengths lets one b serve chat turns of a dozen words as well as pages. Each quotient is
// below 1, so the sum of w · qtf · idf bounds every score.
//
// Pairs find phrases. Grams find words that are misspelt, inflected, compound, or in a language
// without a stemmer. Grams that occur in more than 1,000 chunks and in more than an eighth of all
// are ignored: they discriminate least and have the longest lists.
//
// A chunk's score is the score of its item, taken as one text among all items, plus half its
// own score among all chunks. A short text is thus scored whole, and a long one is found first by
// its text and then by its best place. On long texts this beats either score alone.
//
// The opening of an item is the title of its first chunk and the first 40 words of its chunks'
// texts. A word in the opening adds 0.15 · qtf · idf to the item's score, whatever tf and dl
// are, because texts name their subject at the beginning.
//
// In an item of 32 chunks or more, a chunk also has the terms of its neighbours: 0.4, 0.2 and 0.1
// of the tf at a distance of one, two and three. In short items that would only blur the best
// chunk.
//
// # Two passes
//
// Grams have by far the longest lists, and most repeat the evidence of the words. So a search of
// many chunks takes two passes. The first scores words, openings, pairs, and the grams of rare
// words, which occur in fewer than 8 chunks. Rare words may be misspelt, and their grams find texts
// that the words miss. The second pass scores the other grams, but only in the texts of the short
// list: the best accepted chunks so far, at least 300 and at least the number of requested hits.
// Hits are the best chunks of these texts.
//
// There is only one pass, over all texts, in three cases: the first pass finds fewer chunks than
// the short list takes; the index has less than 32 times as many chunks as the short list, because
// that is faster; or [index.KeywordQuery] sets Only. Either way a chunk that is found has the same
// score, and Max counts all features. Sums add words and pairs first, then the grams of rare words,
// then the other grams, each in the order of the query.
//
// Groups of chunks are scored by words only, each as one text among all groups. Their dl is the
// number of chunks times the average length.
//
// # Words in memory
//
// The words of stored segments are also kept in memory, in lists that need not be read in full; see
// package blockmax. They are loaded in the background once a segment is visible. Until then, and
// for chunks that are not stored, postings are read. A search adds the scores of pairs and grams,
// finds in the lists which chunks may be among the best, and then scores their texts as it would
// without the lists. So the result is the same, bit for bit.
//
// # Patterns
//
// [Index.Words] finds words by prefix and by one edit. It runs an automaton over the dictionaries
// of stored segments and the same automaton over the sorted words of memory segments. It counts
// live chunks only, so the result does not depend on how they are stored, unless more than 8,192
// words of a segment match.
//
// # Spelling
//
// A search may correct words that occur in no chunk to words one edit away, see [index.Spelling].
// It generates the edits, a few hundred for a word, and looks them up, because misspelling happens
// before stemming: a word one edit away often has a very different stem. So no dictionary is
// scanned, and a query of known words costs nothing extra.
//
// # Stored layout
//
// The directory holds "scorch", a scorch index, and the empty file "damaged" once reading it has
// failed. Neither exists before the first flush. While the index is closed, scorch's directory also
// holds "root.crc", the CRC-32 (IEEE, big-endian) of root.bolt.
//
// A scorch document is a chunk. Its id is the chunk's id in 8 bytes, big-endian. The files of segments
// end in ".zap", which scorch decides; termfile.go describes them. Three internal values are written with every batch:
// "version", "origin" (see [Options]), and "cursor", which holds the cursor, the number of live
// chunks and the sum of their dl, 8 bytes each, big-endian.
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

// version identifies the stored format and every rule that the stored data depends on.
const version = "6/" + analysis.Version

// MaxFrequency is the maximum frequency of a word in one chunk.
const MaxFrequency = 16

// DefaultFlushChunks is the default of [Options].
const DefaultFlushChunks = 1000

// Options configures an index. The zero value is valid.
type Options struct {
	// FlushChunks is the number of changed chunks that start a background write; 1,000 by default.
	// Apply waits for the writer when four times as many are pending.
	FlushChunks int
	// LongText is the number of chunks from which an item is long: its chunks are then scored with the
	// terms of their neighbours. The default is [index.LongText]. See the package comment.
	LongText int
	// Origin returns an id of the current state of the store that the chunks come from. The id is
	// saved at each flush. On open, Knows reports whether an id belongs to the store's history; if
	// not, the index is discarded. That covers chunks of another store and of a store restored from
	// an older copy. Without Origin the id is "", and a nil Knows accepts every id.
	Origin func() string
	Knows  func(origin string) bool
	Logger *slog.Logger // discards by default

	tidyDelay time.Duration // see scheduleTidy
	passes    passOptions
	plain     bool // always read postings from the store, even if they are in memory
}

func (o Options) withDefaults() (Options, error) {
	o.FlushChunks = cmp.Or(o.FlushChunks, DefaultFlushChunks)
	o.LongText = cmp.Or(o.LongText, index.LongText)
	o.tidyDelay = cmp.Or(o.tidyDelay, tidyDelay)
	o.passes = o.passes.withDefaults()
	if o.Origin == nil {
		o.Origin = func() string { return "" }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case o.FlushChunks < 0:
		return o, fmt.Errorf("keyword: FlushChunks is %d; it must be positive, or 0 for %d", o.FlushChunks, DefaultFlushChunks)
	case o.LongText < 0:
		return o, fmt.Errorf("keyword: LongText is %d; it must be positive, or 0 for %d", o.LongText, index.LongText)
	}
	return o, nil
}

// Index is a keyword index. Its methods follow [index.KeywordIndex].
type Index struct {
	opts      Options
	dir       string // empty: memory only
	openStore func(dir string) (store, error)
	recovered string

	view    atomic.Pointer[view] // nil once closed
	cursor  atomic.Uint64
	scratch sync.Pool // of *scratch

	mu        sync.Mutex // guards the fields below and replacing the view
	closed    bool
	applied   uint64          // newest seq
	touched   map[uint64]bool // ids changed since the last flush began; true if live
	frozen    int             // number of memory segments that a running flush is writing
	retryAt   int             // after a failed flush: the len(touched) at which to retry
	tidyTimer *time.Timer     // fires after a while without a write

	writer       chan struct{} // holds a token while a flush runs; guards store
	store        store         // nil until the first flush
	dropped      bool          // closed after a failure; the next use reopens it
	merger       chan struct{} // holds a token during an explicit merge
	background   sync.WaitGroup
	flushing     atomic.Bool // a background flush is running
	loadingWords atomic.Bool // words of segments are being loaded into memory
	tidying      atomic.Bool // small parts are being merged in the background
	stop         context.CancelFunc
	life         context.Context //nolint:containedctx // ends background flushes with the index
}

var _ index.KeywordIndex = (*Index)(nil)

// Open opens the index in dir, or an empty in-memory index if dir is "". Only one process may have
// a directory open at a time. The directory is created at the first flush. An index that cannot be
// read, or that another version wrote, is removed and replaced by an empty one: [Index.Recovered]
// returns the reason, and Cursor is 0.
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
	ix.scheduleTidy()
	ix.loadWords()
	return ix, nil
}

// load opens the stored index, or returns an empty view if it is unusable.
func (ix *Index) load() (*view, error) {
	s, snap, err := readStore(ix.dir, ix.openStore, ix.opts.Knows)
	switch {
	case errors.Is(err, errLocked), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return nil, fmt.Errorf("keyword: open %s: %w", ix.dir, err) // does not mean that the stored index is bad
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

// Recovered returns the reason why Open discarded the stored index, or "".
func (ix *Index) Recovered() string { return ix.recovered }

// Cursor implements [index.KeywordIndex].
func (ix *Index) Cursor() uint64 {
	if ix.view.Load() == nil {
		return 0
	}
	return ix.cursor.Load()
}

// Stats implements [index.KeywordIndex].
func (ix *Index) Stats() index.PartStats {
	v := ix.acquire()
	if v == nil {
		return index.PartStats{}
	}
	defer v.release()
	st := index.PartStats{Chunks: v.live, Kind: "memory"}
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
			st.Words.Chunks += p.live
			st.Words.Bytes += words.Bytes()
		}
	}
	return st
}

// Close ends background work and releases files. Changes that were not flushed are lost; the cursor
// does not cover them. Running searches finish.
func (ix *Index) Close() error {
	ix.mu.Lock()
	if ix.closed {
		ix.mu.Unlock()
		return index.ErrClosed
	}
	ix.closed = true
	if ix.tidyTimer != nil {
		ix.tidyTimer.Stop()
	}
	v := ix.view.Swap(nil)
	ix.mu.Unlock()
	ix.stop()
	ix.background.Wait()
	ix.writer <- struct{}{} // never released: a running Flush ends, a later one finds the index closed
	v.release()
	if ix.store == nil {
		return nil
	}
	if err := ix.store.close(); err != nil {
		return fmt.Errorf("keyword: close: %w", err)
	}
	return nil
}
