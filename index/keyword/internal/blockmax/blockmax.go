// Package blockmax keeps the postings of an immutable set of texts in memory. It finds the chunks
// that may score best without reading all postings.
//
// A text consists of one chunk or more, at consecutive places. The list of a word enumerates texts,
// not chunks. A chunk's score is the score of its text plus its own, so the text decides most of
// it, and there are several times fewer texts. The chunks that contain the word are stored next to
// the text and read only if the text can be among the best.
//
// Lists are divided into blocks of 128 texts. A block stores the Pareto front of its pairs of
// frequency and length: the pairs that no other pair dominates. The front bounds the score of the
// block's texts for any parameters and statistics of the score (Ding and Suel, Faster top-k
// document retrieval using block-max indexes, 2011). The search is MaxScore over windows of texts
// (Turtle and Flood, Query evaluation: strategies and optimizations, 1995). Lists that could lift a
// text into the best are added up; the others are looked up only for texts that can still be among
// the best.
//
// # Layout
//
// Terms and lists are one block of memory without pointers, addressed by a hash table of offsets. A
// record is:
//
//   - the term's length and bytes
//   - two varints: the number of its texts, and the number of its chunks beyond that
//   - if there is more than one block, a directory of 8 bytes a block: the block's last text and its offset
//   - the blocks
//
// A block is a header of 4 bytes with the bit widths, a byte with the numbers of front pairs, the
// pairs of texts and of chunks, and then packed at these widths, each starting on a byte:
//
//   - the gaps between the texts
//   - their frequencies minus one
//   - the number of their chunks with the word (0 for a text of one chunk)
//   - whether the word is in the opening of the text
//   - for each of these chunks, its place in the text and the frequency minus one
//
// Most words occur in one chunk only. Their number of texts is 0, followed by a varint of the place
// and a byte with the frequency minus one, plus 16 if the word is in the opening.
//
// A segment is built in memory and never read from a file, so its bytes are trusted.
package blockmax

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
)

// Shape maps chunks to texts and gives their lengths. A segment keeps the slices, so they must not
// change.
type Shape struct {
	Owner []uint32 // by place: the number of the text
	Start []uint32 // by text: the place of its first chunk; one more for the total
	Text  []uint32 // by text: its length
	Chunk []uint32 // by place: the chunk's length
	// In texts of Long chunks or more, a word also counts for the neighbouring chunks: Spill[d-1]
	// tenths of an occurrence at distance d.
	Long  int
	Spill []uint32
}

func (s *Shape) texts() int { return len(s.Text) }

// chunkCount returns the number of chunks of a text.
func (s *Shape) chunkCount(text uint32) int { return int(s.Start[text+1] - s.Start[text]) }

// measure fills in the numbers that bounds of chunks need.
func (s *Segment) measure() {
	s.spread = 1
	for _, share := range s.Spill {
		s.nearest = max(s.nearest, float64(share)/Tenths)
		s.spread += 2 * float64(share) / Tenths
	}
	s.shortest = make([]uint32, s.texts())
	for text := range s.shortest {
		s.shortest[text] = slices.Min(s.Chunk[s.Start[text]:s.Start[text+1]])
	}
}

// mostInChunk bounds the frequency of a word in a chunk of a text. The text has the word tf times, in the given number
// of its chunks.
func (s *Segment) mostInChunk(text, tf, chunks uint32) float64 {
	most := float64(tf - chunks + 1) // each of the others has it, too
	if s.chunkCount(text) < s.Long {
		return most
	}
	// The chunk has at most as many occurrences of its own. All others count as the nearest, or each chunk has as many.
	return min(most+s.nearest*(float64(tf)-most), s.spread*most)
}

// Posting says that the chunk at a place contains a word Tf times.
type Posting struct{ Place, Tf uint32 }

// MaxTf is the maximum frequency of a word in a chunk.
const MaxTf = 16

// Segment holds the postings of a set of texts. It is safe for concurrent use.
type Segment struct {
	Shape

	shortest []uint32 // by text: the length of its shortest chunk
	// The weight of an occurrence in the nearest chunk of a long text, and the sum of its weights in all chunks.
	nearest, spread float64

	seed  maphash.Seed
	table []uint32 // hash table of record offsets, plus 1
	data  []byte
	terms int
}

// Terms returns the number of words.
func (s *Segment) Terms() int { return s.terms }

// Bytes returns the memory of the lists, their table, and the numbers by text that only this package keeps.
func (s *Segment) Bytes() int64 {
	return int64(len(s.data)) + 4*int64(len(s.table)+len(s.Start)+len(s.shortest))
}

// Lookup returns the list of a word. It returns false if no text contains the word.
func (s *Segment) Lookup(term string) (List, bool) {
	if len(s.table) == 0 {
		return List{}, false
	}
	for at := slot(maphash.String(s.seed, term), len(s.table)); s.table[at] != 0; at = (at + 1) % len(s.table) {
		record := s.data[s.table[at]-1:]
		n, size := binary.Uvarint(record)
		if record = record[size:]; uint64(len(term)) == n && string(record[:n]) == term {
			return s.list(record[n:]), true
		}
	}
	return List{}, false
}

// slot returns the position of a hash in a table of n slots.
func slot(hash uint64, n int) int {
	at, _ := bits.Mul64(hash, uint64(n)) //nolint:gosec // not negative
	return int(at)                       //nolint:gosec // below n
}

func (s *Segment) list(record []byte) List {
	texts, size := binary.Uvarint(record)
	record = record[size:]
	if texts == 0 {
		return List{segment: s, Texts: 1, Chunks: 1, single: true, data: record}
	}
	more, size := binary.Uvarint(record)
	l := List{segment: s, Texts: int(texts), Chunks: int(texts + more), data: record[size:]} //nolint:gosec // as counted
	if n := l.blocks(); n > 1 {
		l.directory, l.data = l.data[:n*directoryEntry], l.data[n*directoryEntry:]
	}
	return l
}

// List is the posting list of a word.
type List struct {
	// Texts and Chunks count the texts and the chunks that contain the word.
	Texts, Chunks int

	segment   *Segment
	single    bool   // one chunk, stored without a block
	directory []byte // nil for one block
	data      []byte
}

// blockTexts is the number of texts in every block but the last.
const blockTexts = 128

// directoryEntry is the size of a block's directory entry in bytes.
const directoryEntry = 8

func (l *List) blocks() int { return (l.Texts + blockTexts - 1) / blockTexts }

// last returns the last text of a block, or for a list of one block the last text of the segment.
func (l *List) last(block int) uint32 {
	if l.directory == nil {
		return uint32(l.segment.texts()) - 1 //nolint:gosec // at most 2³²
	}
	return binary.LittleEndian.Uint32(l.directory[block*directoryEntry:])
}

// start returns the bytes from the start of a block to the end of the list.
func (l *List) start(block int) []byte {
	if l.directory == nil {
		return l.data
	}
	return l.data[binary.LittleEndian.Uint32(l.directory[block*directoryEntry+4:]):]
}

// size returns the number of texts in a block.
func (l *List) size(block int) int { return min(l.Texts-block*blockTexts, blockTexts) }
