package analysis

import (
	"unicode"
	"unicode/utf8"
)

// firstUnspaced is the first code point of the scripts below (Thai).
const firstUnspaced = 0x0e00

var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// unspaced reports whether r is a letter of a script that is cut into pairs of characters.
func unspaced(r rune) bool {
	if r < firstUnspaced {
		return false
	}
	switch {
	case 0x4e00 <= r && r <= 0x9fa5, 0x3041 <= r && r <= 0x3096, 0x30a1 <= r && r <= 0x30fa, 0xac00 <= r && r <= 0xd7a3:
		return true // the common letters, without a table lookup
	case r == 'ー', r == '〇', 0xff66 <= r && r <= 0xff9f: // of several scripts, a number, half-width kana
		return true
	}
	return unicode.In(r, unspacedScripts...) && (unicode.IsLetter(r) || unicode.IsMark(r))
}

// unspacedRun returns the length of the run of unspaced letters and their marks at the start of s.
func unspacedRun(s string) int {
	n := 0
	for n < len(s) {
		r, size := decode(s[n:])
		if !unspaced(r) && (r < utf8.RuneSelf || !unicode.IsMark(r)) {
			break
		}
		n += size
	}
	return n
}

// pairs emits the overlapping pairs of characters of a run; a character is a
// letter with its marks.
func (t *tokenizer) pairs(run string, at int) {
	origin := run
	run = normal(run)
	var moved *movement
	if t.spans && run != origin {
		moved = movementOf(origin)
	}
	t.ends = t.ends[:0]
	marks := 0
	for i, r := range run {
		if i > 0 && unicode.IsMark(r) && marks < maxMarks {
			marks++
			continue
		}
		marks = 0
		if i > 0 {
			t.ends = append(t.ends, i)
		}
	}
	t.ends = append(t.ends, len(run))
	if len(t.ends) == 1 {
		t.start, t.end = at, at+len(origin)
		t.emitPart(run)
		return
	}
	start := 0
	for i := 1; i < len(t.ends); i++ {
		t.start, t.end = moved.back(start, t.ends[i])
		t.start, t.end = at+t.start, at+t.end
		t.emitPart(run[start:t.ends[i]])
		start = t.ends[i-1]
	}
}

// maxMarks bounds the marks on one letter. No script needs more, and a text of marks only must not
// become one endless character.
const maxMarks = 8

// emitPart emits a term that is not stemmed and has no grams.
func (t *tokenizer) emitPart(s string) {
	t.buf = append(t.buf[:0], s...)
	if t.plain != nil {
		t.plain(t.buf)
	}
	t.emit(t.buf)
	if t.features != nil {
		t.features.follow(t.buf)
	}
}
