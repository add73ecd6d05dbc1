package embed

import "math"

// Cosine returns the cosine of two vectors. It is 0 if they differ in length, or one has no direction.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	x, y := dot(a, a), dot(b, b)
	if x == 0 || y == 0 {
		return 0
	}
	return dot(a, b) / math.Sqrt(x*y)
}
