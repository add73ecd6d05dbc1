package blockmax

import "encoding/binary"

// padding is the number of bytes that must follow packed numbers, which are read eight bytes at a
// time.
const padding = 8

// pack appends numbers below 1<<width, lowest bits first, and zero-fills the last byte.
func pack(to []byte, numbers []uint32, width uint) []byte {
	var word uint64
	var have uint
	for _, n := range numbers {
		word |= uint64(n) << have
		for have += width; have >= 8; have -= 8 {
			to = append(to, byte(word))
			word >>= 8
		}
	}
	if have > 0 {
		to = append(to, byte(word))
	}
	return to
}

// packed returns the size of n packed numbers in bytes.
func packed(n int, width uint) int { return (n*int(width) + 7) / 8 } //nolint:gosec // at most 32

// at returns the packed number at index i, which has at most 32 bits.
func at(data []byte, i int, width uint) uint32 {
	bit := uint(i) * width //nolint:gosec // not negative
	return uint32(binary.LittleEndian.Uint64(data[bit>>3:])>>(bit&7)) & uint32(1<<width-1)
}

// ascend unpacks ascending numbers, stored as gaps minus one, starting from first.
func ascend(to []uint32, data []byte, width uint, first uint32) {
	if width == 0 {
		for i := range to {
			to[i] = first + uint32(i) //nolint:gosec // below blockTexts
		}
		return
	}
	mask := uint32(1<<width - 1)
	bit := uint(0)
	for i := range to {
		first += uint32(binary.LittleEndian.Uint64(data[bit>>3:])>>(bit&7)) & mask
		to[i] = first
		first++
		bit += width
	}
}
