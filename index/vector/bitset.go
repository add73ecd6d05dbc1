package vector

import (
	"iter"
	"math/bits"
	"slices"
)

// bitset is a set of row numbers; nil is empty.
type bitset []uint64

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(i&63)&1 != 0 }

func (b bitset) set(i int) { b[i>>6] |= 1 << (i & 63) }

// word returns the bits of a block of 64 rows.
func (b bitset) word(block int) uint64 {
	if block >= len(b) {
		return 0
	}
	return b[block]
}

func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// clone returns a copy with room for n rows.
func (b bitset) clone(n int) bitset {
	if b == nil {
		return make(bitset, (n+63)/64)
	}
	return slices.Clone(b)
}

// minus iterates over the members of b that are not in other.
func (b bitset) minus(other bitset) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for w &^= other.word(i); w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
