package store

import "github.com/ragctx/ragctx"

// ExtractedFact is a fact extracted from a turn.
type ExtractedFact struct {
	Memory  ragctx.Memory // with About, and the passage of the turn in Sources
	Content Content
	By      string // [ragctx.ByTurn] or [ragctx.ByModel]
	// Near is a memory with nearly the same content; the fact is merged with it if it still exists.
	// Supersedes are memories that the fact replaces.
	Near       string
	Supersedes []string
	// Quarantine is the reason for quarantine, or "".
	Quarantine string
	// Remains is set for what is left of a superseded memory. It is stored although its value was extracted from its turn before.
	Remains bool
}

// FactOutcome is the outcome of storing a fact.
type FactOutcome struct {
	ID string // memory that now states the fact, or ""
	// Op is created, merged, superseded (a newer turn states otherwise), quarantined, or "" if
	// nothing changed.
	Op ragctx.ChangeOp
	// Superseded are the memories that the fact replaced.
	Superseded []string
}
