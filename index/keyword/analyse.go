package keyword

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// titleWeight is what a word counts in the title.
const titleWeight = 2

// openingWords is how many words of a text, beside those of its title, open it;
// openingMark starts the terms that say so.
const (
	openingWords = 40
	openingMark  = "\x02"
)

// analyse builds a segment of units, which have distinct ids; those of a parent
// are all among them.
func analyse(units []index.TextUnit) *memorySegment {
	return analyseOn(sorted(units), make(map[uint64]int))
}

// sorted returns units by their ids: texts begin with their first unit.
func sorted(units []index.TextUnit) []index.TextUnit {
	byID := func(a, b index.TextUnit) int { return cmp.Compare(a.ID, b.ID) }
	if slices.IsSortedFunc(units, byID) {
		return units
	}
	return slices.SortedFunc(slices.Values(units), byID)
}

// analyseOn builds a segment of sorted units. left has how many words may yet open each
// parent of which there were units before.
func analyseOn(units []index.TextUnit, left map[uint64]int) *memorySegment {
	bytes := 0
	for _, u := range units {
		bytes += len(u.Text)
	}
	a := analyser{segment: newMemorySegment(len(units)), spellings: make(map[string]*spelling)}
	a.segment.terms = make(map[string]int, min(bytes/bytesPerTerm, mostExpected))
	for _, u := range units {
		a.unit = a.segment.start(u.ID, u.Parent)
		open, begun := left[u.Parent]
		title := 0
		if !begun {
			open, title = openingWords, len(u.Title)
		}
		length, _ := a.add(u.Title, titleWeight, title)
		more, open := a.add(u.Text, 1, open)
		a.add(u.Extra, 1, 0)
		left[u.Parent] = open
		a.segment.rows[a.unit].length = length + more
	}
	a.segment.finish()
	return a.segment
}

// analyser fills a segment. Most terms come once, and most words often: memory for
// the former is got many at a time, and the grams of the latter are looked up once.
type analyser struct {
	segment   *memorySegment
	unit      uint32 // the one at hand
	spellings map[string]*spelling
	text      strings.Builder // terms
	room      []posting       // the first ones of terms
	opening   []byte          // the term that says that a word opens the whole
}

// spelling is a word as texts write it.
type spelling struct {
	grams []int32 // places of their lists
	after uint32  // the last unit that has it, plus 1
}

// bytesPerTerm is how long the texts of a batch are for each of their terms, about.
const bytesPerTerm = 16

// mostExpected bounds the room made beforehand: few texts have as many terms as
// their length allows.
const mostExpected = 1 << 16

// How many bytes of terms and how many postings memory is got for at once.
const (
	textRoom    = 1 << 14
	postingRoom = 1 << 10
)

// add adds the features of a text, up to open of whose words open the whole. It
// returns the number of its words, and how many may yet open the whole.
func (a *analyser) add(text string, weight uint32, open int) (length uint32, left int) {
	if text == "" {
		return 0, open
	}
	analysis.Spellings(text, func(kind analysis.Kind, term []byte) {
		if kind == analysis.Word {
			length++
			a.count(a.list(term), weight, kindFrequency[kind])
			if open > 0 {
				open--
				a.opening = append(append(a.opening[:0], openingMark...), term...)
				a.count(a.list(a.opening), 1, 1)
			}
			return
		}
		a.count(a.list(term), 1, kindFrequency[kind])
	}, a.spelt)
	return length, open
}

// spelt adds the grams of a word.
func (a *analyser) spelt(word []byte) {
	s := a.spellings[string(word)]
	if s == nil {
		s = new(spelling)
		a.spellings[string(word)] = s
		analysis.Grams(word, func(gram []byte) { s.grams = append(s.grams, int32(a.list(gram))) })
	}
	if s.after == a.unit+1 {
		return
	}
	s.after = a.unit + 1
	for _, i := range s.grams {
		a.count(int(i), 1, kindFrequency[analysis.Gram])
	}
}

// list returns the place of the list of a term.
func (a *analyser) list(term []byte) int {
	if i, ok := a.segment.terms[string(term)]; ok {
		return i
	}
	if a.text.Cap()-a.text.Len() < len(term) {
		a.text = strings.Builder{}
		a.text.Grow(max(len(term), textRoom))
	}
	at := a.text.Len()
	a.text.Write(term)
	return a.segment.list(a.text.String()[at:])
}

// count counts a term tf times more in the unit at hand, most times in all.
func (a *analyser) count(i int, tf, most uint32) {
	list := a.segment.lists[i]
	n := len(list)
	switch {
	case n > 0 && list[n-1].unit == a.unit:
		list[n-1].tf = min(list[n-1].tf+tf, most)
		return
	case n == 0:
		if len(a.room) == 0 {
			a.room = make([]posting, postingRoom)
		}
		list, a.room = a.room[:0:1], a.room[1:]
	}
	a.segment.lists[i] = append(list, posting{a.unit, tf})
}
