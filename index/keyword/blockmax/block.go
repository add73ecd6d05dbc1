package blockmax

import "encoding/binary"

// widths are those of the numbers in a block.
type widths struct {
	text, tf, chunks, place, chunkTf int
	opens                          bool
}

// In the header each has six bits, the lowest for the texts.
const (
	widthBits = 6
	widthMask = 1<<widthBits - 1
	opensBit  = 1 << 31
)

func (w widths) header() uint32 {
	h := uint32(w.text | w.tf<<widthBits | w.chunks<<(2*widthBits) | w.place<<(3*widthBits) | w.chunkTf<<(4*widthBits)) //nolint:gosec // at most 32 each
	if w.opens {
		h |= opensBit
	}
	return h
}

func widthsOf(h uint32) widths {
	width := func(i int) int { return int(h>>(i*widthBits)) & widthMask }
	return widths{width(0), width(1), width(2), width(3), width(4), h&opensBit != 0}
}

// placeBits is how many bits the place in a text takes at most, and entryBits what is said of
// a unit.
const (
	placeBits = 28
	entryBits = 32
)

// entry is the width of what is said of a unit.
func (w widths) entry() int { return w.place + w.chunkTf }

// head is how many bytes of a block come before its pairs.
const head = 5

// block is a block that was read.
type block struct {
	texts []uint32 // in room
	widths
	tfs, chunks, opened, entries []byte // packed

	room   [blockTexts]uint32
	starts [blockTexts]uint32 // where the entries of each text start
	ready  bool               // starts are

	single [32]byte // the packed numbers of a word that is in one unit
}

// release forgets the list that was read.
func (b *block) release() { b.tfs, b.chunks, b.opened, b.entries = nil, nil, nil, nil }

// read reads a block of a list.
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

// readSingle makes a block of the record of one unit, whose numbers have eight bytes each.
func (b *block) readSingle(l *List) {
	place, size := binary.Uvarint(l.data)
	last := l.data[size]
	text := l.segment.Owner[place]
	units := uint64(0)
	if l.segment.chunkCount(text) > 1 {
		units = 1
	}
	b.texts = append(b.room[:0], text)
	b.widths = widths{tf: placeBits, chunks: placeBits, place: placeBits, chunkTf: entryBits - placeBits, opens: last&opensSingle != 0}
	tf := uint64(last &^ opensSingle)
	binary.LittleEndian.PutUint64(b.single[:], tf)
	binary.LittleEndian.PutUint64(b.single[8:], units)
	binary.LittleEndian.PutUint64(b.single[16:], 1)
	binary.LittleEndian.PutUint64(b.single[24:], place-uint64(l.segment.Start[text])|tf<<placeBits)
	b.tfs, b.chunks, b.opened, b.entries = b.single[:], b.single[8:], b.single[16:], b.single[24:]
	b.ready = false
}

// frequency returns how often a text has the word.
func (b *block) frequency(i int) uint32 { return at(b.tfs, i, uint(b.tf)) + 1 }

// chunkCount returns how many units of a text have the word; 0 if it is a unit.
func (b *block) chunkCount(i int) uint32 { return at(b.chunks, i, uint(b.widths.chunks)) }

// opensText reports whether the word opens a text.
func (b *block) opensText(i int) bool { return b.opens && b.opened[i>>3]>>(i&7)&1 != 0 }

// chunk returns the place in its text of the nth unit of a text that has the word, and how
// often it has it.
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

// EachOpened calls fn with the texts that the word opens, ascending.
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
