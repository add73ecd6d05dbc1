package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzCodes has codes as they come, and lengths, places, chunks and orders that
// the numbers say.
func FuzzCodes(f *testing.F) {
	f.Add([]byte{1, 255, 127, 129, 0}, uint8(6), uint8(5), uint8(1), uint8(2), uint64(1))
	f.Add([]byte{127}, uint8(1), uint8(1), uint8(0), uint8(0), uint64(2))
	f.Add([]byte{129}, uint8(16), uint8(33), uint8(63), uint8(5), uint64(3))
	f.Fuzz(func(t *testing.T, data []byte, lanes, count, off, shift uint8, seed uint64) {
		n, rows := Lanes8*(1+int(lanes)%20), 1+int(count)%40
		at := 0
		draw := func() int8 {
			if len(data) == 0 {
				return 0
			}
			c := int8(data[at%len(data)])
			at++
			return max(c, -127)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		checkCodes(t, filled(n, int(off)%line, draw), filled(n*rows, int(off)/4, draw), shuffled(r, rows), uint(shift)%7)
	})
}

// FuzzFloats has floats of the magnitudes that the exponents say.
func FuzzFloats(f *testing.F) {
	f.Add(int8(0), int8(0), uint8(47), uint8(5), uint8(1), uint8(2), uint64(1))
	f.Add(int8(30), int8(-30), uint8(0), uint8(1), uint8(0), uint8(0), uint64(2))
	f.Add(int8(-30), int8(5), uint8(2), uint8(33), uint8(63), uint8(5), uint64(3))
	f.Fuzz(func(t *testing.T, least, spread int8, lanes, count, off, shift uint8, seed uint64) {
		n, rows := Lanes16*(1+int(lanes)), 1+int(count)%40
		r := rand.New(rand.NewPCG(seed, 0))
		draw := func() float32 { // within 2^±50: no product is subnormal, no sum overflows
			exponent := int(least)%40 + r.IntN(11)*int(spread%2)
			return float32(math.Ldexp(r.Float64()-.5, exponent))
		}
		run := rows16(n, int(off)/16, filled(n*rows, 0, draw))
		checkFloats(t, query(n, int(off)%16, draw), run, shuffled(r, rows), uint(shift)%7)
	})
}
