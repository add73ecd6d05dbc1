package analysis

import (
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// Settled letters must be in NFKC, alone and next to any other settled letter.
func TestSettled(t *testing.T) {
	var all []rune
	for r := rune(0); r <= 0x10ffff; r++ {
		if settled(r) {
			all = append(all, r)
			if !norm.NFKC.IsNormalString(string(r)) {
				t.Errorf("%q (%U) is not in NFKC", r, r)
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := string(rapid.SliceOf(rapid.SampledFrom(all)).Draw(rt, "s"))
		if !norm.NFKC.IsNormalString(s) {
			rt.Errorf("%q is not in NFKC", s)
		}
	})
}
