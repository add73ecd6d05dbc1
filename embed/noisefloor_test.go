package embed_test

import (
	"testing"

	"github.com/ragctx/ragctx/embed"
)

func TestFloorOf(t *testing.T) {
	t.Parallel()
	x, y := []float32{1, 0}, []float32{0, 1}
	z := []float32{0.6, 0.8}
	for name, c := range map[string]struct {
		questions, statements [][]float32
		want                  float32
	}{
		"none":             {nil, [][]float32{x}, 0},
		"nothing said":     {[][]float32{nil}, [][]float32{nil, x}, 0},
		"other spaces":     {[][]float32{x}, [][]float32{{1}}, 0},
		"strangers":        {[][]float32{x}, [][]float32{y}, 0},
		"opposites":        {[][]float32{x}, [][]float32{{-1, 0}}, 0},
		"one that is near": {[][]float32{x}, [][]float32{y, z}, 0.6},
	} {
		if got := embed.NoiseFloor(c.questions, c.statements); float32(got) != c.want {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
