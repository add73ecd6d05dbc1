package index

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Engine holds the chunks of one collection and finds them. It may be in another process: arguments
// and results are plain data, a search takes a bounded number of calls, and no call lists all ids. It
// knows nothing of rankings; an [Index] ranks what any engine finds.
//
// An engine is a cache of the store and is told of its changes in order. Applying the same changes
// again has no effect, so a call that failed can be repeated. Searches run concurrently with changes
// and see the state before or after each batch. An error of a call matches [ragctx.ErrUnavailable] if
// a later attempt may succeed, and names the part that failed. Calls after Close return [ErrClosed].
type Engine interface {
	Finder
	Follower
	Spaces
	Auditor
}

// Finder finds chunks. All methods may run concurrently.
type Finder interface {
	// Retrieve returns the chunks with the best keyword scores and those with the best cosines, with
	// both scores of each. It fails only if it has neither scores, or r is out of range.
	Retrieve(ctx context.Context, r Retrieval) (Found, error)
	// Describe returns the visible ones of the given chunks as candidates without scores, each with
	// its message.
	Describe(ctx context.Context, w Where, chunks []uint64) ([]Candidate, error)
	// During returns the first k visible chunks within a time, in the order of time. Total counts
	// all of them.
	During(ctx context.Context, w Where, window timeexpr.Window, k int) (found Found, total int, err error)
	// Timeline returns the sessions and days of the visible items. Days are those of the time zone of
	// w.Now.
	Timeline(ctx context.Context, w Where) (timeexpr.Timeline, error)
	// Neighbors returns the visible items around chunks, at most n on either side. Chunks without a
	// session have no neighbors.
	Neighbors(ctx context.Context, w Where, chunks []uint64, n int) ([]Neighbors, error)
}

// Follower keeps a collection equal to the store.
type Follower interface {
	// CatchUp makes all changes up to seq searchable before it returns. An engine of a deferred [Opening] only has them
	// hidden that were removed; until the others are searchable, searches are degraded.
	CatchUp(ctx context.Context, seq uint64) error
	// Version identifies the contents that a search can find. It is called for every query.
	Version(ctx context.Context) (Version, error)
	Health(ctx context.Context) (Health, error)
	// Compact erases the data of removed chunks from all files. It returns [ragctx.ErrUnavailable]
	// while some may remain.
	Compact(ctx context.Context) error
	Close() error
}

// Spaces changes the embedding space of an engine. Its state lives with the client that has the
// collection open.
type Spaces interface {
	// Space names the embedding space that the vectors of queries must be in.
	Space() string
	// Prepare begins to fill a vector index for another embedding space while the current one stays
	// in use. Prepared returns whether that is complete.
	Prepare(ctx context.Context, to Space) error
	Prepared(ctx context.Context) (bool, error)
	// Switch replaces the vector index by the prepared one. A query with a vector of the old space
	// loses its vector score; the caller repeats it.
	Switch(ctx context.Context) error
	// Abandon cancels Prepare.
	Abandon(ctx context.Context) error
}

// Auditor checks an index.
type Auditor interface {
	// Audit compares everything. It waits for parts that are being filled.
	Audit(ctx context.Context, o AuditOptions) (Audit, error)
	// Recall measures the recall of an approximate vector index, 0 to 1, on a sample of its own
	// vectors. It returns false for an exact one.
	Recall(ctx context.Context) (recall float64, approximate bool, err error)
}

// Space is an embedding space. Its vectors are compared by their cosine, which is the only metric.
type Space struct {
	Name string
	// Dimensions and Identity are of the embedder.
	Dimensions int
	Identity   string
	// Interim is the space of the chunks that have no vector of this one; nil is none.
	Interim *Interim
}

// Interim is a second embedding space, for chunks that have no vector of the first one yet, or never get
// one. A query's vector is the first space's, followed by the interim one. A cosine c of an interim vector counts
// as Scale·c + Offset.
type Interim struct {
	Dimensions    int // others than the first space's
	Identity      string
	Scale, Offset float64
}

// Scope selects the items that a query may see by their owner.
type Scope struct {
	// User sees their own items and those that belong to no user; "" sees only the latter. AnyUser
	// disables that isolation.
	User    string
	AnyUser bool
	// Agent and Session restrict the scope to the items of an agent or a session; "" is any.
	Agent, Session string
}

// Where selects the chunks that a query may see: those of its scope that match its filter and are
// current.
type Where struct {
	Scope  Scope
	Filter ragctx.Filter
	// AsOf asks for the items that were current at that time; zero asks for the items that are
	// current now. Now determines which items have expired.
	AsOf, Now time.Time
	// State is the newest change that may hide an item it replaced; 0 is the newest of the engine.
	State uint64
}

// Retrieval asks an engine for candidates.
type Retrieval struct {
	Where

	// Text and More are searched by their words; see [KeywordQuery]. Without them there are no
	// keyword scores. Params are the parameters of the score.
	Text   string
	More   []Wording
	Params KeywordParams
	// Must lists terms that every candidate has. An engine without complete words ignores it.
	Must []string
	// Patterns stand for words of the collection, which are searched for as well. Spelling corrects
	// words of Text that occur in no text in Scope; see [Spelling].
	Patterns []analysis.Pattern
	Spelling bool
	// Vector is compared with the vectors of Space, exhaustively if Exact is set. Without it there
	// are no cosines. An engine with vectors of another space ignores it.
	Vector []float32
	Space  string
	Exact  bool
	// Around asks for [Candidate].Around.
	Around bool
	// WordDepth is the number of candidates by words, VectorDepth by vectors.
	WordDepth, VectorDepth int
	// Messages asks for [Candidate].Message, Sessions for the scores of sessions.
	Messages, Sessions bool
	// Window asks for the visible chunks within a time as well, at most [MaxTimely].
	Window *timeexpr.Window
}

// MaxTimely bounds the chunks that are added to a search because of their time.
const MaxTimely = 1000

// Candidate is a chunk with its scores: [Signals] has the keyword score as a share of the best
// possible one, and the cosine. The other scores are not set by an engine.
type Candidate struct {
	Hit

	// Long reports whether the item has [LongText] chunks or more.
	Long bool
	// Around is how much the mean cosine of the chunks before and after it in the item exceeds its own; 0
	// without such chunks.
	Around float64
	// Message is set if it was requested.
	Message *Message
}

// Message is the message that a chunk is part of.
type Message struct {
	Occurred time.Time
	Session  string
	Speaker  Speaker
	// Conversation is a number of the session, the user and the agent together; 0 without a session.
	Conversation uint64
	// First is the first chunk of the message; 0 without a session.
	First uint64
	// Around has the first chunks of the visible messages before and after, the second before and
	// the second after; 0 for none.
	Around [4]uint64
}

// Found is what an engine found.
type Found struct {
	// State is the newest change applied when the search began. An item superseded by a later
	// change can still be a candidate, as its replacement may not be one yet: a replaced text is
	// always found in one version or the other.
	State uint64
	// Candidates are in no order. Timely are the ones within Window; they may be among Candidates,
	// too.
	Candidates, Timely []Candidate
	// Rest bounds the scores of chunks that are not among the candidates. It is 0 of words, and -1 of vectors, if fewer were found than
	// were asked for. A search that approximates may miss a chunk above.
	Rest Signals
	// Words and Vectors report which of the two scores the candidates have.
	Words, Vectors bool
	// Degraded names the scores that are missing or incomplete: "keyword", "vector".
	Degraded []string
	// Sessions has a score of each conversation as one text, the best of which is 1.
	Sessions map[uint64]float64
	// Corrections are the corrected words of Text. Terms are the words that patterns stand for.
	Corrections []Correction
	Terms       []string
}

// visible reports whether p is selected.
func (w *Where) visible(p *item) bool {
	if p.removed.Load() {
		return false
	}
	if !p.currentAt(w) {
		return false
	}
	scope := w.Scope
	if p.User != "" && !scope.AnyUser && p.User != scope.User {
		return false
	}
	if scope.Agent != "" && p.Agent != scope.Agent || scope.Session != "" && p.Session != scope.Session {
		return false
	}
	return matches(&w.Filter, p.Item)
}

func matches(f *ragctx.Filter, p *Item) bool {
	if !f.OccurredAfter.IsZero() && (p.Occurred.IsZero() || p.Occurred.Before(f.OccurredAfter)) {
		return false
	}
	if !f.OccurredBefore.IsZero() && (p.Occurred.IsZero() || !p.Occurred.Before(f.OccurredBefore)) {
		return false
	}
	for _, t := range f.Tags {
		if !slices.Contains(p.Tags, t) {
			return false
		}
	}
	for k, v := range f.Metadata {
		if got, ok := p.Metadata[k]; !ok || got != v {
			return false
		}
	}
	return len(f.Sources) == 0 || slices.ContainsFunc(f.Sources, func(s string) bool {
		if prefix, ok := strings.CutSuffix(s, "*"); ok {
			return strings.HasPrefix(p.Source, prefix)
		}
		return p.Source == s
	})
}

// Collection is one kind of item of a namespace, such as its documents.
type Collection struct {
	Namespace int64
	Kind      string
}

// Opening describes the collection to open.
type Opening struct {
	Collection

	Space Space
	Feed  Feed
	// Origin, Knows and Monitor are as in [Options].
	Origin  func() string
	Knows   func(origin string) bool
	Monitor *RecallMonitor
	// Deferred is as in [Options]: changes of the store do not wait for the indexes.
	Deferred bool
}

// Opener opens engines, and manages what they keep while they are closed.
type Opener interface {
	// Open returns the engine of a collection, which follows the feed. A collection is open at most
	// once at a time.
	Open(ctx context.Context, o Opening) (Engine, error)
	// Drop deletes all that is kept of a closed collection.
	Drop(ctx context.Context, c Collection) error
	// KeepSpace deletes the vectors of all other embedding spaces, unless another process writes to the indexes.
	KeepSpace(ctx context.Context, name string) error
	// Newest returns the newest change that is kept, and the name of the index that has it. A store
	// without that change is older than the index. It is called before any collection is opened.
	Newest(ctx context.Context) (seq uint64, name string, err error)
	// Size returns the bytes that are kept.
	Size(ctx context.Context) (int64, error)
}

// Shared is an [Opener] of indexes in a server, from which several processes answer.
type Shared interface {
	// Has reports whether the server has all of a collection up to a change. The collection may be open. An error that matches
	// [ErrAway] concerns all collections.
	Has(ctx context.Context, o Opening, seq uint64) (bool, error)
}
