package hnsw

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Entries are ordered by their keys as nearest orders them.
func TestSortKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sims := rapid.OneOf(rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), 1, -1, .5}), rapid.Float32Range(-1.1, 1.1))
		entries := rapid.SliceOf(rapid.Custom(func(t *rapid.T) entry {
			return entry{sims.Draw(t, "sim"), rapid.Uint32Max(rejected-1).Draw(t, "slot")}
		})).Draw(t, "entries")
		keys := make([]sortKey, len(entries))
		for i, e := range entries {
			keys[i] = keyOf(e)
		}
		slices.SortFunc(entries, nearest)
		slices.Sort(keys)
		for i, k := range keys {
			if k.entry() != entries[i] {
				t.Fatalf("at %d is %v, want %v", i, k.entry(), entries[i])
			}
		}
	})
}
