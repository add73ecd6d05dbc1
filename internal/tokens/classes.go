package tokens

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is the set of a rune's properties that the patterns use. The end of the text has no
// property.
type class uint8

const (
	letter  class = 1 << iota // \p{L}
	number                    // \p{N}
	space                     // \s, newlines too
	newline                   // \r and \n
	other                     // [^\s\p{L}\p{N}], marks too
	upper                     // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	lower                     // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	slash                     // the slash, which o200k_base joins with newlines
)

const pageSize = 256

// classes maps runes to classes with a two-level table. Most pages are shared.
type classes struct {
	ascii [utf8.RuneSelf]class
	pages [(unicode.MaxRune + 1) / pageSize]*[pageSize]class
}

// unicodeClasses builds the table once. Lookups in [unicode.RangeTable] values would dominate the
// time of counting.
var unicodeClasses = sync.OnceValue(newClasses)

func newClasses() *classes {
	flat := make([]class, unicode.MaxRune+1)
	for _, c := range []struct {
		runes *unicode.RangeTable
		class class
	}{
		{unicode.Lu, letter | upper},
		{unicode.Lt, letter | upper},
		{unicode.Ll, letter | lower},
		{unicode.Lm, letter | upper | lower},
		{unicode.Lo, letter | upper | lower},
		{unicode.M, upper | lower},
		{unicode.N, number},
		{unicode.White_Space, space},
	} {
		mark(flat, c.runes, c.class)
	}
	flat['\r'] |= newline
	flat['\n'] |= newline
	flat['/'] |= slash
	for r, c := range flat {
		if c&(letter|number|space) == 0 {
			flat[r] |= other
		}
	}
	return paged(flat)
}

func mark(flat []class, runes *unicode.RangeTable, c class) {
	for _, rg := range runes.R16 {
		for r := uint32(rg.Lo); r <= uint32(rg.Hi); r += uint32(rg.Stride) {
			flat[r] |= c
		}
	}
	for _, rg := range runes.R32 {
		for r := rg.Lo; r <= rg.Hi; r += rg.Stride {
			flat[r] |= c
		}
	}
}

func paged(flat []class) *classes {
	t := &classes{ascii: [utf8.RuneSelf]class(flat)}
	seen := make(map[[pageSize]class]*[pageSize]class)
	for i := range t.pages {
		page := [pageSize]class(flat[i*pageSize:])
		if seen[page] == nil {
			seen[page] = &page
		}
		t.pages[i] = seen[page]
	}
	return t
}

// at returns the class and the length in bytes of the rune at byte i. At the end of s it returns 0
// and 0. s must be valid UTF-8.
func (t *classes) at(s string, i int) (class, int) {
	if i < len(s) && s[i] < utf8.RuneSelf {
		return t.ascii[s[i]], 1
	}
	return t.wide(s, i)
}

func (t *classes) wide(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return t.pages[r/pageSize][r%pageSize], n
}

// skip returns the end of the runes from byte i that have one of the classes.
func (t *classes) skip(s string, i int, of class) int {
	for {
		c, n := t.at(s, i)
		if c&of == 0 {
			return i
		}
		i += n
	}
}
