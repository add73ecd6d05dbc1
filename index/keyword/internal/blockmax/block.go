package blockmax

import "encoding/binary"

// widths are the bit widths of the numbers in a block.
type widths struct {
	text, tf, chunks, place, chunkTf int
	opens                            bool
}

// Each width takes six bits of the header, the text width the lowest.
const (
	widthBits = 6
	widthMask = 1<<widthBits - 1
	opensBit  = 1 << 31
)

func (w widths) header() uint32 {
	//nolint:gosec // at most 32 each
	h := uint32(w.text | w.tf<<widthBits | w.chunks<<(2*widthBits) | w.place<<(3*widthBits) | w.chunkTf<<(4*widthBits))
	if w.opens {
		h |= opensBit
	}
	return h
}

func widthsOf(h uint32) widths {
	width := func(i int) int { return int(h>>(i*widthBits)) & widthMask }
	return widths{width(0), width(1), width(2), width(3), width(4), h&opensBit != 0}
}

// placeBits is the maximum width of a place in a text, entryBits of a chunk's place and frequency
// together.
const (
	placeBits = 28
	entryBits = 32
)

// entry is the width of a chunk's place and frequency.
func (w widths) entry() int { return w.place + w.chunkTf }

// head is the number of bytes of a block before its front pairs.
const head = 5

// block is a decoded block.
type block struct {
	texts []uint32 // a slice of room
	widths
	tfs, chunks, opened, entries []byte // packed

	room   [blockTexts]uint32
	starts [blockTexts]uint32 // index of each text's first entry
	ready  bool               // starts is filled

	single [32]byte // the numbers of a word that occurs in one chunk only
}

// release drops the references to the list, so that its segment can be freed.
func (b *block) release() { b.tfs, b.chunks, b.opened, b.entries = nil, nil, nil, nil }

// read decodes a block of a list.
func (b *block) read(l *List, number int) {
	if l.single {
		b.readSingle(l)
		return
	}
	data := l.start(number)
	b.widths = widthsOf(binary.LittleEndian.Uint32(data))
	pairs := int(data[head-1])
	data = data[head+2*(pairs&maxPairs)+2*(pairs>>4):]
	first := uint32(0)
	if number > 0 {
		first = l.last(number-1) + 1
	}
	n := l.size(number)
	b.texts = b.room[:n]
	ascend(b.texts, data, uint(b.text), first)
	b.tfs = data[packed(n, uint(b.text)):]
	b.chunks = b.tfs[packed(n, uint(b.tf)):]
	b.opened = b.chunks[packed(n, uint(b.widths.chunks)):]
	b.entries = b.opened
	if b.opens {
		b.entries = b.opened[packed(n, 1):]
	}
	b.ready = false
}

// readSingle builds the block of a word that occurs in one chunk. Its numbers take eight bytes
// each.
func (b *block) readSingle(l *List) {
	place, size := binary.Uvarint(l.data)
	last := l.data[size]
	text := l.segment.Owner[place]
	chunks := uint64(0)
	if l.segment.chunkCount(text) > 1 {
		chunks = 1
	}
	b.texts = append(b.room[:0], text)
	b.widths = widths{
		tf: placeBits, chunks: placeBits, place: placeBits, chunkTf: entryBits - placeBits, opens: last&opensSingle != 0,
	}
	tf := uint64(last &^ opensSingle)
	binary.LittleEndian.PutUint64(b.single[:], tf)
	binary.LittleEndian.PutUint64(b.single[8:], chunks)
	binary.LittleEndian.PutUint64(b.single[16:], 1)
	binary.LittleEndian.PutUint64(b.single[24:], place-uint64(l.segment.Start[text])|tf<<placeBits)
	b.tfs, b.chunks, b.opened, b.entries = b.single[:], b.single[8:], b.single[16:], b.single[24:]
	b.ready = false
}

// frequency returns the number of occurrences of the word in text i.
func (b *block) frequency(i int) uint32 { return at(b.tfs, i, uint(b.tf)) + 1 }

// chunkCount returns the number of chunks of text i that contain the word, or 0 if the text has
// only one chunk.
func (b *block) chunkCount(i int) uint32 { return at(b.chunks, i, uint(b.widths.chunks)) }

// opensText reports whether the word is in the opening of text i.
func (b *block) opensText(i int) bool { return b.opens && b.opened[i>>3]>>(i&7)&1 != 0 }

// chunk returns the place within text i, and the word's frequency, of the nth chunk that contains
// the word.
func (b *block) chunk(i int, n uint32) (place, tf uint32) {
	if !b.ready {
		b.sumStarts()
	}
	e := at(b.entries, int(b.starts[i]+n), uint(b.entry()))
	return e & (1<<b.place - 1), e>>b.place + 1
}

func (b *block) sumStarts() {
	total := uint32(0)
	for i := range b.texts {
		b.starts[i] = total
		total += b.chunkCount(i)
	}
	b.ready = true
}

// Each calls fn with the postings of a list, by ascending place.
func (l *List) Each(fn func(Posting)) {
	var b block
	for number := range l.blocks() {
		b.read(l, number)
		for i, text := range b.texts {
			start := l.segment.Start[text]
			n := b.chunkCount(i)
			if n == 0 {
				fn(Posting{start, b.frequency(i)})
			}
			for u := range n {
				place, tf := b.chunk(i, u)
				fn(Posting{start + place, tf})
			}
		}
	}
}

// EachOpened calls fn with the texts that have the word in their opening, ascending.
func (l *List) EachOpened(fn func(text uint32)) {
	var b block
	for number := range l.blocks() {
		b.read(l, number)
		for i, text := range b.texts {
			if b.opensText(i) {
				fn(text)
			}
		}
	}
}
