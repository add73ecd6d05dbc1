package kernel

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// reference is the product of real numbers, near enough, and the sum of the
// absolute values of its terms.
func reference[Q int8 | float32, T int8 | float32](q []Q, row []T) (product, terms float64) {
	for i, x := range q {
		p := float64(x) * float64(row[i])
		product += p
		terms += math.Abs(p)
	}
	return product, terms
}

// inOrder is the product of q and row as Dot16 states it, to the bit.
func inOrder(q []float32, row []int16) float32 {
	var s [8]float32
	for i, x := range q {
		s[i%8] += float32(x * float32(row[i]))
	}
	return (((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))) * scaleOf(row)
}

// query returns a query that is zero where rows have their scale.
func query(n, off int, draw func() float32) []float32 {
	q := filled(n, off, draw)
	clear(q[n-scaleCodes:])
	return q
}

// rows16 encodes a run of vectors of n elements each, where the scale takes the last ones.
func rows16(n, off int, run []float32) []int16 {
	out := Aligned[int16](len(run) + off)[off:]
	for i := 0; i < len(run); i += n {
		Encode16(out[i:i+n], run[i:i+n-scaleCodes])
	}
	return out
}

func sum(row []int8) (s int32) {
	for _, c := range row {
		s += int32(c)
	}
	return s
}

// filled returns n elements that draw makes, at an address that is a multiple of
// 64 bytes plus off elements.
func filled[T int8 | int16 | float32](n, off int, draw func() T) []T {
	b := Aligned[T](n + off)[off:]
	for i := range b {
		b[i] = draw()
	}
	return b
}

// codes draws codes evenly, extreme ones only the greatest and the least.
func codes(r *rand.Rand) func() int8 { return func() int8 { return int8(r.IntN(255) - 127) } }

func extremes(r *rand.Rand) func() int8 { return func() int8 { return int8(127 - 254*r.IntN(2)) } }

func constant(c int8) func() int8 { return func() int8 { return c } }

func normal(r *rand.Rand) func() float32 { return func() float32 { return float32(r.NormFloat64()) } }

// chunked copies a run of rows into chunks, the last one as short as can be.
func chunked[T int8 | int16](run []T, stride int, shift uint) Rows[T] {
	return Rows[T]{Chunks: slices.Collect(slices.Chunk(slices.Clone(run), stride<<shift)), Shift: shift, Stride: stride}
}

// shuffled returns ids of n rows, each once, and some of them again.
func shuffled(r *rand.Rand, n int) []uint32 {
	ids := make([]uint32, n+n/2)
	for i := range ids {
		ids[i] = uint32(i % n)
	}
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}

// checkCodes compares all implementations with the reference, scanning and gathering.
func checkCodes(t *testing.T, q, run []int8, ids []uint32, shift uint) {
	t.Helper()
	n := len(q)
	rows := chunked(run, n, shift)
	want := make([]int32, len(run)/n)
	for i := range want {
		p, _ := reference(q, run[i*n:(i+1)*n])
		want[i] = int32(p)
	}
	for _, k := range All() {
		scanned, gathered := make([]int32, len(want)), make([]int32, len(ids))
		k.Scan8(q, run, scanned)
		k.Dot8(q, rows, ids, gathered)
		for i, id := range ids {
			gathered[i] -= k.Bias * sum(rows.Row(id))
			if gathered[i] != want[id] {
				t.Fatalf("%s: Dot8 %d = %d for row %d of %d elements, want %d", k.Name, i, gathered[i], id, n, want[id])
			}
		}
		for i := range scanned {
			scanned[i] -= k.Bias * sum(run[i*n:(i+1)*n])
		}
		if diff := cmp.Diff(want, scanned); diff != "" {
			t.Fatalf("%s: Scan8 of %d elements (-want +got):\n%s", k.Name, n, diff)
		}
	}
}

// checkFloats does what checkCodes does for rows of Encode16: all implementations have to agree to
// the bit, scans and gathers, also one row at a time, within the bound of Dot16.
func checkFloats(t *testing.T, q []float32, run []int16, ids []uint32, shift uint) {
	t.Helper()
	n := len(q)
	rows := chunked(run, n, shift)
	gamma := float64(n+1) * 0x1p-24 / (1 - float64(n+1)*0x1p-24)
	vector := make([]float32, n)
	for _, k := range All() {
		scanned, gathered := make([]float32, len(run)/n), make([]float32, len(ids))
		k.Scan16(q, run, scanned)
		k.Dot16(q, rows, ids, gathered)
		for i, got := range scanned {
			row := run[i*n : (i+1)*n]
			for j := range vector { // exactly what the row stands for
				vector[j] = float32(row[j])
			}
			want, terms := reference(q, vector)
			scale := float64(scaleOf(row))
			if math.Abs(float64(got)-want*scale) > gamma*terms*scale {
				t.Fatalf("%s: Scan16 of %d elements = %v, want %v ± %v", k.Name, n, got, want*scale, gamma*terms*scale)
			}
			if same := inOrder(q, row); got != same {
				t.Fatalf("%s: Scan16 of %d elements = %v, want %v to the bit", k.Name, n, got, same)
			}
			var alone [1]float32
			if k.Scan16(q, row, alone[:]); alone[0] != got {
				t.Fatalf("%s: row %d alone = %v, beside others %v", k.Name, i, alone[0], got)
			}
		}
		for i, id := range ids {
			if gathered[i] != scanned[id] {
				t.Fatalf("%s: Dot16 of row %d = %v, Scan16 %v", k.Name, id, gathered[i], scanned[id])
			}
		}
	}
}

// TestEncode16 checks the error and the length of encoded vectors.
func TestEncode16(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, dim := range []int{1, 2, 3, 6, 7, 8, 100, 256, 384, 1536} {
		for _, size := range []float64{1e-40, 1e-20, 1, 1e20, 3e37} {
			v := make([]float32, dim)
			var squares, largest float64
			for i := range v {
				v[i] = float32(size * r.NormFloat64())
				squares += float64(v[i]) * float64(v[i])
				largest = max(largest, math.Abs(float64(v[i])))
			}
			row, back := make([]int16, Stride16(dim)), make([]float32, dim)
			Encode16(row, v)
			Decode16(back, row)
			var length float64
			for i, x := range back {
				length += float64(x) * float64(x)
				if off := math.Abs(float64(x) - float64(v[i])/math.Sqrt(squares)); off > largest/math.Sqrt(squares)*1e-4 {
					t.Fatalf("%d elements of %g: element %d is off by %g", dim, size, i, off)
				}
			}
			if math.Abs(math.Sqrt(length)-1) > 1e-6 {
				t.Fatalf("%d elements of %g: length %v", dim, size, math.Sqrt(length))
			}
			again := make([]int16, len(row))
			if Encode16(again, back); !slices.Equal(again[:dim], row[:dim]) {
				t.Fatalf("%d elements of %g: a decoded vector has other codes", dim, size)
			}
		}
	}
	row := []int16{1, 2, 3, 4, 5, 6, 7, 8}
	if Encode16(row, make([]float32, 6)); !slices.Equal(row, make([]int16, 8)) {
		t.Errorf("a zero vector has row %v", row)
	}
}

func TestCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := Lanes8; n <= 17*Lanes8; n += Lanes8 {
		for count := 1; count <= 9; count++ {
			off, shift := r.IntN(70), uint(r.IntN(4))
			ids := shuffled(r, count)
			checkCodes(t, filled(n, off, codes(r)), filled(n*count, off/2, codes(r)), ids, shift)
			checkCodes(t, filled(n, off, extremes(r)), filled(n*count, off, extremes(r)), ids, shift)
		}
	}
}

// TestExtremeCodes has the greatest sums that there are.
func TestExtremeCodes(t *testing.T) {
	for _, n := range []int{Lanes8, 1024, MaxStride8} {
		for _, x := range []int8{-127, 127} {
			for _, y := range []int8{-127, 0, 127} {
				checkCodes(t, filled(n, 0, constant(x)), filled(n*5, 0, constant(y)), []uint32{4, 0, 2}, 1)
			}
		}
	}
}

func TestFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for n := Lanes16; n <= 130*Lanes16; n += Lanes16 {
		for _, count := range []int{1, 2, 3, 4, 5 + r.IntN(9)} {
			off := r.IntN(20)
			run := rows16(n, off/2, filled(n*count, 0, normal(r)))
			checkFloats(t, query(n, off, normal(r)), run, shuffled(r, count), uint(r.IntN(4)))
		}
	}
}

// TestAlignments has the query and the rows at every place in a cache line.
func TestAlignments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for off := range line {
		ids := shuffled(r, 5)
		checkCodes(t, filled(384, off, codes(r)), filled(5*384, (off*7)%line, codes(r)), ids, 1)
		if off < line/4 {
			checkFloats(t, query(40, off, normal(r)), rows16(40, (off*7)%16, filled(5*40, 0, normal(r))), ids, 1)
		}
	}
}

// TestEqualRows has one row at all places among others.
func TestEqualRows(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{8, 16, 24, 256, 384, 392, 1000} {
		q, row := query(n, 1, normal(r)), rows16(n, 2, filled(n, 0, normal(r)))
		for count := 1; count <= 9; count++ {
			for at := range count {
				run := rows16(n, 3, filled(n*count, 0, normal(r)))
				copy(run[at*n:], row)
				for _, k := range All() {
					var alone [1]float32
					out := make([]float32, count)
					k.Scan16(q, row, alone[:])
					k.Scan16(q, run, out)
					if out[at] != alone[0] {
						t.Fatalf("%s: row %d of %d = %v, alone %v", k.Name, at, count, out[at], alone[0])
					}
				}
			}
		}
	}
}

// TestLongScan has more rows than the assembly gets at once, 256 KB, three times.
func TestLongScan(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const count = 3*256 + 3
	checkCodes(t, filled(1024, 0, codes(r)), filled(1024*count, 0, codes(r)), shuffled(r, count), 6)
	checkFloats(t, query(256, 0, normal(r)), rows16(256, 0, filled(256*count, 0, normal(r))), shuffled(r, count), 6)
	checkCodes(t, filled(MaxStride8, 0, codes(r)), filled(MaxStride8*9, 0, codes(r)), shuffled(r, 9), 6)
}

func TestUntouchedBesideResults(t *testing.T) {
	for _, k := range All() {
		for n := range 10 {
			codes, floats := []int32{7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, []float32{7, 7, 7, 7, 7, 7, 7, 7, 7, 7}
			ids := make([]uint32, n)
			k.Scan8(make([]int8, 64), make([]int8, 64*n), codes[:n])
			k.Scan16(make([]float32, 8), make([]int16, 8*n), floats[:n])
			k.Dot8(make([]int8, 64), Rows8{[][]int8{make([]int8, 64)}, 0, 64}, ids, codes[:n])
			k.Dot16(make([]float32, 8), Rows16{[][]int16{make([]int16, 8)}, 0, 8}, ids, floats[:n])
			for i := range codes {
				want := int32(7)
				if i < n {
					want = 0
				}
				if codes[i] != want || floats[i] != float32(want) {
					t.Fatalf("%s: %d rows left %v and %v", k.Name, n, codes, floats)
				}
			}
		}
	}
}

// TestRefused has arguments that do not fit each other, and ids of no row.
func TestRefused(t *testing.T) {
	rows8 := Rows8{[][]int8{make([]int8, 128), make([]int8, 64)}, 1, 64}
	rowsOf16 := Rows16{[][]int16{make([]int16, 16), make([]int16, 8)}, 1, 8}
	for _, k := range All() {
		panics := func(name string, f func()) {
			t.Helper()
			defer func() {
				if recover() == nil {
					t.Errorf("%s: %s: no panic", k.Name, name)
				}
			}()
			f()
		}
		for _, n := range []int{0, 1, 63, 96, MaxStride8 + 64} {
			panics(fmt.Sprint("codes ", n), func() { k.Scan8(make([]int8, n), make([]int8, n), make([]int32, 1)) })
		}
		for _, n := range []int{0, 1, 12} {
			panics(fmt.Sprint("floats ", n), func() { k.Scan16(make([]float32, n), make([]int16, n), make([]float32, 1)) })
		}
		panics("half a row", func() { k.Scan8(make([]int8, 64), make([]int8, 96), make([]int32, 1)) })
		panics("too few results", func() { k.Scan16(make([]float32, 8), make([]int16, 16), make([]float32, 1)) })
		panics("another stride", func() { k.Dot8(make([]int8, 128), rows8, []uint32{0}, make([]int32, 1)) })
		panics("more ids than results", func() { k.Dot8(make([]int8, 64), rows8, []uint32{0, 1}, make([]int32, 1)) })
		for _, id := range []uint32{3, 4, 1 << 31, math.MaxUint32} {
			for at := range 9 {
				ids := make([]uint32, 9)
				ids[at] = id
				panics(fmt.Sprintf("code %d at %d", id, at), func() { k.Dot8(make([]int8, 64), rows8, ids, make([]int32, 9)) })
				panics(fmt.Sprintf("float %d at %d", id, at), func() { k.Dot16(make([]float32, 8), rowsOf16, ids, make([]float32, 9)) })
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	rows8 := Rows8{[][]int8{make([]int8, 64)}, 0, 64}
	rowsOf16 := Rows16{[][]int16{make([]int16, 8)}, 0, 8}
	run8, run16 := make([]int8, 128), make([]int16, 16)
	for _, k := range All() {
		allocs := testing.AllocsPerRun(10, func() {
			var (
				q8    [64]int8
				q32   [8]float32
				ids   [2]uint32
				out8  [2]int32
				out32 [2]float32
			)
			k.Scan8(q8[:], run8, out8[:])
			k.Dot8(q8[:], rows8, ids[:], out8[:])
			k.Scan16(q32[:], run16, out32[:])
			k.Dot16(q32[:], rowsOf16, ids[:], out32[:])
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations, the buffers of the caller included", k.Name, allocs)
		}
	}
}

func TestAligned(t *testing.T) {
	for n := range 100 {
		a, b := Aligned[int8](n), Aligned[float32](n)
		if len(a) != n || len(b) != n || cap(a) != n || cap(b) != n {
			t.Fatalf("%d elements: %d and %d", n, len(a), len(b))
		}
		if n > 0 && uintptr(unsafe.Pointer(&a[0]))%line+uintptr(unsafe.Pointer(&b[0]))%line != 0 {
			t.Fatalf("%d elements at %p and %p", n, &a[0], &b[0])
		}
	}
}

func TestStrides(t *testing.T) {
	for dim := 1; dim < 1000; dim++ {
		a, b := Stride8(dim), Stride16(dim)
		if a%Lanes8 != 0 || a < dim || a-dim >= Lanes8 || b%Lanes16 != 0 || b < dim+scaleCodes || b-dim-scaleCodes >= Lanes16 {
			t.Fatalf("%d elements: strides %d and %d", dim, a, b)
		}
	}
}

// TestNames has a portable implementation last, and each one once.
func TestNames(t *testing.T) {
	seen := make(map[string]bool)
	for _, k := range All() {
		if seen[k.Name] {
			t.Errorf("%s twice", k.Name)
		}
		seen[k.Name] = true
	}
	if all := All(); all[0] != Best() || all[len(all)-1].Name != "portable" {
		t.Errorf("best is %s, last %s", Best().Name, all[len(all)-1].Name)
	}
	t.Logf("this machine has %v", slices.Sorted(maps.Keys(seen)))
}
