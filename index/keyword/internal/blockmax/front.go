package blockmax

import "math/bits"

// Lengths are stored in a byte, rounded down by less than a sixteenth: exact below 64, then sixteen
// steps for each power of two. Shorter texts score more, so the bounds stay upper bounds.

const (
	exactLengths = 64
	steps        = 16
	lastLength   = 255
)

func lengthCode(n uint32) byte {
	if n < exactLengths {
		return byte(n)
	}
	power := bits.Len32(n) - 7 // 0 for 64
	code := exactLengths + steps*power + int(n>>(power+2))%steps
	return byte(min(code, lastLength)) //nolint:gosec // not negative
}

func lengthOf(code byte) uint32 {
	if code < exactLengths {
		return uint32(code)
	}
	power := (code - exactLengths) / steps
	return (steps + uint32(code)%steps) << (power + 2)
}

// Frequencies are stored in a byte, in fifths for chunks, rounded up. overflow stands for all
// higher values.
const (
	overflow = 255
	fifths   = 5
)

// front collects pairs of frequency and length, and keeps the Pareto front: the highest frequencies
// at the shortest lengths.
type front struct {
	least [overflow + 1]uint16 // by frequency: the code of the shortest length, plus 1
	most  int
}

func (f *front) add(tf uint32, length uint32) {
	i := min(tf, overflow)
	code := uint16(lengthCode(length)) + 1
	if f.least[i] == 0 || code < f.least[i] {
		f.least[i] = code
	}
	f.most = max(f.most, int(i))
}

// maxPairs is the maximum number of front pairs of texts, and of chunks, in a block.
const maxPairs = 15

// take appends the pairs, most frequent first, returns their number, and resets the front. If there
// are too many, the last pair covers the remaining ones.
func (f *front) take(to []byte) ([]byte, int) {
	n := 0
	shortest := uint16(lastLength + 2)
	for tf := f.most; tf >= 0; tf-- {
		code := f.least[tf]
		if code == 0 || code >= shortest {
			continue
		}
		shortest = code
		if n < maxPairs {
			to = append(to, byte(tf), byte(code-1))
			n++
		} else {
			to[len(to)-1] = byte(code - 1)
		}
	}
	clear(f.least[:f.most+1])
	f.most = 0
	return to, n
}
