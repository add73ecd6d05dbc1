// Package kernel computes inner products of one query with many rows. It uses assembly where the
// processor has the instructions and portable Go elsewhere.
//
// Rows are int8 codes or float32 vectors, zero-padded to a stride that is a multiple of the SIMD
// width ([Stride8], [Stride32]), so kernels have no remainder loop. Every implementation takes four
// rows at a time, so that each load of the query serves four rows. The order in which a row's
// products are summed depends on the stride alone, not on the row's position, its neighbors or the
// method called. Equal rows therefore get bit-identical products, which keeps the order of ties
// stable.
package kernel

import "fmt"

// Strides are multiples of these, in elements: a cache line of codes, half a cache line of floats.
const (
	Lanes8  = 64
	Lanes32 = 8
)

// MaxStride8 is the longest row of codes whose product fits an int32 in every implementation:
// 65,536 · 255 · 127 < 2³¹, where 255 is the largest element of a query taken as unsigned.
const MaxStride8 = 1 << 16

// Stride8 returns the padded length of a row of dim codes.
func Stride8(dim int) int { return (dim + Lanes8 - 1) &^ (Lanes8 - 1) }

// Stride32 returns the padded length of a row of dim floats.
func Stride32(dim int) int { return (dim + Lanes32 - 1) &^ (Lanes32 - 1) }

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
type Rows[T int8 | float32] struct {
	Chunks [][]T
	Shift  uint
	Stride int // elements, a multiple of [Lanes8] or [Lanes32]
}

// Rows8 are rows of codes; Rows32 are rows of floats.
type (
	Rows8  = Rows[int8]
	Rows32 = Rows[float32]
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

// Dot32 sets each out[i] to the product of q with the row ids[i]. It panics when lengths do not
// match or an id has no row.
//
// Every implementation does the same float32 operations in the same order. The products, each
// rounded, are added to eight sums, element i to sum i mod 8. These are added as ((0+1)+(2+3)) +
// ((4+5)+(6+7)). Wider or more sums, and fused multiplications, were no faster for rows read from
// memory.
//
// With n = len(q), u = 2⁻²⁴, and without overflow or underflow, out[i] differs from the exact
// product by at most γ·Σ|q·row|, γ = n·u/(1 − n·u). Each term is rounded once by its
// multiplication and at most once by each of the fewer than n additions that it enters. The product
// of these factors 1+δ, |δ| ≤ u, is within γ of 1 (Higham, Accuracy and Stability of Numerical
// Algorithms, §3.1).
func (k *Kernels) Dot32(q []float32, rows Rows32, ids []uint32, out []float32) {
	check32(len(q))
	checkRows(len(q), rows.Stride, rows.Shift, len(ids), len(out))
	if len(ids) > 0 {
		k.dot32(q, &rows, ids, out)
	}
}

// Scan32 computes the same products as [Kernels.Dot32] for len(out) consecutive rows of len(q)
// floats in run.
func (k *Kernels) Scan32(q, run, out []float32) {
	check32(len(q))
	checkRun(len(q), len(run), len(out))
	if len(out) > 0 {
		k.scan32(q, run, out)
	}
}

func check8(n int) {
	if n <= 0 || n%Lanes8 != 0 || n > MaxStride8 {
		panic(fmt.Sprintf("kernel: a query of %d codes: want a multiple of %d, at most %d", n, Lanes8, MaxStride8))
	}
}

func check32(n int) {
	if n <= 0 || n%Lanes32 != 0 {
		panic(fmt.Sprintf("kernel: a query of %d floats: want a multiple of %d", n, Lanes32))
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
