package screen

import (
	"strings"
	"unicode/utf8"
)

// How many invisible characters are no accident: in a row, and in all where they spell
// something in two or more kinds. Pages have single ones that nobody has typed.
const (
	leastHidden  = 3
	leastSpelled = 16
)

// hidden looks for characters that a model reads and a person does not see: tags, runs
// of what has no width, selectors of variants that select nothing, and overrides of the
// direction of writing, which show another text than there is.
func hidden(text string) (reason string, ok bool) {
	if strings.ContainsAny(text, "\u202d\u202e") {
		return "hidden characters: direction of writing", true
	}
	s := unseen{text: text}
	row, end, odd, all := 0, -1, 0, 0
	kinds := make(map[rune]bool)
	for at := s.next(0); at < len(text); at = s.next(end) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r >= 0xE0000 && r <= lastTag {
			return "hidden characters: tags", true
		}
		if at != end {
			row = 0
		}
		end = at + size
		if r == '\u00ad' || r == '\ufeff' && at == 0 {
			continue // hyphens of pages, the mark of a file
		}
		row++
		all++
		kinds[r] = true
		if selects(r) || r >= 0x2061 && r <= 0x2064 || r >= 0x206A && r <= 0x206F {
			odd++
		}
		if row >= leastHidden || odd >= leastHidden || all >= leastSpelled && len(kinds) > 1 {
			return "hidden characters: zero width", true
		}
	}
	return "", false
}

// selects reports whether r selects a variant of the character before it.
func selects(r rune) bool { return r >= 0xE0100 && r <= 0xE01EF || r >= 0xFE00 && r <= 0xFE0D }

// AsItLooks returns text as a reader sees it: without what is invisible, and in the small
// Latin letters that others are, or look like.
func AsItLooks(text string) string {
	text, _ = Visible(text)
	return strings.Map(folded, text)
}

// folded returns the small Latin letter that r is or looks like, without accents; r
// itself if there is none. Text in disguise is read as it looks.
func folded(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return r
	case r >= 0xFF01 && r <= 0xFF5E: // full width
		return folded(r - 0xFEE0)
	case r >= 0x1D400 && r < 0x1D6A4: // mathematical alphabets, 26 capitals and small letters each
		return 'a' + (r-0x1D400)%26
	}
	for _, l := range likenesses {
		if strings.ContainsRune(l.signs, r) {
			return l.letter
		}
	}
	return r
}

// likenesses are letters with accents, and those of other scripts that look alike.
var likenesses = []struct {
	letter rune
	signs  string
}{
	{'a', "áàâäãåāăąÁÀÂÄÃÅαаАΑ"},
	{'e', "éèêëēėęěÉÈÊËеЕεΕ"},
	{'i', "íìîïīıÍÌÎÏіІιΙ"},
	{'o', "óòôöõøōÓÒÔÖÕØоОοΟ"},
	{'u', "úùûüūůÚÙÛÜυ"},
	{'c', "çćčÇсСϲ"},
	{'n', "ñńňÑ"},
	{'s', "śšşѕЅ"},
	{'y', "ýÿуУΥ"},
	{'z', "źżžΖ"},
	{'p', "рРρΡ"},
	{'x', "хХχΧ"},
	{'h', "һНΗ"},
	{'k', "кКκΚ"},
	{'m', "мМΜ"},
	{'t', "тТτΤ"},
	{'b', "ВΒ"},
	{'j', "јЈ"},
	{'d', "ԁ"},
	{'v', "νѵ"},
	{'w', "ԝ"},
	{'l', "łӏ"},
	{'g', "ɡ"},
}
