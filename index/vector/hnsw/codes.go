package hnsw

import "math"

// roundToEven rounds a small number to an integer when added and subtracted again: 1.5 · 2^52,
// beyond which a float64 has no fractions.
const roundToEven = 3 << 51

// encode writes the codes of a vector and returns their row data and the length of the encoding
// error: |unit − scale·codes|. The largest component gets ±127. The scale makes scale·codes a
// vector of length 1, so that products are cosines. With the quantization scale instead,
// |scale·codes| would be off by some thousandths, which would decide the order of near duplicates.
// A zero vector has scale 0.
func encode(unit []float32, codes []int8) (r row, residual float64) {
	var largest float32
	for _, x := range unit {
		if x < 0 {
			x = -x
		}
		if x > largest { // the builtin max would check for NaN too
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
