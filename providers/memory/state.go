package memory

import (
	"time"

	"github.com/ragctx/ragctx"
)

// ChangeOp is a kind of change to a memory.
type ChangeOp string

// Ops.
const (
	OpCreated     ChangeOp = "created"
	OpUpdated     ChangeOp = "updated"
	OpMerged      ChangeOp = "merged"      // another turn states the same
	OpSuperseded  ChangeOp = "superseded"  // by another memory
	OpDeleted     ChangeOp = "deleted"     // by a caller
	OpPruned      ChangeOp = "pruned"      // by a policy or a full tier
	OpQuarantined ChangeOp = "quarantined" // instead of being stored
	OpReleased    ChangeOp = "released"    // from quarantine
	OpDiscarded   ChangeOp = "discarded"   // from quarantine
	OpUndone      ChangeOp = "undone"      // the previous change was undone
)

// MemoryChange is one entry of a memory's history.
type MemoryChange struct {
	ID int64     `json:"-"`
	At time.Time `json:"at"`
	Op ChangeOp        `json:"op"`
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
	ByModel    = "model"
	ByPolicy = "policy"
)

// TurnFact is a fact found in a turn, as reported with the turn.
type TurnFact struct {
	ID       string            `json:"id"`
	Content  string            `json:"content"`
	About    ragctx.FactRecord `json:"about"`
	Occurred time.Time         `json:"occurred"`
	// SupersededBy is the content of the fact that superseded it, or "" while it holds.
	SupersededBy string `json:"since,omitempty"`
}
