package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// ErrClosed is returned by an index that has been closed.
var ErrClosed = errors.New("index: closed")

// ErrBehind comes with the hits of an index that another process feeds, while it lacks changes that were applied. Holding returns no
// chunks with it.
var ErrBehind = errors.New("index: the process that writes has not fed it the newest changes yet")

// ErrAway is the error of an index in a server that no request reaches, or that rejects all. It matches [ragctx.ErrUnavailable]. Other
// errors of such an index concern one collection.
var ErrAway = fmt.Errorf("%w: the server of the indexes is away", ragctx.ErrUnavailable)

// Scored is one hit of a keyword or vector index.
type Scored struct {
	ID    uint64
	Score float64
}

// Accept decides whether a chunk may be a hit. An index calls it during the search, so filtering
// never costs results; nil accepts everything. It is called concurrently, at least once per
// returned hit.
type Accept func(id uint64) bool

// Only lists the ids of all chunks that may be hits, ascending; nil means no list. [Accept] is
// called in any case. Only has all chunks of an item or none, and [Groups] have no others. It
// affects the time of a search and, in an approximate index, the hits: the index examines exactly
// these chunks, and scores them as it does among all.
type Only []uint64

// TextChunk is the data of a chunk that a keyword index indexes.
type TextChunk struct {
	ID uint64
	// Item is the id of the text that the chunk is part of, below 1<<62. The chunks of an item come
	// in one batch, and are replaced and deleted together.
	Item uint64
	// Title holds the title and heading path; Text the chunk itself. Both are searched; a match in
	// Title counts more.
	Title, Text string
	// Extra holds words by which the chunk can be found but that do not count into its length, such
	// as its date written as text.
	Extra string
}

// KeywordIndex is the keyword index of one collection. It is a cache of the store: it may be
// discarded at any time and filled again.
//
// Apply applies upserts and then deletes by id, and makes them searchable before it returns.
// Applying the same batch again changes nothing. seq is the store's sequence number of the newest
// change in the batch and never decreases. Cursor is the largest seq such that its changes and all before
// it, would survive a crash of the machine. After a reopen the caller applies everything after
// Cursor again. Flush moves Cursor to the last applied seq.
//
// Scores depend only on the live chunks, not on the order in which they came or on how they are
// stored.
//
// Holding returns the ids of the chunks that have all the given terms, ascending; all chunks if
// there are no terms. Terms are features as package analysis derives them from a chunk's title,
// text and extra words.
//
// Words returns at most n words of live chunks that match a pattern, by descending number of
// chunks, ties by bytes. It omits the text of a pattern of kind Near, and stop words. For a prefix
// of very many words an index may examine only some.
//
// Search, Holding, Words and Stats may run concurrently with Apply and Flush and see either the
// state before or after. The caller calls Apply and Flush from one goroutine at a time. After Close
// every method returns [ErrClosed], or a zero value.
type KeywordIndex interface {
	Apply(ctx context.Context, seq uint64, upserts []TextChunk, deletes []uint64) error
	Search(ctx context.Context, q KeywordQuery) (KeywordResult, error)
	Holding(ctx context.Context, terms []string) ([]uint64, error)
	Words(ctx context.Context, p analysis.Pattern, n int) ([]string, error)
	Cursor() uint64
	Flush(ctx context.Context) error
	// Compact rewrites the files so that they have no data of deleted chunks. It may run
	// concurrently with Apply, and blocks it only briefly.
	Compact(ctx context.Context) error
	Stats() PartStats
	Close() error
}

// KeywordQuery asks a keyword index for the K best chunks, best first, ties by ascending id.
//
// The features of Text and of More are searched as one list, each with the sum of its weights; see
// [Wording]. Stop words are left out unless all of the features are stop words.
//
// An index of many chunks may examine only those that contain the rarer features, provided that the
// scores stay the same; see package keyword.
type KeywordQuery struct {
	Text   string
	More   []Wording
	K      int
	Accept Accept
	Only   Only
	// Params out of range make the search fail; see [KeywordParams.Validate].
	Params KeywordParams
	// Groups requests the scores of groups of chunks as well; nil does not.
	Groups *Groups
	// Spelling requests corrections of words of Text; nil does not.
	Spelling *Spelling
}

// Spelling corrects words of a query that occur in no text. An index replaces each word that may be
// misspelt (see [analysis.SpelledWords]) and that no chunk has by the word at edit distance one
// that most chunks have, and searches for both. It corrects nothing in a query with more than 8
// words that no chunk has.
type Spelling struct {
	// Within selects the chunks that provide words; nil selects all. It is called like an [Accept], and
	// accepts all chunks of an item or none.
	Within Accept
	// Only lists the chunks that Within accepts if they are few; else it is nil.
	Only Only
}

// Correction is a corrected word of a query.
type Correction struct {
	Word string // as written in the query
	As   string // the correction, folded like terms
	Term string // the term of the correction in the index
	// Count is how often the query has the word.
	Count int
}

// Groups partitions chunks, such as by session. A chunk belongs to at most one group, whether or
// not it is accepted as a hit.
type Groups struct {
	// Of returns the number of the chunk's group, from 0, or -1. It is called during the search,
	// from its goroutine.
	Of func(id uint64) int32
	// Sizes has the number of chunks of each group.
	Sizes []int32
}

// KeywordResult is the result of a keyword index. Max is an upper bound of the score that any text
// could reach for the query, so Score/Max is within 0..1 and comparable between collections. It is
// 0 when the query has no terms.
//
// Groups has the score of each requested group, by number. A group is scored as one text made of
// its chunks among all groups: by words alone, each with its weight in the query, and with its
// length as that many average chunks. It is not comparable to the scores of hits.
type KeywordResult struct {
	Hits   []Scored
	Max    float64
	Groups []float64
	// Corrections are the corrected words, in the order of the query.
	Corrections []Correction
}

// VectorChunk is the data of a chunk that a vector index indexes.
type VectorChunk struct {
	ID     uint64
	Vector []float32
}

// VectorIndex is the vector index of one collection, with the same rules for Apply, Cursor, Flush
// and concurrency as [KeywordIndex]. The similarity is the cosine.
//
// Apply rejects a whole batch that holds a vector of another dimension or a NaN or infinite
// component. A zero vector is not stored: it has no direction, so it matches nothing. Vectors are
// copied.
type VectorIndex interface {
	Apply(ctx context.Context, seq uint64, upserts []VectorChunk, deletes []uint64) error
	// Search returns the K chunks nearest to the query vector, best first, ties by ascending id; no
	// chunks for a zero query.
	Search(ctx context.Context, q VectorQuery) ([]Scored, error)
	// Similarity compares with v. The result returns the cosine between v and a chunk's vector, or false if the index has no
	// vector for the chunk. It may be called concurrently, and must not be kept.
	Similarity(v []float32) func(id uint64) (float64, bool)
	Cursor() uint64
	Flush(ctx context.Context) error
	// Compact rewrites the files so that they have no data of deleted chunks. It may run
	// concurrently with Apply, and blocks it only briefly.
	Compact(ctx context.Context) error
	Stats() PartStats
	Close() error
}

// VectorQuery asks a vector index for the K nearest chunks.
type VectorQuery struct {
	Vector []float32
	K      int
	Accept Accept
	Only   Only
	// Exact requests an exhaustive search from an approximate index.
	Exact bool
}

// GraphStats describes the graph of a vector index.
type GraphStats struct {
	// Linked counts the vectors linked into the graph; Waiting those that are found by a scan until
	// they are linked; Deleted the deleted ones that take up memory until the graph is tidied.
	Linked, Waiting, Deleted int
	// Bytes is the memory of the graph.
	Bytes int64
	// Answers reports that searches use the graph: it has every vector of the index.
	Answers bool
}

// WordStats describes the words that a keyword index keeps in memory, so that searches need not
// read them from files.
type WordStats struct {
	// Chunks counts the live chunks with words in memory. Others are searched, too, but more
	// slowly.
	Chunks int
	// Bytes is the memory of the words.
	Bytes int64
}

// PartStats describes a keyword or vector index.
type PartStats struct {
	// Chunks is the number of live chunks; Pending counts those that are not durable yet.
	Chunks, Pending int
	// Interim counts the chunks with an interim vector.
	Interim int
	// Bytes is the size on disk.
	Bytes int64
	// Kind names the implementation, such as "native".
	Kind string
	// Graph describes the graph of a vector index; zero while it has no graph.
	Graph GraphStats
	// Words describes the words that a keyword index has in memory; zero if it has none in memory.
	Words WordStats
	// State and At are set by an [Engine]: the state of the index, and the change up to which it is
	// complete.
	State State
	At    uint64
}
