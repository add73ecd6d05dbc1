package docs

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// A sketch is a small fingerprint for finding nearly equal texts: one-permutation MinHash (Li,
// Owen, Zhang, "One Permutation Hashing", 2012) over runs of shingleWords words. The share of equal
// bins of two sketches estimates the share of runs that the texts have in common (Jaccard), with a
// standard error of 4 % at 0.9.
const (
	sketchBins   = 64
	sketchBytes  = 2 * sketchBins
	shingleWords = 4
)

// Sketch returns the sketch of a text: 64 bins of 16 bits, 128 bytes. It returns nil for a text
// with fewer than 16 words, which is too short to compare.
func Sketch(text string) []byte {
	var bins [sketchBins]uint64
	for i := range bins {
		bins[i] = emptyBin
	}
	n := shingles(text, func(h uint64) {
		bin := h % sketchBins
		bins[bin] = min(bins[bin], h/sketchBins)
	})
	if n < sketchBins/shingleWords-shingleWords+1 {
		return nil
	}
	densify(&bins)
	out := make([]byte, 0, sketchBytes)
	for _, b := range bins {
		out = binary.LittleEndian.AppendUint16(out, uint16(mix(b))) //nolint:gosec // its lowest bits
	}
	return out
}

const emptyBin = ^uint64(0)

// densify fills empty bins from others, which it finds by a fixed sequence of guesses that is the
// same for every text (Shrivastava, "Optimal Densification for Fast and Accurate Minwise Hashing",
// 2017). At least one bin must not be empty.
func densify(bins *[sketchBins]uint64) {
	from := *bins
	for i := range bins {
		for try := uint64(1); bins[i] == emptyBin; try++ {
			bins[i] = from[mix(uint64(i)<<32|try)%sketchBins] //nolint:gosec // not negative
		}
	}
}

// shingles calls fn with a hash of each run of words and returns the number of runs. A word is a
// run of letters and digits; case does not matter. In scripts without spaces, each character is a
// word.
func shingles(text string, fn func(uint64)) (n int) {
	var last [shingleWords]uint64
	words := 0
	word := uint64(0)
	end := func() {
		if word == 0 {
			return
		}
		last[words%shingleWords] = word
		if words++; words >= shingleWords {
			h := uint64(0)
			for k := range shingleWords {
				h = mix(h ^ last[(words+k)%shingleWords])
			}
			fn(h)
			n++
		}
		word = 0
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			word = word*31 + uint64(r)
		case 'A' <= r && r <= 'Z':
			word = word*31 + uint64(r) + 'a' - 'A'
		case r < utf8.RuneSelf:
			end()
		case r >= 0x2E80 && unicode.IsLetter(r):
			end()
			word = uint64(r)
			end()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			word = word*31 + uint64(unicode.ToLower(r)) //nolint:gosec // not negative
		default:
			end()
		}
	}
	end()
	return n
}

// mix is the finalizer of SplitMix64.
func mix(h uint64) uint64 {
	h += 0x9E3779B97F4A7C15
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return h ^ h>>31
}

// Similarity estimates from two sketches the share of word runs that both texts contain: 1 for
// equal texts, about 0 for unrelated ones. It returns 0 if a sketch is missing.
func Similarity(a, b []byte) float64 {
	if len(a) != sketchBytes || len(b) != sketchBytes {
		return 0
	}
	same := 0
	for i := 0; i < sketchBytes; i += 2 {
		if a[i] == b[i] && a[i+1] == b[i+1] {
			same++
		}
	}
	return float64(same) / sketchBins
}
