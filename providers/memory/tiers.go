package memory

import "time"

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
