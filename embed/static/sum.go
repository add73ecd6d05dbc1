package static

import (
	"encoding/binary"
	"math"
)

// Rows are added up in fixed point, two components per machine word: exact, so
// that no order of summation matters, and without vector instructions. A
// component lives in half a word as an unsigned number: int8 values get 128
// added, and the weights of a text's rows are scaled so that the sum of their
// sizes, times 255, fits. A negative weight takes away from what the sums begin
// with; words are added modulo 2^64, so only the end result has to fit.
const (
	lanes      = 0x000000FF_000000FF // a byte in each half of a word
	flip       = 0x80808080_80808080 // adds 128 to int8 values
	weightBits = 24                  // of the sum of the weights' sizes
	perWord    = 2
	together   = 2 // rows are added at a time; more do not fit the registers
)

// weighted is a row and how much of it is added, modulo 2^64.
type weighted struct {
	row    []byte
	weight uint64
}

// addRows adds rows to the sums. Word 4i+k of the sums has components 8i+k and
// 8i+k+4.
func addRows(sums []uint64, r *[together]weighted) {
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

// direction returns the components of the sums, less what each has too much,
// scaled to length 1; nil if all are zero. There are dim of them; those beyond are
// padding, and zero.
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
