// Package index finds the chunks of one collection (parts of documents, memories) that answer a
// query.
//
// An [Engine] finds candidates by words and by vectors, and an [Index] ranks them: it fuses both
// scores to one relevance (see [Fusion]).
//
// A [Hybrid] is the engine in this process. It joins a [KeywordIndex] and a [VectorIndex] with a
// catalog of the items that chunks belong to. The catalog decides, inside the search of both indexes,
// which chunks a query may see at which time, so filters never cost results.
//
// An index is a cache of the store. Every chunk carries the sequence number of the write that
// created it. Each index records the number up to which it is durable, and is fed the rest when it
// is reopened.
package index

import (
	"context"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Item is what chunks belong to: one version of a document, or one memory. The catalog keeps a
// reference; the caller must not change it afterwards.
type Item struct {
	ID     uint64 // unique in the data directory, never reused
	User   string
	Agent  string
	Source string

	Session  string
	Tags     []string
	Metadata map[string]string

	// Occurred is when it happened; Recorded when it was stored; Superseded when it was replaced or
	// deleted (zero while it is current); Expires when it expires (zero for never).
	Occurred, Recorded, Superseded, Expires time.Time
	// Ended is the sequence number of the change that superseded it, 0 while it is current.
	Ended uint64
}

// DerivedSource is the Source of facts extracted from messages. Such an item is not a message and
// is in no conversation: it has no neighbors, and the time windows of queries do not apply to it.
const DerivedSource = "memory:fact"

// Chunk is one chunk together with its item.
type Chunk struct {
	ID      uint64 // unique, never reused, mostly ascending in the order of writing
	Seq     uint64 // the write that created it
	Ordinal int    // position within the item
	Item    *Item
	Speaker Speaker
	// Title holds the title and heading path; Text the chunk's own text. Both may be left empty for
	// chunks that the keyword index already holds durably.
	Title, Text string
	// Vector is nil if the embedder abstained, and may be nil for chunks that the vector index
	// already holds durably.
	Vector []float32
}

// Speaker identifies the speaker of a chunk of a conversation. The zero value means no speaker, as
// in documents.
type Speaker struct {
	Role ragctx.Role
	Name string // "" if only the role is known
	// Timed reports that the chunk mentions a time: a date, a weekday, "yesterday".
	Timed bool
}

// End marks an item as superseded at a time.
type End struct {
	Item uint64
	At   time.Time
	Seq  uint64
}

// Batch is a run of changes in the order of their sequence numbers.
type Batch struct {
	// Seq is the number of the newest change in the batch.
	Seq uint64
	// Revised holds chunks of earlier batches that now have a vector; only a vector index reads it.
	// Add holds the new chunks, Ended the superseded or deleted items, Removed the items to
	// erase.
	Revised []Chunk
	Add     []Chunk
	Ended   []End
	Removed []Removal
	// Vectors fills in the vectors of some chunks of Revised and Add. It is set where the vectors
	// are left out because there are very many; nil means they are present.
	Vectors func(ctx context.Context, some []Chunk) error
}

// Removal is the erasure of an item and its chunks: no data of them may remain.
type Removal struct {
	Item   uint64
	Chunks []uint64
}

// removedChunks returns the ids of all removed chunks.
func (b *Batch) removedChunks() (chunks []uint64) {
	for _, r := range b.Removed {
		chunks = append(chunks, r.Chunks...)
	}
	return chunks
}

// Query asks for the K best chunks.
type Query struct {
	// Text is searched in the keyword index, Vector in the vector index. An empty one skips its
	// index.
	Text   string
	Vector []float32
	// Sentences are those of Text that ask, if it has others as well. They are also searched by themselves.
	Sentences []Sentence
	// Phrases must occur in every hit, as far as the keyword index can decide: its chunks have the
	// words of each phrase one after the other. The caller verifies the texts of the hits. Phrases
	// are ignored while the keyword index is incomplete.
	Phrases []analysis.Phrase
	// Patterns stand for words of the collection, which are searched for as well.
	Patterns []analysis.Pattern
	// Spelling corrects words that occur in no text in Scope to words that do; see [Spelling].
	Spelling bool
	// More is searched in the keyword index together with Text, or alone if Text is "". Keyword has
	// the parameters of the keyword score.
	More    []Wording
	Keyword KeywordParams
	// Space names the embedding space of Vector; see [Spaces]. The vector index is skipped if
	// it holds vectors of another space.
	Space  string
	K      int
	Scope  Scope
	Filter ragctx.Filter
	// Session is the session that asks, from which Time counts sessions; "" if unknown.
	Session string
	// AsOf asks for the items that were current at that time; zero asks for the items that are
	// current now. Now determines which items have expired.
	AsOf, Now time.Time
	Exact     bool
	Fusion    Fusion
	// Conversation and Time add scores beyond words and vectors; nil adds none.
	Conversation *ConversationWeights
	Time         *Time
	// Explain asks for [Signals].Parts.
	Explain bool
}

// Hit is one chunk found by a search.
type Hit struct {
	ID      uint64
	Item    uint64
	Ordinal int
	// Score orders the hits of a search, 0 to 1: the fused scores of both indexes.
	Score float64
	// Relevance is the probability that the hit answers the query, 0 to 1. It has the same order as
	// Score, and is comparable between searches and collections. Without a keyword score it equals
	// Score.
	Relevance float64
	Signals   Signals
}

// Signals are the scores from which a hit's score is computed.
type Signals struct {
	// Keyword is the keyword score over its upper bound, 0 to 1.
	Keyword float64
	// Vector is the cosine similarity, -1 to 1.
	Vector float64
	// Parts breaks down a score that has more parts than words and vectors. It is nil unless the
	// query asked for it. It is shared and must not be changed.
	Parts *Parts
}

// Result is the result of a [Query]: hits by score, best first, ties by ascending id.
type Result struct {
	Hits []Hit
	// Further are the other candidates that were ranked, in their order. There may be better ones that were not.
	Further []Hit
	// State is the newest change applied when the search began. An item superseded by a later
	// change can still be a hit, as its replacement may not be one yet: a replaced text is always
	// found in one version or the other.
	State uint64
	// Degraded names the indexes that failed, did not run, or are incomplete: "keyword", "vector".
	Degraded []string
	// Window is the time that the query's Time refers to among the items it may see; nil without
	// such a time.
	Window *timeexpr.Window
	// Corrections are the words of Text that were corrected. Terms are the terms searched for in
	// addition to the words of Text and More: expansions of patterns, and corrections.
	Corrections []Correction
	Terms       []string
}
