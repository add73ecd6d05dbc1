package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// native returns the implementations of this machine that are faster than portable. Package cpu
// reports an instruction set only if the operating system saves the registers it uses.
func native() []*Kernels {
	var ks []*Kernels
	x := &cpu.X86
	fma := x.HasAVX2 && x.HasFMA
	if fma && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512VNNI {
		ks = append(ks, &Kernels{Name: "avx512-vnni", Bias: 128, set: avx512})
	}
	if fma {
		ks = append(ks, &Kernels{Name: "avx2", set: avx2})
	}
	return ks
}

func (k *Kernels) dot8(q []int8, rows *Rows8, ids []uint32, out []int32) {
	observe(q, func(i int) []int8 { return rows.Row(ids[i]) }, out)
	left := 0
	switch k.set {
	case avx512:
		left = dot8VNNI(&q[0], rows.Chunks, rows.Shift, rows.Stride, ids, &out[0])
	case avx2:
		left = dot8AVX2(&q[0], rows.Chunks, rows.Shift, rows.Stride, ids, &out[0])
	case portable:
		gatherCodes(q, rows, ids, out)
	}
	rows.missing(ids[len(ids)-left:])
}

func (k *Kernels) dot16(q []float32, rows *Rows16, ids []uint32, out []float32) {
	observe(q, func(i int) []int16 { return rows.Row(ids[i]) }, out)
	left := 0
	switch k.set {
	case avx512, avx2:
		left = dot16AVX2(&q[0], rows.Chunks, rows.Shift, rows.Stride, ids, &out[0])
	case portable:
		gatherFloats(q, rows, ids, out)
	}
	rows.missing(ids[len(ids)-left:])
}

// missing panics with an index out of range at the id that has no row.
func (r *Rows[T]) missing(ids []uint32) {
	for _, id := range ids {
		r.Row(id)
	}
}

// maxRun is the largest run, in bytes, passed to one assembly call, about 10 µs of work: the
// garbage collector cannot preempt a goroutine inside assembly.
const maxRun = 256 << 10

func (k *Kernels) scan8(q, run []int8, out []int32) {
	n := len(q)
	observe(q, func(i int) []int8 { return run[i*n : (i+1)*n] }, out)
	for step := max(maxRun/n&^3, 4); len(out) > 0; {
		rows := min(step, len(out))
		switch k.set {
		case avx512:
			scan8VNNI(&q[0], &run[0], n, &out[0], rows)
		case avx2:
			scan8AVX2(&q[0], &run[0], n, &out[0], rows)
		case portable:
			scanCodes(q, run[:rows*n], out[:rows])
		}
		run, out = run[rows*n:], out[rows:]
	}
}

func (k *Kernels) scan16(q []float32, run []int16, out []float32) {
	n := len(q)
	observe(q, func(i int) []int16 { return run[i*n : (i+1)*n] }, out)
	for step := max(maxRun/(n*int(unsafe.Sizeof(run[0])))&^3, 4); len(out) > 0; {
		rows := min(step, len(out))
		switch k.set {
		case avx512, avx2:
			scan16AVX2(&q[0], &run[0], n, &out[0], rows)
		case portable:
			scanFloats(q, run[:rows*n], out[:rows])
		}
		run, out = run[rows*n:], out[rows:]
	}
}

// The assembly takes at least one row. The gathering functions return how many ids are left because
// one of the next four has no row.

//go:noescape
func scan8VNNI(q, run *int8, stride int, out *int32, n int)

//go:noescape
func scan8AVX2(q, run *int8, stride int, out *int32, n int)

//go:noescape
func scan16AVX2(q *float32, run *int16, stride int, out *float32, n int)

//go:noescape
func dot8VNNI(q *int8, chunks [][]int8, shift uint, stride int, ids []uint32, out *int32) (left int)

//go:noescape
func dot8AVX2(q *int8, chunks [][]int8, shift uint, stride int, ids []uint32, out *int32) (left int)

//go:noescape
func dot16AVX2(q *float32, chunks [][]int16, shift uint, stride int, ids []uint32, out *float32) (left int)
