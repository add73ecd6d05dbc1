// Package blockmax keeps the words of an immutable set of texts in memory, and finds
// those that may score best without reading all of their lists.
//
// A text has one unit or more, with places side by side. The list of a word has the
// texts, not the units: a unit scores as much as its text and something of its own,
// so the text decides most of it, and there are several times fewer of them. Which
// chunks of a text have the word is written beside it and read only where the text can
// be among the best.
//
// Lists are cut into blocks of 128 texts. A block knows the pairs of frequency and
// length that no other pair of it exceeds in both (its Pareto front), from which follows
// the most that one of its texts can score, for any parameters and statistics of the
// score (Ding and Suel, Faster top-k document retrieval using block-max indexes, 2011).
// The search is MaxScore over windows of texts (Turtle and Flood, Query evaluation:
// strategies and optimizations, 1995): the lists that could lift a text among the best
// are added up, and the others are looked up for texts that may yet be among them.
//
// # Layout
//
// Terms and lists are in one piece of memory without pointers, found by a hash table of
// offsets. A record is the term's length and bytes, the number of its texts and how many
// more units have it, as varints; for more than one block a directory, of 8 bytes each:
// the block's last text and where it starts; then the blocks. A block is a header of 4
// bytes with the widths of what follows, a byte with the numbers of pairs, the pairs
// chunksOf texts and those of units, and packed at these widths, each starting on a byte: the
// distances between the texts, their frequencies less one, how many of their units have
// the word (0 for a text that is a unit), whether it opens the text, and of these units the
// place in the text and the frequency less one. Most words are in one unit only: for these
// the number of texts is 0, and a varint of the place follows, and a byte with the frequency
// less one, and 16 more if the word opens the text.
//
// A segment is made here and never read from a file, so its bytes are believed.
package blockmax

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// Shape says how units make texts, and how long they are. A segment keeps the slices,
// which must not change.
type Shape struct {
	Owner []uint32 // by place: the text's number
	Start []uint32 // by text: the place of its first unit; and at the end the number of units
	Text  []uint32 // by text: its length
	Chunk  []uint32 // by place: the unit's length
	// In texts of Long units and more, a word of a unit counts also for those beside it,
	// Spill tenths as often, by their distance from 1.
	Long  int
	Spill []uint32
}

func (s *Shape) texts() int { return len(s.Text) }

// chunks returns how many units a text has.
func (s *Shape) chunkCount(text uint32) int { return int(s.Start[text+1] - s.Start[text]) }

// Posting says that the unit at a place has a word, tf times.
type Posting struct{ Place, Tf uint32 }

// MaxTf is the most that a unit may have a word.
const MaxTf = 16

// Segment holds the words of texts. It is safe for concurrent use.
type Segment struct {
	Shape

	seed  maphash.Seed
	table []uint32 // by hash: where records start, plus 1
	data  []byte
	terms int
}

// Terms returns the number of words.
func (s *Segment) Terms() int { return s.terms }

// Bytes returns the memory that the lists, their table and the numbers in Start take; the
// rest of the shape is not counted.
func (s *Segment) Bytes() int64 { return int64(len(s.data)) + 4*int64(len(s.table)+len(s.Start)) }

// Lookup returns the list of a word; false if no text has it.
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

// slot returns where in a table of n places a hash belongs.
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

// List is the list of a word.
type List struct {
	// Texts and Units say how many have the word.
	Texts, Chunks int

	segment   *Segment
	single     bool   // there is one unit, and no block
	directory []byte // none for one block
	data      []byte
}

// blockTexts is how many texts a block has, but for the last one.
const blockTexts = 128

// directoryEntry is the size of what the directory has of a block.
const directoryEntry = 8

func (l *List) blocks() int { return (l.Texts + blockTexts - 1) / blockTexts }

// last returns the last text of a block, or any after it where only one is.
func (l *List) last(block int) uint32 {
	if l.directory == nil {
		return uint32(l.segment.texts()) - 1 //nolint:gosec // at most 2³²
	}
	return binary.LittleEndian.Uint32(l.directory[block*directoryEntry:])
}

// start returns the bytes of a block and of those after it.
func (l *List) start(block int) []byte {
	if l.directory == nil {
		return l.data
	}
	return l.data[binary.LittleEndian.Uint32(l.directory[block*directoryEntry+4:]):]
}

// size returns how many texts a block has.
func (l *List) size(block int) int { return min(l.Texts-block*blockTexts, blockTexts) }
