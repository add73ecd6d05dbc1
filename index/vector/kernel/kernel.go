// Package kernel computes inner products of one query with many rows. It uses assembly where the
// processor has the instructions and portable Go elsewhere.
//
// Rows are int8 codes, or int16 codes with a scale. They are zero-padded to a stride that is a multiple
// of the SIMD width ([Stride8], [Stride16]), so kernels have no remainder loop. Every implementation takes four
// rows at a time, so that each load of the query serves four rows. The order in which a row's
// products are summed depends on the stride alone, not on the row's position, its neighbors or the
// method called. Equal rows therefore get bit-identical products, which keeps the order of ties
// stable.
package kernel

import "fmt"

// Strides are multiples of these, in elements: a cache line of int8 codes, a quarter of int16 codes.
const (
	Lanes8  = 64
	Lanes16 = 8
)

// MaxStride8 is the longest row of codes whose product fits an int32 in every implementation:
// 65,536 · 255 · 127 < 2³¹, where 255 is the largest element of a query taken as unsigned.
const MaxStride8 = 1 << 16

// Stride8 returns the padded length of a row of dim codes.
func Stride8(dim int) int { return (dim + Lanes8 - 1) &^ (Lanes8 - 1) }

// Stride16 returns the padded length of a row of dim codes and their scale; see [Encode16].
func Stride16(dim int) int { return (dim + scaleCodes + Lanes16 - 1) &^ (Lanes16 - 1) }

// Kernels is one implementation of the products. Codes must be within -127..127. All
// implementations agree to the bit, except for Bias, so results do not depend on the processor. The
// methods are safe for concurrent use, allocate nothing, retain nothing and read nothing outside
// the requested rows. Rows may lie at any address; a multiple of 64 bytes is fastest.
type Kernels struct {
	// Name is the instruction set in use: "avx512-vnni", "avx2" or "portable".
	Name string
	// Bias times the sum of the row's elements is added to every product of Dot8 and Scan8: 128
	// where the query's codes are taken as unsigned, else 0.
	Bias int32

	set instructions
}

// instructions selects the code behind [Kernels]. It is not a table of functions: the compiler
// would assume that an indirect call retains the caller's buffers, and would move them to the heap.
type instructions uint8

const (
	portable instructions = iota
	avx2
	avx512
)

// Best returns the fastest implementation that runs on this machine.
func Best() *Kernels { return all[0] }

// All returns the implementations that run on this machine, the fastest first and the portable one
// last.
func All() []*Kernels { return append([]*Kernels(nil), all...) }

// all is decided once at start and never changes.
var all = append(native(), &Kernels{Name: "portable", Bias: portableBias})

// Rows are rows of one length in chunks of 1<<Shift rows, so that they grow without moving. The
// last chunk may be shorter. With Shift 0 each chunk is a single row, which can lie anywhere.
type Rows[T int8 | int16] struct {
	Chunks [][]T
	Shift  uint
	Stride int // elements, a multiple of [Lanes8] or [Lanes16]
}

// Rows8 are rows of codes; Rows16 are rows of [Encode16].
type (
	Rows8  = Rows[int8]
	Rows16 = Rows[int16]
)

// Row returns the row of an id.
func (r *Rows[T]) Row(id uint32) []T {
	at := int(id&(1<<r.Shift-1)) * r.Stride
	return r.Chunks[id>>r.Shift][at : at+r.Stride : at+r.Stride]
}

// Dot8 sets each out[i] to the product of q with the row ids[i], plus Bias times the sum of that
// row. It panics when lengths do not match or an id has no row.
func (k *Kernels) Dot8(q []int8, rows Rows8, ids []uint32, out []int32) {
	check8(len(q))
	checkRows(len(q), rows.Stride, rows.Shift, len(ids), len(out))
	if len(ids) > 0 {
		k.dot8(q, &rows, ids, out)
	}
}

// Scan8 computes the same products as [Kernels.Dot8] for len(out) consecutive rows of len(q) codes
// in run.
func (k *Kernels) Scan8(q, run []int8, out []int32) {
	check8(len(q))
	checkRun(len(q), len(run), len(out))
	if len(out) > 0 {
		k.scan8(q, run, out)
	}
}

// Dot16 sets each out[i] to the product of q with the vector of row ids[i]. It panics when lengths do
// not match or an id has no row.
//
// Every implementation does the same float32 operations in the same order. The products of elements
// and codes, each rounded, are added to eight sums, element i to sum i mod 8. These are added as
// ((0+1)+(2+3)) + ((4+5)+(6+7)), and the sum is multiplied by the scale. The scale's own codes are
// multiplied too, so q must be zero past the dimensions. Wider or more sums, and fused
// multiplications, were no faster for rows read from memory.
//
// With n = len(q) + 1, u = 2⁻²⁴, and without overflow or underflow, out[i] differs from the exact
// product by at most γ·Σ|q·row|, γ = n·u/(1 − n·u). Each term is rounded once by its
// multiplication, at most once by each of the fewer than n − 1 additions that it enters, and once by
// the scale. The product of these factors 1+δ, |δ| ≤ u, is within γ of 1 (Higham, Accuracy and
// Stability of Numerical Algorithms, §3.1).
func (k *Kernels) Dot16(q []float32, rows Rows16, ids []uint32, out []float32) {
	check16(len(q))
	checkRows(len(q), rows.Stride, rows.Shift, len(ids), len(out))
	if len(ids) == 0 {
		return
	}
	k.dot16(q, &rows, ids, out)
	for i, id := range ids {
		out[i] *= scaleOf(rows.Row(id))
	}
}

// Scan16 computes the same products as [Kernels.Dot16] for len(out) consecutive rows of len(q) codes
// in run.
func (k *Kernels) Scan16(q []float32, run []int16, out []float32) {
	check16(len(q))
	checkRun(len(q), len(run), len(out))
	if len(out) == 0 {
		return
	}
	k.scan16(q, run, out)
	for i := range out {
		out[i] *= scaleOf(run[i*len(q) : (i+1)*len(q)])
	}
}

func check8(n int) {
	if n <= 0 || n%Lanes8 != 0 || n > MaxStride8 {
		panic(fmt.Sprintf("kernel: a query of %d codes: want a multiple of %d, at most %d", n, Lanes8, MaxStride8))
	}
}

func check16(n int) {
	if n <= 0 || n%Lanes16 != 0 {
		panic(fmt.Sprintf("kernel: a query of %d floats: want a multiple of %d", n, Lanes16))
	}
}

func checkRows(n, stride int, shift uint, ids, out int) {
	if stride != n || shift > 31 || ids != out {
		panic(fmt.Sprintf("kernel: a query of %d elements for rows of %d in chunks of 1<<%d, %d results for %d ids",
			n, stride, shift, out, ids))
	}
}

func checkRun(n, run, out int) {
	if run/n != out || run%n != 0 {
		panic(fmt.Sprintf("kernel: %d results for %d elements in rows of %d", out, run, n))
	}
}
