package atomicfile

import (
	"fmt"
	"io"
	"math"
	"unsafe"
)

// cacheLine is the alignment of the bytes that Contents returns.
const cacheLine = 64

// Contents returns the bytes of a file, aligned to a cache line, and a function that releases them.
// A file of the operating system is memory-mapped where possible. Reading mapped bytes faults if
// the file has been truncated.
//
// The bytes may be modified only if writable is true. Modifications stay in memory and never reach
// the file. On Windows a writable file is read instead of mapped, because a mapped file cannot be
// replaced there.
func Contents(f File, size int64, writable bool) (b []byte, release func() error, err error) {
	if b, release, ok, err := mapFile(f, size, writable); ok || err != nil {
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
