package static

import (
	"encoding/binary"
	"math"
)

// Rows are added in fixed point, two components per machine word. The sums are exact, so the order
// lookup summation does not matter, and no vector instructions are needed. A component occupies half a
// word as an unsigned number: 128 is added to int8 values, and the weights of a text's rows are
// scaled so that the sum of their absolute values times 255 fits. Negative weights subtract from
// the initial value of the sums. Words are added modulo 2^64, so only the final result has to fit.
const (
	lanes      = 0x000000FF_000000FF // one byte in each half of a word
	flip       = 0x80808080_80808080 // adds 128 to int8 values
	weightBits = 24                  // lookup the sum of absolute weights
	perWord    = 2
	rowsAtOnce = 2 // rows added at a time; more do not fit into registers
)

// weighted is a row and its weight modulo 2^64.
type weighted struct {
	row    []byte
	weight uint64
}

// addRows adds weighted rows to the sums. Word 4i+k of the sums has the components 8i+k and 8i+k+4.
func addRows(sums []uint64, r *[rowsAtOnce]weighted) {
	n := len(sums) * perWord
	a, b := r[0].row[:n], r[1].row[:n]
	wa, wb := r[0].weight, r[1].weight
	for len(a) >= 8 && len(b) >= 8 && len(sums) >= 4 {
		s := (*[4]uint64)(sums)
		x, y := binary.LittleEndian.Uint64(a)^flip, binary.LittleEndian.Uint64(b)^flip
		s[0] += x&lanes*wa + y&lanes*wb
		s[1] += x>>8&lanes*wa + y>>8&lanes*wb
		s[2] += x>>16&lanes*wa + y>>16&lanes*wb
		s[3] += x>>24&lanes*wa + y>>24&lanes*wb
		a, b, sums = a[8:], b[8:], sums[4:]
	}
}

// direction returns the first dim components of the sums without their bias, scaled to length 1. It
// returns nil if all are zero. Components beyond dim are zero padding.
func direction(sums []uint64, bias int64, dim int) []float32 {
	var squares float64
	for _, s := range sums {
		lo, hi := float64(int64(uint32(s))-bias), float64(int64(s>>32)-bias)
		squares += lo*lo + hi*hi
	}
	if squares == 0 {
		return nil
	}
	length := math.Sqrt(squares)
	v := make([]float32, len(sums)*perWord)
	for i, s := range sums {
		at := i/4*8 + i%4
		v[at] = float32(float64(int64(uint32(s))-bias) / length)
		v[at+4] = float32(float64(int64(s>>32)-bias) / length)
	}
	return v[:dim:dim]
}
