package store

import (
	"slices"
	"time"

	"github.com/ragctx/ragctx"
)

// TurnChange is a change of a memory made from a turn.
type TurnChange struct {
	MemoryID string `json:"memory_id"`
	ragctx.MemoryChange
}

// MemoryFilter selects memories.
type MemoryFilter struct {
	UserID             string
	AnyUser            bool // memories of all users
	Own                bool // only the user's own, not shared ones
	AgentID, SessionID string
	Types              []ragctx.MemoryType
	Filter             ragctx.Filter
	// AnyTags lists tags of which a memory must have at least one. Contains is a text in the
	// memory, ignoring the case of ASCII letters. MinImportance is the lowest importance.
	AnyTags       []string
	Contains      string
	MinImportance float64
	// SaidAfter (inclusive) and SaidBefore (exclusive) bound the time of [Said].
	SaidAfter, SaidBefore time.Time
	// Kinds are kinds of facts; Profile and Pinned require these flags.
	Kinds           []ragctx.FactKind
	Profile, Pinned bool
	Exclude         []string // ids of memories to leave out
	// Distilled leaves out the turns from which facts were ever extracted.
	Distilled bool
	// State is the state of the memories, each in its last version; "" is [ragctx.MemoryActive].
	// [Curation.Quarantine] lists the quarantined ones.
	State ragctx.MemoryState
	// AsOf selects the memories current at that time; zero means now.
	AsOf    time.Time
	Now     time.Time // reference time of scores
	After   MemoryCursor
	Weights ragctx.MemoryWeights
	Order   Order
	Limit   int
}

// Order is the order of a list of memories; ties are ordered by id.
type Order string

// The orders.
const (
	ByScore      Order = ""           // score of importance and recency, highest first
	ByRecency    Order = "recent"     // time of occurrence, newest first
	BySaid       Order = "said"       // time of [Said], newest first
	ByImportance Order = "importance" // highest first
	ByID         Order = "id"         // id; the fastest order for a complete list
)

// MemoryCursor is a cursor in a list of memories: after the memory with this id and this score, or the
// other number that the list is ordered by. Scores decay with time, so all pages of a list use the
// Now of the first. The zero value is the start.
type MemoryCursor struct {
	Now   time.Time
	Score float64
	ID    string
}

// CursorAfter returns the cursor after a memory of the list.
func (f MemoryFilter) CursorAfter(m ragctx.Memory) MemoryCursor {
	p := MemoryCursor{Now: f.Now, Score: m.Score, ID: m.ID}
	switch f.Order {
	case ByRecency:
		p.Score = float64(m.Occurred.UnixMicro())
	case BySaid:
		p.Score = float64(Said(m).UnixMicro())
	case ByImportance:
		p.Score = m.Importance
	case ByID:
		p.Score = 0
	case ByScore:
	}
	return p
}

// Said returns when a memory was first said: the time of the first turn that states it, or for what no turn states
// the time of the event.
func Said(m ragctx.Memory) time.Time {
	if len(m.Sources) == 0 {
		return m.Occurred
	}
	return slices.MinFunc(m.Sources, func(a, b ragctx.Provenance) int { return a.At.Compare(b.At) }).At
}

// Quarantined is a memory held back until a person has reviewed it.
type Quarantined struct {
	ragctx.Memory

	Reason string    `json:"reason,omitempty" doc:"why it is in quarantine"`
	Since  time.Time `json:"since,omitzero" doc:"when it came into quarantine"`
	// Row is its position in the list.
	Row int64 `json:"-"`
}

// TagCount is a tag and the number of memories with it.
type TagCount struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}

// Tier limits the working memories of a user, agent and session.
type Tier struct {
	Working int // 0 is [ragctx.DefaultWorkingMemories]
	Weights ragctx.MemoryWeights
}

// MemoryStats counts the memories that a caller can see, by tier, type and state.
type MemoryStats struct {
	// LongTerm counts all current memories, ShortTerm the newest of them up to the tier's limit,
	// Working the working memories.
	LongTerm  int            `json:"long_term_count"`
	ShortTerm int            `json:"short_term_count"`
	Working   int            `json:"working_count"`
	ByType    map[string]int `json:"by_type"`
	ByKind    map[string]int `json:"by_kind" doc:"facts found in turns, by kind"`
	// Quarantined counts the memories awaiting review.
	Quarantined int `json:"quarantined"`
	Superseded  int `json:"superseded" doc:"versions that another version or memory took the place of, and deleted ones"`
}

// Use counts the answers that contained a memory.
type Use struct {
	Namespace int64
	Key       string
	Count     int
	Last      time.Time
}
