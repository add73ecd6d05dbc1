package safetensors

import (
	"math"
	"testing"
)

func TestHalf(t *testing.T) {
	t.Parallel()
	for bits, want := range map[uint16]float64{
		0: 0, 1: math.Ldexp(1, -24), 0x3FF: math.Ldexp(1023, -24), 0x400: math.Ldexp(1, -14), 0x3C00: 1, 0xC000: -2, 0x7BFF: 65504,
		0x7C00: math.Inf(1), 0xFC00: math.Inf(-1), 0x3555: 0.333251953125,
	} {
		if got := half(bits); got != want {
			t.Errorf("%#x: %g, want %g", bits, got, want)
		}
	}
	if got := half(0x7E00); !math.IsNaN(got) {
		t.Errorf("NaN: %g", got)
	}
}
