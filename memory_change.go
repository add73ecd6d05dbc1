package ragctx

import (
	"math"
	"time"
)

// MemoryWeights are the weights of importance and recency in a memory's score.
type MemoryWeights struct {
	Decay      time.Duration // time for recency to fall to 1/e; 0 means 30 days
	Importance float64       // if both are 0: .7 and .3
	Recency    float64
}

// WithDefaults returns w with the defaults for unset fields.
func (w MemoryWeights) WithDefaults() MemoryWeights {
	if w.Decay <= 0 {
		w.Decay = 30 * 24 * time.Hour
	}
	if w.Importance == 0 && w.Recency == 0 {
		w.Importance, w.Recency = 0.7, 0.3
	}
	return w
}

// Score returns importance·w + exp(−age/decay)·w, rounded. A time in the future counts as now.
func (w MemoryWeights) Score(importance float64, age time.Duration) float64 {
	w = w.WithDefaults()
	return Rounded(importance*w.Importance + math.Exp(-max(age, 0).Seconds()/w.Decay.Seconds())*w.Recency)
}

// ChangeOp is a kind of change to a memory or a procedure.
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

	OpDrafted     ChangeOp = "drafted"     // a draft of a procedure was written or extracted
	OpPublished   ChangeOp = "published"   // the draft became a version, and canonical
	OpUnpublished ChangeOp = "unpublished" // no version is canonical any more
	OpRolledBack  ChangeOp = "rolled_back" // an earlier version is canonical; later ones are superseded
	OpErased      ChangeOp = "erased"      // a version was erased with its turn
)

// MemoryChange is one entry of a memory's history.
type MemoryChange struct {
	ID int64     `json:"-"`
	At time.Time `json:"at"`
	Op ChangeOp  `json:"op"`
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
	ByModel  = "model"
	ByPolicy = "policy"
)

// TurnFact is a fact found in a turn, as reported with the turn.
type TurnFact struct {
	ID       string     `json:"id"`
	Content  string     `json:"content"`
	About    FactRecord `json:"about"`
	Occurred time.Time  `json:"occurred"`
	// SupersededBy is the content of the fact that superseded it, or "" while it holds.
	SupersededBy string `json:"since,omitempty"`
}

// Default sizes of the tiers. Working memories beyond the limit expire, lowest score first.
// Short-term memories are the newest ones; dropping out of them does not change a memory.
const (
	DefaultWorkingMemories   = 10
	DefaultShortTermMemories = 100
)

// PrunePolicy selects memories to delete. The zero value selects none.
type PrunePolicy struct {
	// MaxAge and MinImportance apply together: older memories of lower importance are deleted. 0
	// disables the rule.
	MaxAge        time.Duration
	MinImportance float64
	// MaxItems is the number of memories kept; those with the lowest score are deleted. 0 keeps
	// all.
	MaxItems int
}

// DefaultPrunePolicy deletes memories older than 90 days with an importance below 0.5.
func DefaultPrunePolicy() PrunePolicy {
	return PrunePolicy{MaxAge: 90 * 24 * time.Hour, MinImportance: 0.5}
}
