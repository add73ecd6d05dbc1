package embed

import "unicode/utf8"

const (
	minGram = 3
	maxGram = 5
	// maxGramRunes bounds the part of a word that n-grams are taken from. Longer
	// words are keys and encoded data, whose parts say nothing.
	maxGramRunes = 48
)

// Seeds keep a word and an n-gram of the same letters apart.
const (
	seedWord uint64 = 14695981039346656037 // FNV-1a's offset basis
	seedGram uint64 = seedWord ^ 0x9e3779b97f4a7c15
)

// hashBytes is 64-bit FNV-1a, finished by mix.
func hashBytes(seed uint64, b []byte) uint64 {
	for _, c := range b {
		seed = fnv(seed, c)
	}
	return mix(seed)
}

// fnv is one step of FNV-1a.
func fnv(h uint64, c byte) uint64 { return (h ^ uint64(c)) * 1099511628211 }

// mix is MurmurHash3's finalizer: FNV-1a alone leaves its high bits poor for
// short words.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// appendGrams appends the hashes of the n-grams, 3 to 5 characters each, of word
// between an opening and a closing mark, which tell its ends from its middle.
func appendGrams(grams []uint64, word []byte) []uint64 {
	var padded [maxGramRunes*utf8.UTFMax + 2]byte
	var starts [maxGramRunes + 3]int // of each character, and the end
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
