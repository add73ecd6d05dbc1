package kernel

import "unsafe"

// line is the length of a cache line in bytes, the alignment of rows.
const line = 64

// Aligned returns n zeros at an address that is a multiple of 64 bytes.
func Aligned[T int8 | int16 | uint32 | int32 | float32](n int) []T {
	var zero T
	b := make([]T, n+line/int(unsafe.Sizeof(zero))-1)
	past := uintptr(unsafe.Pointer(unsafe.SliceData(b))) % line
	at := int((line-past)%line) / int(unsafe.Sizeof(zero)) //nolint:gosec // below 64
	return b[at : at+n : at+n]
}
