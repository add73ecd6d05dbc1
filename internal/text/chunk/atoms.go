package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/ragctx/ragctx"
)

// maxIndent is the longest indentation, in bytes, that a chunk keeps on its first line. It bounds
// what malicious input can add to a chunk.
const maxIndent = 64

// cutQuality is the quality of a place to end a chunk.
type cutQuality uint8

// The cuts, worst first.
const (
	cutAnywhere cutQuality = iota
	cutWord
	cutLine
	cutSentence
	cutParagraph
)

// atom is an indivisible piece of text. Only white space separates atoms.
type atom struct {
	start, end         int // bytes
	runeStart, runeEnd int
	after              cutQuality // the place after the atom
}

// atomizer splits blocks into atoms. Blocks must be added in order, because it counts code points
// as it goes.
type atomizer struct {
	text  string
	opts  ragctx.ChunkSizes
	atoms []atom
	// byteAt and runeAt are the position up to which code points are counted.
	byteAt, runeAt int
}

// runeOffset converts a byte offset to code points. Offsets must not decrease between calls.
func (a *atomizer) runeOffset(b int) int {
	a.runeAt += runes(a.text[a.byteAt:b])
	a.byteAt = b
	return a.runeAt
}

// push adds text[start:end] without surrounding white space as an atom.
func (a *atomizer) push(start, end int, after cutQuality) {
	start, end = trim(a.text, start, end)
	if start == end {
		return
	}
	rs := a.runeOffset(start)
	a.atoms = append(a.atoms, atom{start, end, rs, a.runeOffset(end), after})
}

// raiseLast raises the cut after the last atom to at least c.
func (a *atomizer) raiseLast(c cutQuality) {
	if n := len(a.atoms); n > 0 {
		a.atoms[n-1].after = max(a.atoms[n-1].after, c)
	}
}

// block adds the atoms of a block.
func (a *atomizer) block(b Block) {
	a.raiseLast(cutParagraph)
	if b.Keep && a.keep(b.Start, b.End) {
		return
	}
	for start := b.Start; start < b.End; {
		end := b.End
		if i := strings.IndexByte(a.text[start:b.End], '\n'); i >= 0 {
			end = start + i + 1
		}
		a.line(start, end, b.Keep)
		start = end
	}
}

// keep adds text[start:end] as one atom if it is short enough.
func (a *atomizer) keep(start, end int) bool {
	start, end = a.span(start, end)
	if start == end {
		return true
	}
	if runes(a.text[start:end]) > a.opts.MaxChars {
		return false
	}
	a.pushSpan(start, end, cutParagraph)
	return true
}

// line adds the atoms of one line, with its line end.
func (a *atomizer) line(start, end int, code bool) {
	s, e := a.span(start, end)
	if s == e {
		a.raiseLast(cutParagraph)
		return
	}
	switch {
	case !code && segmentable(a.text[s:e]):
		a.sentences(s, e)
	case runes(a.text[s:e]) <= a.longest(code):
		a.pushSpan(s, e, cutLine)
		if !code && endsSentence(a.text[s:e]) {
			a.raiseLast(cutSentence)
		}
	default:
		a.words(s, e)
	}
	a.raiseLast(cutLine)
}

// longest returns the length up to which a line is kept whole. Table rows and lines of code lose
// their meaning when split.
func (a *atomizer) longest(code bool) int {
	if code {
		return a.opts.MaxChars
	}
	return a.opts.TargetChars
}

// sentences adds the sentences of a line. The end of a line inside a hard-wrapped paragraph is not
// the end of a sentence.
func (a *atomizer) sentences(start, end int) {
	it := sentences.FromString(a.text[start:end])
	for it.Next() {
		s, e := start+it.Start(), start+it.End()
		after := cutSentence
		switch {
		case e == end && !endsSentence(a.text[s:e]):
			after = cutLine
		case e < end && e-s <= maxMarker:
			after = cutWord
		}
		if runes(a.text[s:e]) <= a.opts.TargetChars {
			a.pushSpan(s, e, after)
			continue
		}
		a.words(s, e)
		a.raiseLast(after)
	}
}

// maxMarker is the maximum length, in bytes with the following space, of a list number or
// abbreviation that looks like a sentence.
const maxMarker = 4

// maxRun is the limit of a run without letters, in bytes. The sentence segmenter looks ahead over
// such a run from each of its characters, which takes quadratic time.
const maxRun = 100

// segmentable reports whether a line should be split into sentences: it may have more than one, and
// its runs without letters are short enough.
func segmentable(s string) bool {
	from := 0
	more := false // a sentence may end before the end of the line
	for i, r := range s {
		switch {
		case r == '.' || r == '!' || r == '?':
			from = i
			more = more || i < len(s)-1
		case 'a' <= r && r <= 'z' || unicode.IsLetter(r):
			from = i
		case i-from > maxRun:
			return false
		}
		more = more || r >= utf8.RuneSelf || r < ' ' && r != '\t'
	}
	return more
}

// words adds the words of text[start:end].
func (a *atomizer) words(start, end int) {
	for start < end {
		s := strings.TrimLeftFunc(a.text[start:end], unicode.IsSpace)
		start = end - len(s)
		n := strings.IndexFunc(s, unicode.IsSpace)
		if n < 0 {
			n = len(s)
		}
		if runes(s[:n]) <= a.opts.MaxChars {
			a.push(start, start+n, cutWord)
		} else {
			a.graphemes(start, start+n)
			a.raiseLast(cutWord)
		}
		start += n
	}
}

// graphemes splits a word that is too long into pieces of the target size.
func (a *atomizer) graphemes(start, end int) {
	it := graphemes.FromString(a.text[start:end])
	from, size := start, 0
	for it.Next() {
		n := runes(it.Value())
		if at := start + it.Start(); size+n > a.opts.TargetChars && at > from {
			a.push(from, at, cutAnywhere)
			from, size = at, 0
		}
		if size += n; n > a.opts.MaxChars {
			a.codePoints(from, start+it.End())
			from, size = start+it.End(), 0
		}
	}
	a.push(from, end, cutAnywhere)
}

// codePoints splits a grapheme cluster that is too long.
func (a *atomizer) codePoints(start, end int) {
	from, size := start, 0
	for i := range a.text[start:end] {
		if size == a.opts.TargetChars {
			a.push(from, start+i, cutAnywhere)
			from, size = start+i, 0
		}
		size++
	}
	a.push(from, end, cutAnywhere)
}

// pushSpan adds text[start:end] with its indentation as an atom.
func (a *atomizer) pushSpan(start, end int, after cutQuality) {
	s, e := a.span(start, end)
	if s == e {
		return
	}
	rs := a.runeOffset(s)
	a.atoms = append(a.atoms, atom{s, e, rs, a.runeOffset(e), after})
}

// span trims text[start:end] but keeps the indentation of its first line if the line begins within
// the range.
func (a *atomizer) span(start, end int) (int, int) {
	s, e := trim(a.text, start, end)
	in := s
	for in > start && s-in < maxIndent && (a.text[in-1] == ' ' || a.text[in-1] == '\t') {
		in--
	}
	if s < e && (in == 0 || a.text[in-1] == '\n') {
		return in, e
	}
	return s, e
}

// trim moves start and end inwards past white space.
func trim(text string, start, end int) (int, int) {
	s := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(s)
	return start, start + len(strings.TrimRightFunc(s, unicode.IsSpace))
}

// endsSentence reports whether a line ends with a sentence terminator, apart from closing quotes
// and brackets.
func endsSentence(line string) bool {
	line = strings.TrimRight(line, " \t\r\n\"')]*_”’»」』）")
	r, _ := utf8.DecodeLastRuneInString(line)
	return strings.ContainsRune(".!?:;…。！？؟।։", r)
}

// runes counts code points. An invalid byte counts as one.
func runes(s string) int { return utf8.RuneCountInString(s) }
