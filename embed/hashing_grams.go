package embed

import "unicode/utf8"

const (
	minGram = 3
	maxGram = 5
	// maxGramRunes is the number of characters of a word from which n-grams are taken. Longer words
	// are keys and encoded data, and their parts have no meaning.
	maxGramRunes = 48
)

// Different seeds distinguish a word from an n-gram of the same letters.
const (
	seedWord uint64 = 14695981039346656037 // FNV-1a's offset basis
	seedGram uint64 = seedWord ^ 0x9e3779b97f4a7c15
)

// hashBytes returns the 64-bit FNV-1a hash of b, finalized with mix.
func hashBytes(seed uint64, b []byte) uint64 {
	for _, c := range b {
		seed = fnv(seed, c)
	}
	return mix(seed)
}

// fnv is one step of FNV-1a.
func fnv(h uint64, c byte) uint64 { return (h ^ uint64(c)) * 1099511628211 }

// mix is MurmurHash3's finalizer. The high bits of FNV-1a alone are weak for short words.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// appendGrams appends the hashes of the word's n-grams of 3 to 5 characters. The word is enclosed
// in an opening and a closing mark, so that n-grams at its ends differ from those inside.
func appendGrams(grams []uint64, word []byte) []uint64 {
	var padded [maxGramRunes*utf8.UTFMax + 2]byte
	var starts [maxGramRunes + 3]int // start of each character, and the end
	padded[0] = '<'
	n, end := 1, 1
	for len(word) > 0 && n <= maxGramRunes {
		_, size := utf8.DecodeRune(word)
		starts[n] = end
		end += copy(padded[end:], word[:size])
		word = word[size:]
		n++
	}
	starts[n] = end
	padded[end] = '>'
	n++
	starts[n] = end + 1
	for first := 0; first+minGram <= n; first++ {
		h, at := seedGram, starts[first]
		for last := first + 1; last <= min(first+maxGram, n); last++ {
			for ; at < starts[last]; at++ {
				h = fnv(h, padded[at])
			}
			if last-first >= minGram {
				grams = append(grams, mix(h))
			}
		}
	}
	return grams
}
