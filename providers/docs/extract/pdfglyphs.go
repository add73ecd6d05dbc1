package extract

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ragctx/ragctx/providers/docs/extract/internal/pdf"
)

// combining returns the combining form of a spacing accent, or 0.
func combining(s string) rune {
	switch s {
	case "`":
		return '\u0300'
	case "´":
		return '\u0301'
	case "ˆ":
		return '\u0302'
	case "˜":
		return '\u0303'
	case "¯":
		return '\u0304'
	case "˘":
		return '\u0306'
	case "˙":
		return '\u0307'
	case "¨":
		return '\u0308'
	case "˚":
		return '\u030A'
	case "˝":
		return '\u030B'
	case "ˇ":
		return '\u030C'
	case "¸":
		return '\u0327'
	case "˛":
		return '\u0328'
	}
	return 0
}

// combineAccents joins accents with the letters that they are drawn over.
func combineAccents(glyphs []pdf.Glyph) []pdf.Glyph {
	out := glyphs[:0:0]
	for i := 0; i < len(glyphs); i++ {
		g := glyphs[i]
		if i+1 < len(glyphs) {
			next := glyphs[i+1]
			if s := accented(g, next); s != "" {
				next.S, i = s, i+1
				out = append(out, next)
				continue
			}
			if s := accented(next, g); s != "" {
				g.S, i = s, i+1
			}
		}
		out = append(out, g)
	}
	return out
}

// accented returns letter with an accent that is drawn over it, or "".
func accented(accent, letter pdf.Glyph) string {
	mark := combining(accent.S)
	if mark == 0 {
		return ""
	}
	overlap := min(accent.X+accent.W, letter.X+letter.W) - max(accent.X, letter.X)
	if overlap < .4*min(accent.W, letter.W) {
		return ""
	}
	base, size := utf8.DecodeRuneInString(letter.S)
	switch {
	case size != len(letter.S) || !unicode.IsLetter(base):
		return ""
	case base == 'ı':
		base = 'i'
	}
	s := norm.NFC.String(string(base) + string(mark))
	if utf8.RuneCountInString(s) > 1 {
		return ""
	}
	return s
}

// rightToLeft reports whether a character belongs to a right-to-left script.
func rightToLeft(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana)
}

// logicalOrder reverses a right-to-left line. Numbers and left-to-right words in it stay in order.
func logicalOrder(glyphs []pdf.Glyph) []pdf.Glyph {
	left, letters := 0, 0
	for _, g := range glyphs {
		r, _ := utf8.DecodeRuneInString(g.S)
		letters += b2i(unicode.IsLetter(r))
		left += b2i(rightToLeft(g.S))
	}
	if left == 0 || 2*left < letters {
		return glyphs
	}
	slices.SortStableFunc(glyphs, func(a, b pdf.Glyph) int { return cmp.Compare(b.X, a.X) })
	for i := 0; i < len(glyphs); i++ {
		end := i
		for end < len(glyphs) && keepsOrder(glyphs[end].S) {
			end++
		}
		if end > i {
			slices.Reverse(glyphs[i:end])
			i = end
		}
	}
	return glyphs
}

// keepsOrder reports whether a character is a left-to-right letter or a digit.
func keepsOrder(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return !rightToLeft(s) && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
