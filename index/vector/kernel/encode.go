package kernel

import "math"

// scaleCodes is the number of codes at the end of a row that hold the bits of its scale.
const scaleCodes = 2

// maxCode is the code of the largest component.
const maxCode = math.MaxInt16

// roundToEven rounds a small number to an integer when added and subtracted again: 1.5 · 2^52,
// beyond which a float64 has no fractions.
const roundToEven = 3 << 51

// Encode16 writes the direction of v to a row of [Stride16] codes. The largest component gets ±32767, and the scale makes
// scale·codes a vector of length 1. A component is off by at most half a code, a 65,534th of the largest one. The
// conversions keep the compiler from fusing a multiplication with an addition, which would round differently on some
// processors. A vector without a direction has scale 0.
func Encode16(row []int16, v []float32) {
	clear(row)
	var largest float32
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	if largest == 0 {
		return
	}
	per, squares := maxCode/float64(largest), 0.
	for i, x := range v {
		code := (float64(float64(x)*per) + roundToEven) - roundToEven
		squares += code * code // exact
		row[i] = int16(max(-maxCode, min(maxCode, code)))
	}
	scale := math.Float32bits(float32(1 / math.Sqrt(squares)))
	row[len(row)-2], row[len(row)-1] = int16(scale), int16(scale>>16) //nolint:gosec // both halves
}

// Decode16 writes the vector of a row to v.
func Decode16(v []float32, row []int16) {
	scale := scaleOf(row)
	for i := range v {
		v[i] = float32(row[i]) * scale
	}
}

// scaleOf returns the scale of a row.
func scaleOf(row []int16) float32 {
	low, high := row[len(row)-2], row[len(row)-1]
	return math.Float32frombits(uint32(uint16(low)) | uint32(uint16(high))<<16) //nolint:gosec // both halves
}
