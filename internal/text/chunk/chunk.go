// Package chunk splits a text into small passages that tile it.
//
// Passages are small, about 400 characters, because a small passage is found
// more precisely and fills a budget better than a large one; what it lacks in
// context the index makes up by scoring it with its neighbours' terms. They do
// not overlap: every character that is not white space belongs to exactly one.
//
// A text is first cut into atoms (sentences, lines of code, words where nothing
// else helps), and neighbouring atoms are then packed up to the target size. A
// full passage ends at the best cut in its second half: a blank line before the
// end of a sentence before the end of a line before a space.
package chunk

import (
	"slices"
	"strings"
)

// Version names the rules by which texts are split. It is stored with chunks
// and changes whenever equal input could give other chunks.
const Version = "chunk-2"

// Default sizes in code points, see [Options].
const (
	DefaultTarget = 400
	DefaultMax    = 1200
)

// Pos is a position in a text.
type Pos struct {
	Byte int // offset in bytes, from 0
	Line int // from 1; a line ends with "\n"
	Rune int // offset in code points, from 0; an invalid byte counts as one
}

// Chunk is one passage of a text.
type Chunk struct {
	Ordinal int // from 0, in the order of the text
	// Heading is the path of headings the chunk stands under, outermost first.
	// Chunks share it with the block it came from; do not change it.
	Heading []string
	// Text is text[Start.Byte:End.Byte] of the text that was split. It has no
	// white space at its ends but for the indentation of its first line.
	Text       string
	Start, End Pos
	// Page is the page that Start is on, from 1, where whoever made the blocks
	// knows of pages; [Blocks] leaves it 0.
	Page int
}

// Block is one structural unit of a text, such as a paragraph or a table.
type Block struct {
	Start, End int      // byte range
	Heading    []string // headings the block stands under, outermost first
	// Break starts a new section: no chunk spans this block and the one before.
	// A change of Heading does so by itself.
	Break bool
	// Keep marks code, tables and the like: the block stays whole if it fits
	// within MaxChars and is cut between lines, never sentences, if it does not.
	Keep bool
}

// Options are the sizes of chunks in code points. The zero value works.
type Options struct {
	// TargetChars is how long a chunk grows by adding neighbours. Default 400.
	TargetChars int
	// MaxChars is the length that no chunk exceeds; words, and blocks to keep
	// whole, may reach it. Default 1200, at least TargetChars.
	MaxChars int
}

// WithDefaults returns o with unset fields filled.
func (o Options) WithDefaults() Options {
	if o.TargetChars <= 0 {
		o.TargetChars = DefaultTarget
	}
	if o.MaxChars <= 0 {
		o.MaxChars = DefaultMax
	}
	o.MaxChars = max(o.MaxChars, o.TargetChars)
	return o
}

// Split returns the chunks of a text that has no structure but paragraphs and
// lines. White space alone gives none.
func Split(text string, o Options) []Chunk {
	return Blocks(text, []Block{{End: len(text)}}, o)
}

// Blocks returns the chunks of the blocks of a text. Blocks come in order and
// do not overlap; what lies outside of them is left out, and a range beyond the
// text or before the end of the block before it is cut to fit. Neighbours of
// one section are packed together; sections never share a chunk.
//
// No chunk is longer than o.MaxChars. A cut is never inside a code point, and
// inside a grapheme cluster only if that alone is longer. The work is linear in
// the text, which need not be valid UTF-8.
func Blocks(text string, blocks []Block, o Options) []Chunk {
	p := packer{atomizer: atomizer{text: text, opts: o.WithDefaults()}, at: Pos{Line: 1}}
	end := 0
	for i, b := range blocks {
		b.Start, b.End = max(b.Start, end), min(b.End, len(text))
		if b.Start >= b.End {
			b.Start, b.End = end, end
		}
		end = b.End
		if i > 0 && (b.Break || !slices.Equal(b.Heading, blocks[i-1].Heading)) {
			p.flush(blocks[i-1].Heading)
		}
		p.block(b)
	}
	if len(blocks) > 0 {
		p.flush(blocks[len(blocks)-1].Heading)
	}
	return p.chunks
}

// advance returns the position of byte offset to, which is not before from.
func advance(text string, from Pos, to int) Pos {
	between := text[from.Byte:to]
	return Pos{
		Byte: to,
		Line: from.Line + strings.Count(between, "\n"),
		Rune: from.Rune + runes(between),
	}
}
