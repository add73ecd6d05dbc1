package atomicfile

import (
	"fmt"
	"io"
	"math"
	"unsafe"
)

// cacheLine is where what is read begins, as what is mapped does.
const cacheLine = 64

// Contents returns the bytes of a file, which begin at a cache line, and a function
// to let go of them. A file of the operating system is mapped where that can be:
// then reading its bytes fails, by a fault, where the file no longer has them.
//
// Bytes that are not writable must not be written. Bytes that are stay what they
// were written to be in memory alone; on Windows they are read, as a file that is
// mapped cannot be replaced there.
func Contents(f File, size int64, writable bool) (b []byte, release func() error, err error) {
	if b, release, ok, err := mapped(f, size, writable); ok || err != nil {
		return b, release, err
	}
	if size > math.MaxInt-2*cacheLine {
		return nil, nil, fmt.Errorf("a file of %d bytes does not fit into memory", size)
	}
	words := make([]uint64, (size+cacheLine+7)/8)
	start := unsafe.Pointer(unsafe.SliceData(words))
	skip := -uintptr(start) & (cacheLine - 1)
	b = unsafe.Slice((*byte)(start), 8*len(words))[skip:][:size]
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), b); err != nil {
		return nil, nil, err
	}
	return b, func() error { return nil }, nil
}
