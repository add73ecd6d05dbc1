package blockmax

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
)

// ErrSize reports that the input exceeds the limits of a segment.
var ErrSize = errors.New("blockmax: the words of a segment take more than 4 GiB, or a text has more than 2²⁸ chunks")

// maxChunks is the maximum number of chunks of a text.
const maxChunks = 1 << placeBits

// Builder builds a segment.
type Builder struct {
	segment    *Segment
	records    []uint32 // their offsets
	texts      []textPosting
	entries    []Posting // places relative to the text
	spilled    []uint32  // by place in a long text
	textFront  front
	chunkFront front
	numbers    []uint32
	pairs      []byte
}

// textPosting is a list's entry for a text.
type textPosting struct {
	text, tf uint32
	chunks   uint32 // 0 for a text of one chunk
	opens    bool
	entries  int // index of its first chunk in Builder.entries
}

// NewBuilder returns a builder for chunks of the given shape.
func NewBuilder(shape Shape) *Builder {
	s := &Segment{Shape: shape, seed: maphash.MakeSeed()}
	s.measure()
	return &Builder{segment: s}
}

// Add adds a word with its postings, by ascending place. Each word may be added once; a word
// without postings is ignored. opens lists, ascending, the places of chunks that have the word in
// their text's opening.
func (b *Builder) Add(term []byte, postings []Posting, opens []uint32) error {
	if len(postings) == 0 {
		return nil
	}
	if len(b.segment.data) > math.MaxUint32-1 {
		return ErrSize
	}
	b.records = append(b.records, uint32(len(b.segment.data))) //nolint:gosec // checked
	if err := b.gather(postings, opens); err != nil {
		return err
	}
	to := binary.AppendUvarint(b.segment.data, uint64(len(term)))
	to = append(to, term...)
	if len(postings) == 1 {
		b.segment.data = b.single(to, postings[0])
		return nil
	}
	to = binary.AppendUvarint(to, uint64(len(b.texts)))
	to = binary.AppendUvarint(to, uint64(len(postings)-len(b.texts)))
	blocks := (len(b.texts) + blockTexts - 1) / blockTexts
	directory := len(to)
	if blocks > 1 {
		to = append(to, make([]byte, blocks*directoryEntry)...)
	}
	first, next := len(to), uint32(0)
	for i := range blocks {
		block := b.texts[i*blockTexts : min((i+1)*blockTexts, len(b.texts))]
		if blocks > 1 {
			entry := to[directory+i*directoryEntry:]
			binary.LittleEndian.PutUint32(entry, block[len(block)-1].text)
			binary.LittleEndian.PutUint32(entry[4:], uint32(len(to)-first)) //nolint:gosec // Segment checks the whole
		}
		to = b.block(to, block, next)
		next = block[len(block)-1].text + 1
	}
	b.segment.data = to
	return nil
}

// opensSingle marks, in the record of a single chunk, a word in the opening of its text.
const opensSingle = 1 << 4

// single appends the record of a word that occurs in one chunk.
func (b *Builder) single(to []byte, p Posting) []byte {
	to = binary.AppendUvarint(append(to, 0), uint64(p.Place))
	last := byte(p.Tf - 1)
	if b.texts[0].opens {
		last |= opensSingle
	}
	return append(to, last)
}

// gather groups postings by text.
func (b *Builder) gather(postings []Posting, opens []uint32) error {
	s := &b.segment.Shape
	b.texts, b.entries = b.texts[:0], b.entries[:0]
	for len(postings) > 0 {
		t := textPosting{text: s.Owner[postings[0].Place], entries: len(b.entries)}
		start, end := s.Start[t.text], s.Start[t.text+1]
		if end-start > maxChunks {
			return ErrSize
		}
		for len(postings) > 0 && postings[0].Place < end {
			t.tf += postings[0].Tf
			if end-start > 1 {
				t.chunks++
				b.entries = append(b.entries, Posting{postings[0].Place - start, postings[0].Tf})
			}
			postings = postings[1:]
		}
		for len(opens) > 0 && opens[0] < end {
			t.opens = t.opens || opens[0] >= start
			opens = opens[1:]
		}
		b.texts = append(b.texts, t)
	}
	return nil
}

// block appends a block. Its texts are numbered from first on.
func (b *Builder) block(to []byte, texts []textPosting, first uint32) []byte {
	var w widths
	var gaps, chunks uint32
	numbers := b.numbers[:0]
	for _, t := range texts {
		gaps |= t.text - first
		numbers = append(numbers, t.text-first)
		first = t.text + 1
		w.tf = max(w.tf, bits.Len32(t.tf-1))
		chunks |= t.chunks
		w.opens = w.opens || t.opens
		for _, e := range b.chunksOf(t) {
			w.place = max(w.place, bits.Len32(e.Place))
			w.chunkTf = max(w.chunkTf, bits.Len32(e.Tf-1))
		}
	}
	b.numbers = numbers
	w.text, w.chunks = bits.Len32(gaps), bits.Len32(chunks)
	to = binary.LittleEndian.AppendUint32(to, w.header())
	to = b.fronts(to, texts)
	to = pack(to, numbers, uint(w.text)) //nolint:gosec // not negative, as those below
	to = b.pack(to, texts, w.tf, func(t textPosting) uint32 { return t.tf - 1 })
	to = b.pack(to, texts, w.chunks, func(t textPosting) uint32 { return t.chunks })
	if w.opens {
		to = b.pack(to, texts, 1, func(t textPosting) uint32 {
			if t.opens {
				return 1
			}
			return 0
		})
	}
	b.numbers = b.numbers[:0]
	for _, t := range texts {
		for _, e := range b.chunksOf(t) {
			b.numbers = append(b.numbers, e.Place|(e.Tf-1)<<w.place)
		}
	}
	return pack(to, b.numbers, uint(w.entry())) //nolint:gosec // not negative
}

// chunksOf returns the chunk postings of a text.
func (b *Builder) chunksOf(t textPosting) []Posting {
	return b.entries[t.entries : t.entries+int(t.chunks)]
}

func (b *Builder) pack(to []byte, texts []textPosting, width int, number func(textPosting) uint32) []byte {
	b.numbers = b.numbers[:0]
	for _, t := range texts {
		b.numbers = append(b.numbers, number(t))
	}
	return pack(to, b.numbers, uint(width)) //nolint:gosec // not negative
}

// Blocks of at most fewTexts texts store no front: scoring their postings costs as little.
const fewTexts = 8

// fronts appends the front of texts, and the front of chunks if a text has several.
func (b *Builder) fronts(to []byte, texts []textPosting) []byte {
	if len(texts) <= fewTexts {
		return append(to, 0)
	}
	s := &b.segment.Shape
	chunked := false
	for _, t := range texts {
		b.textFront.add(t.tf, s.Text[t.text])
		chunked = chunked || t.chunks > 0
	}
	if chunked {
		for _, t := range texts {
			b.addChunkFront(t)
		}
	}
	var inTexts, inChunks int
	b.pairs, inTexts = b.textFront.take(b.pairs[:0])
	b.pairs, inChunks = b.chunkFront.take(b.pairs)
	return append(append(to, byte(inTexts|inChunks<<4)), b.pairs...) //nolint:gosec // at most maxPairs
}

func (b *Builder) addChunkFront(t textPosting) {
	s := &b.segment.Shape
	start := s.Start[t.text]
	switch n := s.chunkCount(t.text); {
	case n == 1:
		b.chunkFront.add(fifths*t.tf, s.Chunk[start])
	case n < s.Long:
		for _, e := range b.chunksOf(t) {
			b.chunkFront.add(fifths*e.Tf, s.Chunk[start+e.Place])
		}
	default:
		b.spilled = slices.Grow(b.spilled[:0], n)[:n]
		clear(b.spilled)
		for _, e := range b.chunksOf(t) {
			s.SpillOver(b.spilled, e.Place, e.Tf)
		}
		for at, tf := range b.spilled {
			if tf > 0 {
				b.chunkFront.add((tf*fifths+Tenths-1)/Tenths, s.Chunk[int(start)+at])
			}
		}
	}
}

// Tenths is the weight of one occurrence where words also count for neighbouring chunks.
const Tenths = 10

// SpillOver counts occurrences in a chunk of a long text for that chunk and its neighbours.
func (s *Shape) SpillOver(near []uint32, place, tf uint32) {
	near[place] += Tenths * tf
	for d, share := range s.Spill {
		if after := int(place) + d + 1; after < len(near) {
			near[after] += share * tf
		}
		if before := int(place) - d - 1; before >= 0 {
			near[before] += share * tf
		}
	}
}

// Segment returns the finished segment. The builder must not be used afterwards.
func (b *Builder) Segment() (*Segment, error) {
	s := b.segment
	if len(s.data) > math.MaxUint32-1 {
		return nil, ErrSize
	}
	data := make([]byte, len(s.data)+padding)
	copy(data, s.data)
	s.data = data
	s.terms = len(b.records)
	if s.terms == 0 {
		return s, nil
	}
	s.table = make([]uint32, s.terms+s.terms/4+1)
	for _, r := range b.records {
		n, size := binary.Uvarint(s.data[r:])
		at := slot(maphash.Bytes(s.seed, s.data[int(r)+size:][:n]), len(s.table))
		for s.table[at] != 0 {
			at = (at + 1) % len(s.table)
		}
		s.table[at] = r + 1
	}
	return s, nil
}
