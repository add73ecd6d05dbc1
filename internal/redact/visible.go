package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns text without characters that a model reads and a person does not see, and the
// number removed: tag characters, zero-width characters, variation selectors, fillers. A single one
// stays where a script or an emoji needs it, such as the joiners of Persian, of Devanagari and of
// family emoji. Direction marks stay, too.
func Visible(text string) (out string, removed int) {
	s := unseen{text: text}
	at := s.next(0)
	if at == len(text) {
		return text, 0
	}
	var b strings.Builder
	b.Grow(len(text))
	copied := 0
	for ; at < len(text); at = s.next(at) {
		b.WriteString(text[copied:at])
		at += runeLen(text, at)
		copied = at
		removed++
	}
	b.WriteString(text[copied:])
	return b.String(), removed
}

// unseen iterates over the invisible characters of a text.
type unseen struct {
	text string
	prev rune // the last visible character
}

// next returns the position of the next invisible character from i on, or the length of the text.
func (s *unseen) next(i int) int {
	for i < len(s.text) {
		c := s.text[i]
		if c < utf8.RuneSelf {
			s.prev = rune(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[i:])
		if r == blackFlag {
			size += regionTags(s.text[i+size:])
		}
		if ignorable(r) && !s.needed(r, i+size) {
			return i
		}
		s.prev = r
		i += size
	}
	return i
}

const (
	zeroWidthSpace     = '\u200b'
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	blackFlag          = '\U0001F3F4'
	lastTag            = '\U000E007F'
)

// ignorable reports whether r is usually invisible. It covers the default ignorable characters of
// Unicode, except the marks that embed and override a direction.
func ignorable(r rune) bool {
	switch {
	case r < 0x300:
		return r == 0xAD
	case r < 0x2000:
		return r == 0x34F || r == 0x61C || r == 0x115F || r == 0x1160 || r == 0x17B4 || r == 0x17B5 || r >= 0x180B && r <= 0x180F
	case r < 0x2100:
		return r >= 0x200B && r <= 0x200F || r >= 0x2060 && r <= 0x206F && !changesDirection(r)
	case r < 0xFE00:
		return r == 0x3164
	case r < 0x10000:
		return r <= 0xFE0F || r == 0xFEFF || r == 0xFFA0 || r >= 0xFFF0 && r <= 0xFFFB
	}
	return r >= 0x1BCA0 && r <= 0x1BCA3 || r >= 0x1D173 && r <= 0x1D17A || r >= 0xE0000 && r <= 0xE0FFF
}

// changesDirection reports whether r changes the direction of the following text.
func changesDirection(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// Scripts with joining letters, and scripts without spaces.
var (
	joiningScripts = []*unicode.RangeTable{
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
		unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Thai, unicode.Lao,
	}
	unspacedScripts = []*unicode.RangeTable{
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese,
	}
)

// needed reports whether its neighbors make the ignorable character r necessary.
func (s *unseen) needed(r rune, after int) bool {
	prev := s.prev
	if ignorable(prev) && (!selectsEmoji(prev) || r != zeroWidthJoiner) {
		return false // a second one in a row
	}
	switch {
	case r == zeroWidthSpace:
		return unicode.In(prev, unspacedScripts...)
	case r == zeroWidthNonJoiner:
		return unicode.In(prev, joiningScripts...)
	case r == zeroWidthJoiner:
		next, _ := utf8.DecodeRuneInString(s.text[after:])
		return unicode.In(prev, joiningScripts...) || (pictures(prev) || selectsEmoji(prev)) && pictures(next)
	case r == 0x61C || r == 0x200E || r == 0x200F: // direction marks
		return true
	case selectsEmoji(r):
		return unicode.IsSymbol(prev) || strings.ContainsRune("#*0123456789‼⁉〰〽", prev)
	case r >= 0xFE00 && r <= 0xFE02:
		wide := prev >= 0x3000 && prev <= 0x3002 || prev >= 0xFF00 && prev < 0xFF20
		return wide || unicode.In(prev, unicode.Han, unicode.Myanmar, unicode.Sm)
	case r >= 0xE0100 && r <= 0xE01EF:
		return unicode.Is(unicode.Han, prev)
	case r >= 0x180B && r <= 0x180F:
		return unicode.Is(unicode.Mongolian, prev)
	case r == 0x115F || r == 0x1160:
		next, _ := utf8.DecodeRuneInString(s.text[after:])
		return jamo(prev) || jamo(next)
	case r == 0x34F:
		return unicode.Is(unicode.Hebrew, prev)
	}
	return false
}

// selectsEmoji reports whether r selects the picture or text form of the character before it.
func selectsEmoji(r rune) bool { return r == 0xFE0E || r == 0xFE0F }

// pictures reports whether r is a picture that joins others, or a skin tone.
func pictures(r rune) bool {
	return r >= 0x2190 && r < 0x2C00 && unicode.IsSymbol(r) || r >= 0x1F000 && r < 0x20000
}

// jamo reports whether r is a part of a Korean syllable other than a filler.
func jamo(r rune) bool {
	return r >= 0x1100 && r <= 0x11FF && r != 0x115F && r != 0x1160 || r >= 0xA960 && r <= 0xA97F || r >= 0xD7B0 && r <= 0xD7FF
}

// regionTags returns the length of the tag characters that turn a black flag into the flag of
// England, Scotland or Wales; no other region has a flag.
func regionTags(text string) int {
	for _, region := range [...]string{"gbeng", "gbsct", "gbwls"} {
		var b strings.Builder
		for _, c := range region {
			b.WriteRune(0xE0000 + c)
		}
		b.WriteRune(lastTag)
		if strings.HasPrefix(text, b.String()) {
			return b.Len()
		}
	}
	return 0
}
