package hnsw

import "math"

// roundToEven is what rounds a small number to an integer when it is added and taken
// away again: 1.5 · 2^52, beyond which a float64 has no fractions.
const roundToEven = 3 << 51

// encode writes the codes of a vector and returns what belongs to them, with the
// length of what they leave out: |unit − scale·codes|. The largest component gets
// ±127. The scale makes scale·codes of length 1, so that products of them are
// cosines: with the scale that the codes were made with, |scale·codes| is off by
// some thousandths, and that would decide the order of near duplicates. A vector of
// zeros has scale 0.
func encode(unit []float32, codes []int8) (r row, residual float64) {
	var largest float32
	for _, x := range unit {
		if x < 0 {
			x = -x
		}
		if x > largest { // max would look for NaN as well
			largest = x
		}
	}
	if largest == 0 {
		return row{}, 0
	}
	per, squares := 127/float64(largest), 0.
	for i, x := range unit {
		// The product is within ±127.00001, so that it rounds to ±127 at most.
		code := (float64(x)*per + roundToEven) - roundToEven
		squares += code * code
		codes[i] = int8(code)
		r.sum += int32(code)
	}
	r.scale = float32(1 / math.Sqrt(squares))
	for i, x := range unit {
		left := float64(x) - float64(codes[i])*float64(r.scale)
		residual += left * left
	}
	return r, math.Sqrt(residual)
}
