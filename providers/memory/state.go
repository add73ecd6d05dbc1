package memory

import (
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// MemoryState determines whether a memory is found, and why not.
type MemoryState string

// States.
const (
	MemoryActive      MemoryState = "active"
	MemorySuperseded  MemoryState = "superseded"  // replaced by another memory; found as of earlier times
	MemoryQuarantined MemoryState = "quarantined" // waits for release or deletion by a reviewer
	MemoryExpired     MemoryState = "expired"     // past its expiry; found as of earlier times
	MemoryDeleted     MemoryState = "deleted"     // found as of earlier times
)

// MemoryOrigin is the speaker of a memory.
type MemoryOrigin string

// Origins.
const (
	FromCaller   MemoryOrigin = "" // the caller; the default
	FromUser     MemoryOrigin = "user"
	FromAgent    MemoryOrigin = "agent"
	FromTool     MemoryOrigin = "tool"
	FromDocument MemoryOrigin = "document"
)

// ParseMemoryOrigin parses an origin, ignoring case.
func ParseMemoryOrigin(s string) (MemoryOrigin, error) {
	switch o := MemoryOrigin(strings.ToLower(s)); o {
	case FromCaller, FromUser, FromAgent, FromTool, FromDocument:
		return o, nil
	}
	return "", ragctx.Invalid("origin", "%q is unknown; use user, agent, tool or document", ragctx.Clip(s))
}

// FactRecord is the fact record of a memory that was extracted from a turn.
type FactRecord struct {
	Kind facts.FactKind `json:"kind"`
	// Subject, Attribute and Value are the parts of the statement. Exclusive means that a new value
	// supersedes the old one. See [facts.Fact].
	Subject   string `json:"subject,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	Value     string `json:"value,omitempty"`
	Exclusive bool   `json:"exclusive,omitempty"`
	// Confidence is between 0 and 1. Rule names the rule that matched, Reason explains it.
	Confidence float64 `json:"confidence"`
	Rule       string  `json:"rule"`
	Reason     string  `json:"reason"`
	// When is the turn's wording of Occurred.
	When string `json:"when,omitempty"`
}

// Provenance is a place in a turn that states a memory's content.
type Provenance struct {
	facts.TurnSpan

	Turn string    `json:"turn"`
	At   time.Time `json:"at"` // when the turn occurred
}

// Op is a kind of change to a memory.
type Op string

// Ops.
const (
	OpCreated     Op = "created"
	OpUpdated     Op = "updated"
	OpMerged      Op = "merged"      // another turn states the same
	OpSuperseded  Op = "superseded"  // by another memory
	OpDeleted     Op = "deleted"     // by a caller
	OpPruned      Op = "pruned"      // by a policy or a full tier
	OpQuarantined Op = "quarantined" // instead of being stored
	OpReleased    Op = "released"    // from quarantine
	OpDiscarded   Op = "discarded"   // from quarantine
	OpUndone      Op = "undone"      // the previous change was undone
)

// Change is one entry of a memory's history.
type Change struct {
	ID int64     `json:"-"`
	At time.Time `json:"at"`
	Op Op        `json:"op"`
	// Version is the version after the change, Before the version before it; 0 means none.
	Version int    `json:"version,omitempty"`
	Before  int    `json:"before,omitempty"`
	By      string `json:"by"` // caller, turn, model or policy
	Turn    string `json:"turn,omitempty"`
	// Other is the memory that superseded this one, or that this one superseded.
	Other  string `json:"other,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Undone is set if an undo reverted the change.
	Undone bool `json:"undone,omitempty"`
	// Content and Was are the texts after and before the change, if they are still stored.
	Content  string `json:"content,omitempty"`
	Previous string `json:"was,omitempty"`
}

// Authors of changes.
const (
	ByCaller = "caller"
	ByTurn   = "turn"
	ByLLM    = "model"
	ByPolicy = "policy"
)

// Fact is a fact found in a turn, as reported with the turn.
type Fact struct {
	ID       string    `json:"id"`
	Content  string    `json:"content"`
	About    FactRecord     `json:"about"`
	Occurred time.Time `json:"occurred"`
	// SupersededBy is the content of the fact that superseded it, or "" while it holds.
	SupersededBy string `json:"since,omitempty"`
}
