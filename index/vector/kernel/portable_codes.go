package kernel

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Two products of codes take one 64-bit multiplication. With all elements made unsigned by flipping
// their top bits,
//
//	(x₀ + x₁·2³²) · (y₁ + y₀·2³²) = x₀·y₁ + (x₀·y₀ + x₁·y₁)·2³²  (mod 2⁶⁴)
//
// The lower halves of a whole row add up to less than 2³²: a row has at most 2¹⁶ elements,
// hence half as many of these terms, each below 2¹⁶. Nothing is carried into the upper halves,
// whose sum is the product. Flipping the bits yields (x+128)·(y+128) = x·y + 128·y + 128·x +
// 2¹⁴. The 128·y is the bias of row y; the other two terms are the same for all rows.

const (
	portableBias = 128
	topBits      = 0x8080808080808080
	twoCodes     = 0x000000ff000000ff // of the eight codes in a word, the two that are four apart
)

// codesBase returns the part of the codes4 products that depends on the query alone.
func codesBase(q []int8) (base uint32) {
	for _, x := range q {
		base += portableBias * (uint32(int32(x)) + portableBias) //nolint:gosec // modulo 2³²
	}
	return base
}

// codes4 returns the biased products of q with four rows of its length, a multiple
// of 8.
func codes4(q, a, b, c, d []int8, base uint32) [4]int32 {
	n := len(q)
	x, ra, rb, rc, rd := bytesOf(q, n), bytesOf(a, n), bytesOf(b, n), bytesOf(c, n), bytesOf(d, n)
	var pa, pb, pc, pd uint64
	for i := 0; i+8 <= n; i += 8 {
		w := word(x[i : i+8])
		x0, x1, x2, x3 := w&twoCodes, w>>8&twoCodes, w>>16&twoCodes, w>>24&twoCodes
		w = swapped(ra[i : i+8])
		pa += x0*(w&twoCodes) + x1*(w>>8&twoCodes) + x2*(w>>16&twoCodes) + x3*(w>>24&twoCodes)
		w = swapped(rb[i : i+8])
		pb += x0*(w&twoCodes) + x1*(w>>8&twoCodes) + x2*(w>>16&twoCodes) + x3*(w>>24&twoCodes)
		w = swapped(rc[i : i+8])
		pc += x0*(w&twoCodes) + x1*(w>>8&twoCodes) + x2*(w>>16&twoCodes) + x3*(w>>24&twoCodes)
		w = swapped(rd[i : i+8])
		pd += x0*(w&twoCodes) + x1*(w>>8&twoCodes) + x2*(w>>16&twoCodes) + x3*(w>>24&twoCodes)
	}
	return [4]int32{upper(pa, base), upper(pb, base), upper(pc, base), upper(pd, base)}
}

// word returns eight codes made unsigned. Byte order does not matter as long as it is the same for
// rows and queries.
func word(b []byte) uint64 { return binary.NativeEndian.Uint64(b) ^ topBits }

// swapped is word with its halves exchanged.
func swapped(b []byte) uint64 { return bits.RotateLeft64(word(b), 32) }

func upper(p uint64, base uint32) int32 {
	return int32(uint32(p>>32) - base) //nolint:gosec // modulo 2³²
}

// bytesOf returns the first n codes as bytes, without a copy.
func bytesOf(codes []int8, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(codes[:n]))), n)
}
