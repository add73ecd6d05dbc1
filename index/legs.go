package index

import (
	"context"
	"errors"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

// ErrClosed is returned by a leg or index that has been closed.
var ErrClosed = errors.New("index: closed")

// Scored is one hit of a leg.
type Scored struct {
	ID    uint64
	Score float64
}

// Accept decides whether a unit may be a hit. A leg asks it during the search,
// so that filtering never costs results; nil accepts everything. It is called
// concurrently, at least once per returned hit.
type Accept func(id uint64) bool

// Only lists the ids of all units that may be hits, ascending; nil leaves that to
// [Accept], which is asked in any case. Of a parent it has all units or none, and
// [Groups] have no others. It changes the time that a search takes, and where a leg
// approximates, what it finds: it looks at these units alone, at all of them, and
// scores them as it does among all.
type Only []uint64

// TextUnit is what a lexical leg indexes of a unit.
type TextUnit struct {
	ID uint64
	// Parent is the text that the unit is part of, below 1<<62. The units of a
	// parent come in one batch, and are replaced and deleted together.
	Parent uint64
	// Title holds the title and heading path; Text the unit itself. Both are
	// searched; a match in Title counts more.
	Title, Text string
	// Extra holds words that the unit can be found by but that do not count into
	// its length, such as its date written as text.
	Extra string
}

// Lexical is the keyword leg of one collection. It is a cache of the store: it
// may be thrown away at any time and filled again.
//
// Apply takes upserts and deletes by id, in that order, and makes them
// searchable before it returns; applying the same batch again changes nothing.
// seq is the store's sequence number of the newest change in the batch and
// never decreases. Cursor is the largest seq whose changes, and all before it,
// would survive a crash of the machine; after a reopen the caller applies
// everything after Cursor again. Flush moves Cursor to the last applied seq.
//
// Scores depend only on the live units, not on the order in which they came or
// on how they are stored.
//
// Holding returns the units that have all of some terms, which are features as
// package analysis makes them of a unit's title, text and extra words, ascending; all
// units if there are no terms.
//
// Words returns words of live units that match a pattern: at most n, those that most of
// the units have first, and of those the first by their bytes. The text of a pattern of
// kind Near is none of them, nor are stop words. Of a prefix that very many words have
// a leg may look at some only.
//
// Search, Holding, Words and Stats may run beside Apply and Flush and see either the state
// before or after it. The caller calls Apply and Flush from one goroutine at a
// time. After Close every method returns [ErrClosed], or a zero value.
type Lexical interface {
	Apply(ctx context.Context, seq uint64, upserts []TextUnit, deletes []uint64) error
	Search(ctx context.Context, q LexicalQuery) (LexicalResult, error)
	Holding(ctx context.Context, terms []string) ([]uint64, error)
	Words(ctx context.Context, p analysis.Pattern, n int) ([]string, error)
	Cursor() uint64
	Flush(ctx context.Context) error
	// Compact rewrites what is stored so that nothing of deleted units is left in
	// any file. It may run beside Apply, which it does not hold up for long.
	Compact(ctx context.Context) error
	Stats() LegStats
	Close() error
}

// LexicalQuery asks a lexical leg for the K best units, best first, ties by
// ascending id.
//
// The features of Text and of More are searched as one list, each with the sum of
// what it counts in them; see [Wording]. Stop words are left out unless nothing
// else is left in all of them together.
//
// Among many units a leg may look only at those that its rarer features find, if it
// scores them as it would anyway; see package keyword.
type LexicalQuery struct {
	Text   string
	More   []Wording
	K      int
	Accept Accept
	Only   Only
	// Params out of range make the search fail; see [LexicalParams.Validate].
	Params LexicalParams
	// Groups asks for the scores of groups of units as well; nil does not.
	Groups *Groups
	// Spelling has words of Text that may be misspelt read as others; nil does not.
	Spelling *Spelling
}

// Spelling has words that no text has read as words that texts have. A leg takes each
// word of a query that may be misspelt, see [analysis.SpelledWords], and that no unit
// has, for the one edit away that most units have, and searches for both. Of a query
// with more than 8 words that no unit has, none is read otherwise.
type Spelling struct {
	// Within says whose words count; nil is those of all units. It is asked as an [Accept],
	// and accepts all units of a parent or none.
	Within Accept
	// Only lists what Within accepts, where that is little; else it is nil.
	Only Only
}

// Correction is a word of a query that was read as another.
type Correction struct {
	Word string // as the query has it
	As   string // the other one, folded as terms are, and
	Term string // what the index knows it as
	// Count is how often the query has the word.
	Count int
}

// Groups puts units together, such as the turns of a session. A unit belongs to
// one group at most, whether or not it is accepted as a hit.
type Groups struct {
	// Of returns the number of the group that a unit is in, from 0, and -1 for
	// none. It is called during the search, from its goroutine.
	Of func(unit uint64) int32
	// Sizes has the number of units of each group.
	Sizes []int32
}

// LexicalResult is a lexical leg's answer. Max is an upper bound of the
// score that any text could reach for the query, so Score/Max is within 0..1
// and comparable between collections; 0 when the query has no terms.
//
// Groups has the score of each group that the query asked about, by number, as
// that of one text made of its units among all groups: words alone, each by its
// weight in the query, and lengths taken as so many average units. It is not comparable to the scores of hits.
type LexicalResult struct {
	Hits   []Scored
	Max    float64
	Groups []float64
	// Corrections are the words that were read otherwise, in the order of the query.
	Corrections []Correction
}

// VectorUnit is what a dense leg indexes of a unit.
type VectorUnit struct {
	ID     uint64
	Vector []float32
}

// Dense is the vector leg of one collection, with the same rules for Apply,
// Cursor, Flush and concurrency as [Lexical]. The similarity is the cosine.
//
// Apply refuses a batch that holds a vector of another dimension or a NaN or
// infinite component, whole. A zero vector is not stored: it has no direction,
// so it matches nothing. Vectors are copied.
type Dense interface {
	Apply(ctx context.Context, seq uint64, upserts []VectorUnit, deletes []uint64) error
	// Search returns the K units nearest to the query vector, best first, ties
	// by ascending id; none for a zero query.
	Search(ctx context.Context, q DenseQuery) ([]Scored, error)
	// Similarity returns the cosine between v and the unit's vector, and false if
	// the leg has no vector for it.
	Similarity(v []float32, id uint64) (float64, bool)
	Cursor() uint64
	Flush(ctx context.Context) error
	// Compact rewrites what is stored so that nothing of deleted units is left in
	// any file. It may run beside Apply, which it does not hold up for long.
	Compact(ctx context.Context) error
	Stats() LegStats
	Close() error
}

// DenseQuery asks a dense leg for the K nearest units.
type DenseQuery struct {
	Vector []float32
	K      int
	Accept Accept
	Only   Only
	// Exact asks for an exhaustive search where the leg would approximate.
	Exact bool
}

// GraphStats describes a graph that a dense leg searches.
type GraphStats struct {
	// Linked counts the vectors that have their place in the graph; Waiting those
	// that are found by a scan until they have; Deleted those that are gone and
	// take up room until the graph is tidied.
	Linked, Waiting, Deleted int
	// Bytes is the memory that the graph takes.
	Bytes int64
	// Answers says that searches use it: that it has every vector of the leg.
	Answers bool
}

// WordStats describes the words that a lexical leg keeps in memory, so that searches
// need not read them where they are stored.
type WordStats struct {
	// Units counts the live units whose words are in memory. Those of others are
	// searched as well, only not as fast.
	Units int
	// Bytes is the memory that they take.
	Bytes int64
}

// LegStats describes a leg.
type LegStats struct {
	// Units is the number of live units; Pending counts those among them that
	// are not durable yet.
	Units, Pending int
	// Bytes is the size on disk.
	Bytes int64
	// Kind names the implementation, such as "native".
	Kind string
	// Graph describes the graph of a dense leg; it is zero while there is none.
	Graph GraphStats
	// Words describes what a lexical leg has in memory; zero while there is nothing.
	Words WordStats
	// State and At are filled in by the [Hybrid]: how the leg is doing, and up to
	// which change it has everything.
	State State
	At    uint64
}
