package analysis

import "bytes"

// porter stems a word of lower-case ASCII letters in place. It implements M. F. Porter, "An
// algorithm for suffix stripping", Program 14, 1980, with the two departures of Porter's own later
// implementations (bli for abli, and logi). It runs once per word of every text; the available
// libraries allocate and take several times as long.
func porter(b []byte) []byte {
	if len(b) <= 2 {
		return b
	}
	b = porter1ab(b)
	b = porter1c(b)
	b = replaceEnding(b, step2[penult(b)], 0)
	b = replaceEnding(b, step3[last(b)], 0)
	b = porter4(b)
	return porter5(b)
}

func last(b []byte) byte { return b[len(b)-1] }

func penult(b []byte) byte {
	if len(b) < 2 {
		return 0
	}
	return b[len(b)-2]
}

// consonant reports whether b[i] is a consonant: a letter other than a, e, i, o, u, and other than
// a y after a consonant.
func consonant(b []byte, i int) bool {
	switch b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !consonantBeforeY(b, i-1)
	}
	return true
}

// consonantBeforeY walks back over a run of y instead of recursing.
func consonantBeforeY(b []byte, i int) bool {
	start := i
	for start > 0 && b[start] == 'y' {
		start--
	}
	var c bool
	switch b[start] {
	case 'a', 'e', 'i', 'o', 'u':
	default:
		c = true // a consonant, or a y that starts the word
	}
	if (i-start)%2 == 1 {
		return !c
	}
	return c
}

// measure counts the sequences of vowels followed by consonants in b. It stops at two, the highest
// number that a rule compares with.
func measure(b []byte) int {
	n, vowel := 0, false
	for i := range b {
		c := consonant(b, i)
		if c && vowel {
			if n++; n == 2 {
				return n
			}
		}
		vowel = !c
	}
	return n
}

func hasVowel(b []byte) bool {
	for i := range b {
		if !consonant(b, i) {
			return true
		}
	}
	return false
}

func doubled(b []byte) bool {
	n := len(b)
	return n >= 2 && b[n-1] == b[n-2] && consonant(b, n-1)
}

// short reports whether b ends in consonant, vowel, consonant, the last one not w, x or y. Such
// stems take an e, as in hop(e).
func short(b []byte) bool {
	n := len(b)
	if n < 3 || !consonant(b, n-1) || consonant(b, n-2) || !consonant(b, n-3) {
		return false
	}
	c := b[n-1]
	return c != 'w' && c != 'x' && c != 'y'
}

// porter1ab removes plurals and the endings -ed and -ing.
func porter1ab(b []byte) []byte {
	n := len(b)
	if b[n-1] == 's' {
		switch {
		case ends(b, "sses"), ends(b, "ies"):
			b = b[:n-2]
		case b[n-2] != 's':
			b = b[:n-1]
		}
	}
	n = len(b)
	switch {
	case ends(b, "eed"):
		if measure(b[:n-3]) > 0 {
			b = b[:n-1]
		}
	case ends(b, "ed") && hasVowel(b[:n-2]):
		b = mendStem(b[:n-2])
	case ends(b, "ing") && hasVowel(b[:n-3]):
		b = mendStem(b[:n-3])
	}
	return b
}

// mendStem repairs a stem after -ed or -ing was removed.
func mendStem(b []byte) []byte {
	switch {
	case ends(b, "at"), ends(b, "bl"), ends(b, "iz"):
		return append(b, 'e')
	case doubled(b):
		if c := b[len(b)-1]; c != 'l' && c != 's' && c != 'z' {
			return b[:len(b)-1]
		}
	case measure(b) == 1 && short(b):
		return append(b, 'e')
	}
	return b
}

func porter1c(b []byte) []byte {
	n := len(b)
	if b[n-1] == 'y' && hasVowel(b[:n-1]) {
		b[n-1] = 'i'
	}
	return b
}

// ending is a rule that replaces from with to.
type ending struct{ from, to string }

// step2 and step4 are indexed by the second last letter of the ending, step3 by the last.
var (
	step2 = [256][]ending{
		'a': {{"ational", "ate"}, {"tional", "tion"}},
		'c': {{"enci", "ence"}, {"anci", "ance"}},
		'e': {{"izer", "ize"}},
		'l': {{"bli", "ble"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}},
		'o': {{"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}},
		's': {{"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}},
		't': {{"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}},
		'g': {{"logi", "log"}},
	}
	step3 = [256][]ending{
		'e': {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}},
		'i': {{"iciti", "ic"}},
		'l': {{"ical", "ic"}, {"ful", ""}},
		's': {{"ness", ""}},
	}
	step4 = [256][]ending{
		'a': {{from: "al"}},
		'c': {{from: "ance"}, {from: "ence"}},
		'e': {{from: "er"}},
		'i': {{from: "ic"}},
		'l': {{from: "able"}, {from: "ible"}},
		'n': {{from: "ant"}, {from: "ement"}, {from: "ment"}, {from: "ent"}},
		'o': {{from: "ion"}, {from: "ou"}},
		's': {{from: "ism"}},
		't': {{from: "ate"}, {from: "iti"}},
		'u': {{from: "ous"}},
		'v': {{from: "ive"}},
		'z': {{from: "ize"}},
	}
)

// replaceEnding applies the first rule with an ending of b, if the stem before it measures more
// than m.
func replaceEnding(b []byte, rules []ending, m int) []byte {
	for _, r := range rules {
		if !ends(b, r.from) {
			continue
		}
		if s := b[:len(b)-len(r.from)]; measure(s) > m {
			return append(s, r.to...)
		}
		return b
	}
	return b
}

func porter4(b []byte) []byte {
	if ends(b, "ion") && !ends(b, "sion") && !ends(b, "tion") {
		return b
	}
	return replaceEnding(b, step4[penult(b)], 1)
}

// porter5 drops a final e and one l of a final ll.
func porter5(b []byte) []byte {
	n := len(b)
	if b[n-1] == 'e' {
		s := b[:n-1]
		if m := measure(s); m > 1 || m == 1 && !short(s) {
			b = s
		}
	}
	if n = len(b); b[n-1] == 'l' && doubled(b) && measure(b[:n-1]) > 1 {
		b = b[:n-1]
	}
	return b
}

func ends(b []byte, s string) bool {
	return len(b) >= len(s) && bytes.Equal(b[len(b)-len(s):], []byte(s))
}
