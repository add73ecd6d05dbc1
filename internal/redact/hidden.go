package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Numbers of invisible characters above which they are deliberate: in one run, and in total if they
// spell something in two or more kinds. Web pages contain stray ones.
const (
	leastHidden  = 3
	leastSpelled = 16
)

// hidden looks for characters that a model reads and a person does not see: tag characters, runs of
// zero-width characters, variation selectors without effect, and direction overrides, which display
// a different text.
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
			continue // soft hyphens, byte order mark
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

// selects reports whether r is a variation selector.
func selects(r rune) bool { return r >= 0xE0100 && r <= 0xE01EF || r >= 0xFE00 && r <= 0xFE0D }

// FoldLookalikes returns text as a person sees it: without invisible characters, and with letters and
// their look-alikes folded to small Latin letters.
func FoldLookalikes(text string) string {
	text, _ = Visible(text)
	return strings.Map(folded, text)
}

// folded returns the small Latin letter that r is or resembles, without accents, or else the lower
// case of r.
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
	case unspaced(r):
		return r
	}
	if l, ok := likeness[r]; ok {
		return l
	}
	for _, row := range alphabets {
		if r >= row && r < row+26 {
			return 'a' + r - row
		}
	}
	return unicode.ToLower(r)
}

// alphabets holds the first letters of the circled, squared, parenthesized and flag alphabets.
var alphabets = [...]rune{0x249C, 0x24B6, 0x24D0, 0x1F110, 0x1F130, 0x1F150, 0x1F170, 0x1F1E6}

// likeness maps each look-alike to its letter.
var likeness = func() map[rune]rune {
	of := make(map[rune]rune)
	for _, l := range likenesses {
		for _, r := range l.signs {
			of[r] = l.letter
		}
	}
	for i, r := range []rune("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡ") { // small capitals
		of[r] = 'a' + rune(i)
	}
	of['ʏ'], of['ᴢ'] = 'y', 'z'
	return of
}()

// likenesses lists accented letters and look-alikes of other scripts, in either case; both cases
// fold alike.
var likenesses = []struct {
	letter rune
	signs  string
}{
	{'a', "áàâäãåāăąÁÀÂÄÃÅαаАΑ"},
	{'e', "éèêëēėęěÉÈÊËеЕёЁεΕ"},
	{'i', "íìîïīıÍÌÎÏіІιΙ"},
	{'o', "óòôöõøōÓÒÔÖÕØоОοΟօ"},
	{'u', "úùûüūůÚÙÛÜυս"},
	{'c', "çćčÇсСϲ"},
	{'n', "ñńňÑΝ"},
	{'s', "śšşѕЅ"},
	{'y', "ýÿуУΥ"},
	{'z', "źżžΖ"},
	{'p', "рРρΡ"},
	{'x', "хХχΧ"},
	{'h', "һнНΗ"},
	{'k', "кКκΚ"},
	{'m', "мМΜ"},
	{'t', "тТτΤ"},
	{'b', "вВΒ"},
	{'j', "јЈ"},
	{'d', "ԁ"},
	{'v', "νѵ"},
	{'w', "ԝ"},
	{'l', "łӏ"},
	{'g', "ɡ"},
	{'q', "ԛ"},
	{'f', "ϝ"},
}
