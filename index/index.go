// Package index finds the units (chunks of documents, pieces of memories) of
// one collection that answer a query.
//
// A [Hybrid] index joins a [Lexical] and a [Dense] leg with a catalog of what
// the units belong to. The catalog decides who may see which unit at what time,
// inside the search of both legs, so that a filter never costs results. The
// scores of the legs are fused to one relevance (see [Fusion]).
//
// An index is a cache of the store. Every unit carries the sequence number of
// the write that made it; each leg remembers up to which number it is durable,
// and is fed the rest again when it is opened.
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

// Parent is what units belong to: one version of a document, or one memory. The
// catalog keeps a reference; the caller does not change it after handing it over.
type Parent struct {
	ID     uint64 // unique in the data directory, never reused
	User   string
	Agent  string
	Source string

	Session  string
	Tags     []string
	Metadata map[string]string

	// Occurred is when it happened; Recorded when it was stored; Superseded when
	// it was replaced or deleted (zero while it is current); Expires when it
	// lapses (zero for never).
	Occurred, Recorded, Superseded, Expires time.Time
	// Ended is the sequence number of the change that superseded it, 0 while it is
	// current.
	Ended uint64
}

// DerivedSource is the Source of what was found in messages. It is no message, and so
// in no conversation: it is nobody's neighbour, and nothing that was said at a time.
const DerivedSource = "memory:fact"

// Entry is one unit together with its parent.
type Entry struct {
	ID      uint64 // unique, never reused, mostly ascending in the order of writing
	Seq     uint64 // the write that made it
	Ordinal int    // position within the parent
	Parent  *Parent
	Voice   Voice
	// Title holds the title and heading path; Text the unit's own text. Both may
	// be left empty for units that the lexical leg already holds durably.
	Title, Text string
	// Vector is nil where the embedder abstained, and may be left nil for units
	// that the dense leg already holds durably.
	Vector []float32
}

// Voice says who said a unit of a conversation. The zero value is nobody's, as in
// documents.
type Voice struct {
	Role ragctx.Role
	Name string // of the speaker; "" where only the role is known
	// Timed says that the unit speaks of a time: a date, a weekday, "yesterday".
	Timed bool
}

// End marks a parent as superseded at a time.
type End struct {
	Parent uint64
	At     time.Time
	Seq    uint64
}

// Batch is a run of changes in the order of their sequence numbers.
type Batch struct {
	// Seq is the number of the newest change in the batch.
	Seq uint64
	// Revised holds units of earlier batches that have a vector now; only a dense
	// leg looks at it. Add holds the new units, Ended the parents that were superseded or
	// deleted, Removed those whose data is gone for good.
	Revised []Entry
	Add     []Entry
	Ended   []End
	Removed []Removal
	// Vectors fills in the vectors of some of the units of Revised and Add, which are
	// left out where they are very many; nil says that they are there.
	Vectors func(ctx context.Context, some []Entry) error
}

// Removal is the end of a parent and its units: nothing of them is to be left.
type Removal struct {
	Parent uint64
	Units  []uint64
}

// removedUnits returns the ids of all removed units.
func (b *Batch) removedUnits() (units []uint64) {
	for _, r := range b.Removed {
		units = append(units, r.Units...)
	}
	return units
}

// Scope says whose items are looked at.
type Scope struct {
	// User sees their own items and those that belong to no user; "" sees only
	// the latter. AnyUser lifts that wall.
	User    string
	AnyUser bool
	// Agent and Session narrow to an agent's or a session's items; "" is any.
	Agent, Session string
}

// Query asks for the K best units.
type Query struct {
	// Text is searched by the lexical leg, Vector by the dense leg; an empty one
	// leaves its leg out.
	Text   string
	Vector []float32
	// Phrases are what every hit has, as far as the lexical leg can tell: units that
	// have their words one after the other. Who shows hits looks whether their
	// texts do. While that leg lacks something, they are ignored here.
	Phrases []analysis.Phrase
	// Patterns stand for words of the collection, which are searched for as well.
	Patterns []analysis.Pattern
	// Spelling has words that no text in Scope has read as words that texts have, by the
	// lexical leg; see [Spelling].
	Spelling bool
	// More is searched by the lexical leg together with Text, or alone if Text is "".
	// Lexical has the parameters of its score.
	More    []Wording
	Lexical LexicalParams
	// Space names what Vector was embedded with; see [Hybrid.Space]. The dense leg
	// is left out if it holds vectors of another one.
	Space  string
	K      int
	Scope  Scope
	Filter ragctx.Filter
	// AsOf asks for what was current then; zero for what is current now. Now
	// decides what has expired.
	AsOf, Now time.Time
	Exact     bool
	Fusion    Fusion
	// Dialogue and Time score by more than words and vectors; nil does not.
	Dialogue *Dialogue
	Time     *Time
	// Explain asks for [Signals].Parts.
	Explain bool
}

// Hit is one found unit.
type Hit struct {
	ID      uint64
	Parent  uint64
	Ordinal int
	// Score orders the hits of a search, 0 to 1: the fused scores of the legs.
	Score float64
	// Relevance is the chance that the hit answers the query, 0 to 1. It orders as
	// Score does, and is comparable between searches and collections. Where the
	// lexical leg has no part in Score, it is Score.
	Relevance float64
	Signals   Signals
}

// Signals are the scores that a hit's score was made of.
type Signals struct {
	// Keyword is the lexical score over its upper bound, 0 to 1.
	Keyword float64
	// Vector is the cosine similarity, -1 to 1.
	Vector float64
	// Parts says what the score is made of where that is more than words and
	// vectors; nil unless the query asked for it. It is shared; do not change it.
	Parts *Parts
}

// Result is the answer to a [Query]: hits by score, best first, ties by
// ascending id.
type Result struct {
	Hits []Hit
	// State is the newest change that was applied when the search began. What a
	// later change superseded is still a hit, as what replaced it may not be one
	// yet: a replaced text is found in one version or the other, never in none.
	State uint64
	// Degraded names legs that failed, did not run, or do not have everything yet:
	// "keyword", "vector".
	Degraded []string
	// Window is the time that the query's Time names among what it may see; nil if
	// none.
	Window *timeexpr.Window
	// Corrections are the words of Text that were read otherwise; Terms is what was
	// searched for beside the words of Text and More: what patterns and corrections
	// stand for.
	Corrections []Correction
	Terms       []string
}

// Stats describes an index.
type Stats struct {
	Units, Parents int
	// Applied is the newest change that can be found.
	Applied        uint64
	Lexical, Dense LegStats
}

// Index is the contract between the providers and whatever does the searching,
// in this process or elsewhere. Searches run beside CatchUp and see the state
// before or after each batch.
type Index interface {
	// CatchUp makes everything up to the change seq searchable before it returns.
	CatchUp(ctx context.Context, seq uint64) error
	// Search fails only when no leg could answer, or q's parameters are out of range.
	Search(ctx context.Context, q Query) (Result, error)
	// Compact leaves nothing of removed units in any file.
	Compact(ctx context.Context) error
	Stats() Stats
	Close() error
}

// visible reports whether q may see p in a state.
func (q *Query) visible(p *parent, state uint64) bool {
	if p.removed.Load() {
		return false
	}
	if !p.livedAt(q, state) {
		return false
	}
	s := q.Scope
	if p.User != "" && !s.AnyUser && p.User != s.User {
		return false
	}
	if s.Agent != "" && p.Agent != s.Agent || s.Session != "" && p.Session != s.Session {
		return false
	}
	return matches(&q.Filter, p.Parent)
}

func matches(f *ragctx.Filter, p *Parent) bool {
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
