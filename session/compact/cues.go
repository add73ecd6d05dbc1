package compact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cue is a set of hints that a word gives about its sentence.
type cue uint8

const (
	decides cue = 1 << iota
	leavesOpen
)

// cueWords maps English, German, French and Spanish words to the kind of sentence that they
// indicate. They are single words, so that a sentence is scanned once.
var cueWords = func() map[string]cue {
	out := make(map[string]cue)
	for c, words := range map[cue]string{
		decides: `decided decide decision chose chosen choose agreed instead settled switched switching adopt adopted
			entschieden beschlossen stattdessen vereinbart gewählt
			décidé choisi convenu plutôt
			decidido elegido acordado`,
		leavesOpen: `todo fixme unclear unsure unresolved undecided pending remaining
			offen unklar ausstehend
			incertain
			pendiente`,
	} {
		for w := range strings.FieldsSeq(words) {
			out[w] |= c
		}
	}
	return out
}()

// cueLengths has, by first byte, a bit for each length in bytes of a cue word.
var cueLengths = func() (out [256]uint32) {
	for w := range cueWords {
		out[w[0]] |= 1 << len(w)
	}
	return out
}()

// cuesOf returns the cues of the words in a text. An apostrophe counts as part of a word, so that
// the start of a quotation is not mistaken for another word.
func cuesOf(sentence string) cue {
	var found cue
	var word [32]byte
	n := 0
	end := func() {
		if 0 < n && n < len(word) && cueLengths[word[0]]&(1<<n) != 0 {
			found |= cueWords[string(word[:n])]
		}
		n = 0
	}
	for _, r := range sentence {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r == '’':
			r = '\''
		case r >= utf8.RuneSelf:
			if !unicode.IsLetter(r) {
				end()
				continue
			}
			r = unicode.ToLower(r)
		case r != '\'' && (r < 'a' || 'z' < r):
			end()
			continue
		}
		if (n > 0 || r != '\'') && n+utf8.RuneLen(r) <= len(word) {
			n += utf8.EncodeRune(word[n:], r)
		}
	}
	end()
	return found
}
