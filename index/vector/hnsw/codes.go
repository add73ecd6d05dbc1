package hnsw

import "math"

// roundToEven is what rounds a small number to an integer when it is added and taken
// away again: 1.5 · 2^52, beyond which a float64 has no fractions.
const roundToEven = 3 << 51

// encode writes the codes of a vector and returns what belongs to them, with the
// length of what they leave out: |unit − scale·codes|. The largest component gets
// ±127; a vector of zeros has scale 0.
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
	r.scale = largest / 127
	per := 1 / float64(r.scale)
	for i, x := range unit {
		// The product is within ±127.00001, so that it rounds to ±127 at most.
		code := (float64(x)*per + roundToEven) - roundToEven
		left := float64(x) - code*float64(r.scale)
		residual += left * left
		codes[i] = int8(code)
		r.sum += int32(code)
	}
	return r, math.Sqrt(residual)
}
