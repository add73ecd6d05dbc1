package screen

import (
	"strings"
	"unicode/utf8"
)

// leastHidden is how many invisible characters in a row are no accident. Scripts and
// emoji need single ones.
const leastHidden = 3

// hidden looks for characters that a model reads and a person does not see: tags,
// runs of zero width, selectors of variants in rows, and overrides of the direction
// of writing, which show another text than there is.
func hidden(text string) (reason string, ok bool) {
	invisible := 0
	flag := false
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			invisible = 0
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r == '\U0001F3F4': // the black flag, which tags make that of a region
			flag, invisible = true, 0
			continue
		case r >= 0xE0000 && r <= 0xE007F:
			if !flag {
				return "hidden characters: tags", true
			}
			continue
		case r == '\u202d' || r == '\u202e':
			return "hidden characters: direction of writing", true
		case zeroWidth(r), r >= 0xE0100 && r <= 0xE01EF, r >= 0xFE00 && r <= 0xFE0E:
			if invisible++; invisible >= leastHidden {
				return "hidden characters: zero width", true
			}
		default:
			invisible = 0
		}
		flag = false
	}
	return "", false
}

// zeroWidth reports whether r takes no room. A mark of the byte order at the start
// of a file and a soft hyphen count as well.
func zeroWidth(r rune) bool {
	switch r {
	case '\u200b', '\u200c', '\u200d', '\u2060', '\u2061', '\u2062', '\u2063', '\u2064', '\ufeff', '\u00ad', '\u180e', '\u034f':
		return true
	}
	return false
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
