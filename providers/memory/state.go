package memory

import (
	"time"

	"github.com/ragctx/ragctx"
)

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
	ID       string            `json:"id"`
	Content  string            `json:"content"`
	About    ragctx.FactRecord `json:"about"`
	Occurred time.Time         `json:"occurred"`
	// SupersededBy is the content of the fact that superseded it, or "" while it holds.
	SupersededBy string `json:"since,omitempty"`
}
