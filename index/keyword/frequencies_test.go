package keyword

import (
	"slices"
	"testing"
)

// TestFrequencies changes chunks: in a small index every change has the features counted again, in a large one a twentieth.
// Features that no chunk has are always counted again.
func TestFrequencies(t *testing.T) {
	for _, tt := range []struct {
		chunks         int64
		changed, asked int
		number         int
	}{{1000, 0, 1, 7}, {1000, 1, 2, 7}, {101_000, 5_000, 1, 7}, {101_000, 5_001, 2, 7}, {101_000, 0, 2, 0}} {
		var c Frequencies[int]
		asked := 0
		ask := func(lacking []string) ([]int, error) {
			asked++
			return slices.Repeat([]int{tt.number}, len(lacking)), nil
		}
		for range 2 {
			if found, err := c.Of([]string{"a", "b"}, tt.chunks, ask); err != nil || !slices.Equal(found, []int{tt.number, tt.number}) {
				t.Fatal(found, err)
			}
			c.Changed(tt.changed)
		}
		if asked != tt.asked {
			t.Errorf("%+v: asked %d times", tt, asked)
		}
	}
}

// TestFrequenciesMissing asks a process that does not count all features.
func TestFrequenciesMissing(t *testing.T) {
	var c Frequencies[int]
	if _, err := c.Of([]string{"a"}, 1, func([]string) ([]int, error) { return nil, nil }); err == nil {
		t.Error("no error")
	}
}
