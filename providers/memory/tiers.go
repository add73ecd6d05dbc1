package memory

import "time"

// Sizes of the tiers, unless set otherwise. Working memories beyond the first are
// ended, those with the lowest score first; short-term memories are the newest, and
// nothing happens to a memory that is no longer among them.
const (
	DefaultMaxWorking   = 10
	DefaultMaxShortTerm = 100
)

// PrunePolicy says which memories are let go. The zero value lets none go.
type PrunePolicy struct {
	// MaxAge and MinImportance go together: what is older and of less importance
	// goes. 0 is no age.
	MaxAge        time.Duration
	MinImportance float64
	// MaxItems is how many are kept; those with the lowest score go. 0 is all.
	MaxItems int
}

// DefaultPrunePolicy lets go what is older than 90 days and below an importance of 0.5.
func DefaultPrunePolicy() PrunePolicy {
	return PrunePolicy{MaxAge: 90 * 24 * time.Hour, MinImportance: 0.5}
}
