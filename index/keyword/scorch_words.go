package keyword

import (
	"errors"
	"math"
	"slices"
	"strings"

	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"

	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
	"github.com/ragctx/ragctx/internal/throttle"
)

// The dictionary of a segment lists grams first, which start with byte 1, then openings, then words
// mixed with their further occurrences and pairs. A pair contains a space, and a further occurrence
// ends in a byte below the space. So words can be read while skipping everything that starts with a
// word and a space.
const (
	firstOpening = openingMark
	afterOpening = "\x03"
	firstWord    = "!"
	pairSpace    = ' '
)

// noSpace is an automaton that accepts strings without a space.
type noSpace struct{}

const (
	inWord  = iota
	atSpace // after a space
)

func (noSpace) Start() int               { return inWord }
func (noSpace) IsMatch(s int) bool       { return s == inWord }
func (noSpace) CanMatch(s int) bool      { return s == inWord }
func (noSpace) WillAlwaysMatch(int) bool { return false }
func (noSpace) Accept(s int, b byte) int {
	if b == pairSpace {
		return atSpace
	}
	return s
}

// wordReader reads the words of a segment in order.
type wordReader struct {
	*termReader
	segment  *storedSegment
	words    scorchsegment.DictionaryIterator
	openings scorchsegment.DictionaryIterator
	opening  string // the next opening word, "" after the last one

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
	dict, err := s.seg.Dictionary(termField)
	if err != nil {
		return nil, err
	}
	r := &wordReader{termReader: &termReader{dict: dict}, segment: s, sorter: placeSorter{cols: s.cols}}
	r.words = dict.AutomatonIterator(noSpace{}, []byte(firstWord), nil)
	r.openings = dict.AutomatonIterator(noSpace{}, []byte(firstOpening), []byte(afterOpening))
	if err := r.nextOpening(); err != nil {
		return nil, err
	}
	b := blockmax.NewBuilder(s.cols.shape(long))
	key, err := next(r.words)
	var rests throttle.Throttle
	for n := 0; err == nil && key != ""; n++ {
		if n%checkEvery == 0 && !wanted() {
			return nil, errUnwanted
		}
		rests.Yield()
		word := key
		if key, err = r.read(word); err == nil {
			err = b.Add([]byte(word), r.placed, r.opens)
		}
	}
	if err != nil {
		return nil, err
	}
	return b.Segment()
}

// next returns the next key, or "" after the last one.
func next(keys scorchsegment.DictionaryIterator) (string, error) {
	entry, err := keys.Next()
	if err != nil || entry == nil {
		return "", err
	}
	return entry.Term, nil
}

func (r *wordReader) nextOpening() error {
	key, err := next(r.openings)
	r.opening = strings.TrimPrefix(key, openingMark)
	return err
}

// read reads a word with its further occurrences and openings, and returns the key after them.
func (r *wordReader) read(word string) (string, error) {
	chunks, err := r.segment.chunksUnder(r.termReader, []byte(word), math.MaxInt)
	if err != nil {
		return "", err
	}
	r.list = r.segment.appendPostings(chunks, nil, r.list[:0])
	key, err := next(r.words)
	for ; err == nil && len(key) == len(word)+1 && key[len(word)] < pairSpace; key, err = next(r.words) {
		if chunks, err = r.segment.chunksUnder(r.termReader, []byte(key), math.MaxInt); err != nil {
			return "", err
		}
		increment(chunks, r.list)
	}
	if err != nil {
		return "", err
	}
	r.placed = r.sorter.sort(r.list, r.placed[:0])
	return key, r.readOpening(word)
}

func (r *wordReader) readOpening(word string) (err error) {
	r.opens = r.opens[:0]
	for err == nil && r.opening != "" && r.opening < word {
		err = r.nextOpening()
	}
	if err != nil || r.opening != word {
		return err
	}
	chunks, err := r.segment.chunksUnder(r.termReader, []byte(openingMark+word), math.MaxInt)
	for _, chunk := range chunks {
		r.opens = append(r.opens, r.segment.cols.place[chunk])
	}
	slices.Sort(r.opens)
	return err
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
