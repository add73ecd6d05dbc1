package keyword

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
	"github.com/ragctx/ragctx/internal/throttle"
)

// afterOpening follows the keys of openings in a segment file; see [firstWord].
const afterOpening = pairMark

// wordReader reads the words of a segment in order.
type wordReader struct {
	*termReader
	segment  *storedSegment
	openings *termCursor
	opening  []byte // the next opening word, nil after the last one

	list   []posting
	placed []blockmax.Posting
	opens  []uint32
	sorter placeSorter
}

// checkEvery is the number of words between checks whether to continue.
const checkEvery = 1 << 10

// errUnwanted reports that the segment is no longer visible or the index is closing.
var errUnwanted = errors.New("keyword: the segment is no longer visible")

// readWords reads the words of a segment into memory, while wanted returns true.
func (s *storedSegment) readWords(wanted func() bool, long int) (*blockmax.Segment, error) {
	r := &wordReader{termReader: new(termReader), segment: s, sorter: placeSorter{cols: s.cols}}
	r.openings = s.file.seek([]byte(openingMark))
	r.nextOpening()
	words := s.file.seek([]byte(firstWord))
	b := blockmax.NewBuilder(s.cols.shape(long))
	var rests throttle.Throttle
	for n := 0; words.advance(); n++ {
		if n%checkEvery == 0 && !wanted() {
			return nil, errUnwanted
		}
		rests.Yield()
		if err := r.read(words); err != nil {
			return nil, err
		}
		if err := b.Add(bytes.Clone(words.key), r.placed, r.opens); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(words.err, r.openings.err); err != nil {
		return nil, err
	}
	return b.Segment()
}

func (r *wordReader) nextOpening() {
	r.opening = nil
	if r.openings.advance() && string(r.openings.key) < afterOpening {
		r.opening = r.openings.key[len(openingMark):]
	}
}

// read reads the current word of a cursor with its openings.
func (r *wordReader) read(words *termCursor) error {
	l, err := r.segment.file.list(words.list)
	if err != nil {
		return err
	}
	if r.list, err = l.appendPostings(r.list[:0], nil, &r.nums); err != nil {
		return err
	}
	r.placed = r.sorter.sort(r.list, r.placed[:0])
	return r.readOpening(words.key)
}

func (r *wordReader) readOpening(word []byte) error {
	r.opens = r.opens[:0]
	for r.opening != nil && bytes.Compare(r.opening, word) < 0 {
		r.nextOpening()
	}
	if r.opening == nil || !bytes.Equal(r.opening, word) {
		return r.openings.err
	}
	l, err := r.segment.file.list(r.openings.list)
	if err != nil {
		return err
	}
	if r.nums, _, err = l.appendChunks(r.nums[:0]); err != nil {
		return err
	}
	for _, chunk := range r.nums {
		r.opens = append(r.opens, r.segment.cols.place[chunk])
	}
	slices.Sort(r.opens)
	return nil
}

// placeSorter sorts postings by place.
type placeSorter struct {
	cols *columns
	seen bitset
	tf   []uint8
}

// Lists of less than 1/fewPlaces of all chunks are sorted; longer ones are marked in a bitset.
const fewPlaces = 256

func (s *placeSorter) sort(list []posting, to []blockmax.Posting) []blockmax.Posting {
	chunks := s.cols.chunks()
	if len(list) < chunks/fewPlaces || chunks < fewPlaces {
		for _, e := range list {
			to = append(to, blockmax.Posting{Place: s.cols.place[e.chunk], Tf: e.tf})
		}
		slices.SortFunc(to, func(a, b blockmax.Posting) int { return int(a.Place) - int(b.Place) })
		return to
	}
	if s.seen == nil {
		s.seen, s.tf = s.seen.clone(chunks), make([]uint8, chunks)
	}
	for _, e := range list {
		place := s.cols.place[e.chunk]
		s.seen.set(place)
		s.tf[place] = uint8(e.tf) //nolint:gosec // at most MaxFrequency
	}
	for place := range s.seen.all() {
		to = append(to, blockmax.Posting{Place: place, Tf: uint32(s.tf[place])})
	}
	clear(s.seen)
	return to
}

// shape returns the shape of the chunks for package blockmax.
func (c *columns) shape(long int) blockmax.Shape {
	s := blockmax.Shape{
		Owner: c.text, Start: make([]uint32, 1, len(c.items)+1), Text: c.textLengths, Chunk: c.lengths,
		Long: long, Spill: spill[:],
	}
	for text, n := range c.chunkCounts {
		s.Start = append(s.Start, s.Start[text]+n)
	}
	return s
}
