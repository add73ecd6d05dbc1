package kernel

import (
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// fenced returns n zeros that end where a page begins that cannot be read.
func fenced[T int8 | int16 | float32](t *testing.T, n int) (rows []T, past []T) {
	t.Helper()
	var zero T
	page := os.Getpagesize()
	size := (n*int(unsafe.Sizeof(zero)) + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	if err := syscall.Mprotect(b[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	all := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
	end := size / int(unsafe.Sizeof(zero))
	return all[end-n : end : end], all[end-n:]
}

// TestNothingPastTheRows has the query and the last row each at the end of what
// can be read.
func TestNothingPastTheRows(t *testing.T) {
	for _, k := range All() {
		for n := 64; n <= 9*64; n += 64 {
			for count := 1; count <= 9; count++ {
				q, _ := fenced[int8](t, n)
				run, _ := fenced[int8](t, n*count)
				out := make([]int32, count)
				k.Scan8(q, run, out)
				k.Dot8(q, Rows8{[][]int8{run}, 4, n}, descending(count), out)
			}
		}
		for n := 8; n <= 9*8; n += 8 {
			for count := 1; count <= 9; count++ {
				q, _ := fenced[float32](t, n)
				run, _ := fenced[int16](t, n*count)
				out := make([]float32, count)
				k.Scan16(q, run, out)
				k.Dot16(q, Rows16{[][]int16{run}, 4, n}, descending(count), out)
			}
		}
	}
}

func descending(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	slices.Reverse(ids)
	return ids
}

// TestFaultsArePanics has rows whose memory fails, as that of a mapped file does
// when the disk fails: it is a panic, which a search can survive.
func TestFaultsArePanics(t *testing.T) {
	for _, k := range All() {
		faults := func(name string, f func()) {
			t.Helper()
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				r := recover()
				if _, ok := r.(interface{ Addr() uintptr }); !ok {
					t.Errorf("%s: %s: %v instead of a fault", k.Name, name, r)
				}
			}()
			f()
		}
		_, past8 := fenced[int8](t, 64)
		faults("Scan8", func() { k.Scan8(make([]int8, 64), past8[:128], make([]int32, 2)) })
		faults("Dot8", func() {
			k.Dot8(make([]int8, 64), Rows8{[][]int8{past8[:128]}, 1, 64}, []uint32{0, 1}, make([]int32, 2))
		})
		_, past16 := fenced[int16](t, 8)
		faults("Scan16", func() { k.Scan16(make([]float32, 8), past16[:16], make([]float32, 2)) })
		faults("Dot16", func() {
			k.Dot16(make([]float32, 8), Rows16{[][]int16{past16[:16]}, 1, 8}, []uint32{0, 1}, make([]float32, 2))
		})
	}
}
