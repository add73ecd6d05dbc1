// Package chunk splits a text into small chunks that do not overlap.
//
// Chunks have about 400 characters. Small chunks are found more precisely and fill a budget better
// than large ones. The index compensates for the missing context by scoring a chunk together with
// its neighbors' terms. Every character that is not white space belongs to exactly one chunk.
//
// A text is first split into atoms: sentences, lines of code, and words where nothing else is small
// enough. Adjacent atoms are then packed up to the target size. A full chunk ends at the best cut
// in its second half: preferably a blank line, then the end of a sentence, the end of a line, and a
// space.
package chunk

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// Version is the version of the chunking rules. It is stored with chunks and changes whenever the
// same input could give other chunks.
const Version = "chunk-2"

// Pos is a position in a text.
type Pos struct {
	Byte int // offset in bytes, from 0
	Line int // from 1; a line ends with "\n"
	Rune int // offset in code points, from 0; an invalid byte counts as one
}

// Chunk is one chunk of a text.
type Chunk struct {
	Ordinal int // position in the text's list of chunks, from 0
	// Heading is the path of headings above the chunk, outermost first. It is shared with the
	// block; do not modify it.
	Heading []string
	// Text is the range Start.Byte to End.Byte of the text. It has no surrounding white space
	// except the indentation of its first line.
	Text       string
	Start, End Pos
	// Page is the page of Start, from 1. The caller sets it; [Blocks] leaves it 0.
	Page int
}

// Block is one structural unit of a text, such as a paragraph or table.
type Block struct {
	Start, End int      // byte range
	Heading    []string // headings above the block, outermost first
	// Break starts a new section: no chunk spans this block and the previous one. A change of
	// Heading also starts a section.
	Break bool
	// Keep marks code, tables and the like. The block stays whole if it fits into MaxChars.
	// Otherwise it is split between lines, not between sentences.
	Keep bool
}

// Split returns the chunks of a text with no structure except paragraphs and lines. A blank text
// has no chunks.
func Split(text string, o ragctx.ChunkSizes) []Chunk {
	return Blocks(text, []Block{{End: len(text)}}, o)
}

// Blocks returns the chunks of a text's blocks. Blocks must be in order and not overlap. Text
// outside of blocks is ignored, and ranges that exceed the text or overlap the previous block are
// clipped. Adjacent blocks of a section are packed together. A chunk never spans sections.
//
// No chunk is longer than o.MaxChars. A code point is never split, and a grapheme cluster only if
// it alone is longer. It takes time linear in the text, which need not be valid UTF-8.
func Blocks(text string, blocks []Block, o ragctx.ChunkSizes) []Chunk {
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

// advance returns the position of byte offset to, which must not be before from.
func advance(text string, from Pos, to int) Pos {
	between := text[from.Byte:to]
	return Pos{
		Byte: to,
		Line: from.Line + strings.Count(between, "\n"),
		Rune: from.Rune + runes(between),
	}
}
