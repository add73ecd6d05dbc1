package keyword

import "testing"

// TestFrequencies changes chunks: in a small index every change has the features counted again, in a large one a twentieth.
func TestFrequencies(t *testing.T) {
	for _, tt := range []struct {
		chunks         int64
		changed, asked int
	}{{1000, 0, 1}, {1000, 1, 2}, {101_000, 5_000, 1}, {101_000, 5_001, 2}} {
		var c Frequencies[int]
		asked := 0
		ask := func(lacking []string) ([]int, error) {
			asked++
			return make([]int, len(lacking)), nil
		}
		for range 2 {
			if found, err := c.Of([]string{"a", "b"}, tt.chunks, ask); len(found) != 2 || err != nil {
				t.Fatal(found, err)
			}
			c.Changed(tt.changed)
		}
		if asked != tt.asked {
			t.Errorf("%+v: asked %d times", tt, asked)
		}
	}
}
