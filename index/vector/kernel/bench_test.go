package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkScan scans 100,000 rows of 384 elements, most of which have to come
// from memory, and a thousand of them, which do not.
func BenchmarkScan(b *testing.B) {
	const n = 384
	r := rand.New(rand.NewPCG(1, 1))
	for _, count := range []int{1000, 100_000} {
		q8, run8, out8 := filled(n, 0, codes(r)), filled(n*count, 0, codes(r)), make([]int32, count)
		q32, run16, out32 := query(n, 0, normal(r)), rows16(n, 0, filled(n*count, 0, normal(r))), make([]float32, count)
		for _, k := range All() {
			b.Run(fmt.Sprintf("codes/%d/%s", count, k.Name), func(b *testing.B) {
				b.SetBytes(int64(n * count))
				for b.Loop() {
					k.Scan8(q8, run8, out8)
				}
			})
			b.Run(fmt.Sprintf("floats/%d/%s", count, k.Name), func(b *testing.B) {
				b.SetBytes(int64(2 * n * count))
				for b.Loop() {
					k.Scan16(q32, run16, out32)
				}
			})
		}
	}
}

// BenchmarkDot gathers 20 rows of 384 elements at a time, of a thousand and at
// random of 100,000. An operation is one such call.
func BenchmarkDot(b *testing.B) {
	const n, width = 384, 20
	r := rand.New(rand.NewPCG(1, 1))
	for _, count := range []int{1000, 100_000} {
		q8, rows8 := filled(n, 0, codes(r)), chunked(filled(n*count, 0, codes(r)), n, 10)
		q32, rows := query(n, 0, normal(r)), chunked(rows16(n, 0, filled(n*count, 0, normal(r))), n, 10)
		ids := shuffled(r, count)
		for _, k := range All() {
			b.Run(fmt.Sprintf("codes/%d/%s", count, k.Name), func(b *testing.B) {
				b.SetBytes(n * width)
				var out [width]int32
				for i := 0; b.Loop(); i += width {
					at := i % (len(ids) - width)
					k.Dot8(q8, rows8, ids[at:at+width], out[:])
				}
			})
			b.Run(fmt.Sprintf("floats/%d/%s", count, k.Name), func(b *testing.B) {
				b.SetBytes(2 * n * width)
				var out [width]float32
				for i := 0; b.Loop(); i += width {
					at := i % (len(ids) - width)
					k.Dot16(q32, rows, ids[at:at+width], out[:])
				}
			})
		}
	}
}
