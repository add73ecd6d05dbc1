package keyword

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// TitleWeight is the weight of a word in the title.
const TitleWeight = 2

// OpeningWords is the number of words of a text, after its title, that form its opening.
// openingMark is the first byte of the terms that record openings.
const (
	OpeningWords = 40
	openingMark  = "\x02"
)

// analyse builds a segment of chunks with distinct ids, in which every item is complete.
func analyse(chunks []index.TextChunk) *memorySegment {
	return analyseOn(sorted(chunks), make(map[uint64]int))
}

// sorted returns the chunks ordered by id: a text starts with its first chunk.
func sorted(chunks []index.TextChunk) []index.TextChunk {
	byID := func(a, b index.TextChunk) int { return cmp.Compare(a.ID, b.ID) }
	if slices.IsSortedFunc(chunks, byID) {
		return chunks
	}
	return slices.SortedFunc(slices.Values(chunks), byID)
}

// analyseOn builds a segment of sorted chunks. left holds, for each item with earlier chunks, how
// many words its opening can still take.
func analyseOn(chunks []index.TextChunk, left map[uint64]int) *memorySegment {
	bytes := 0
	for _, u := range chunks {
		bytes += len(u.Text)
	}
	a := analyser{segment: newMemorySegment(len(chunks)), spellings: make(map[string]*spelling)}
	a.segment.terms = make(map[string]int, min(bytes/bytesPerTerm, maxExpected))
	for _, u := range chunks {
		a.chunk = a.segment.addChunk(u.ID, u.Item)
		open, begun := left[u.Item]
		title := 0
		if !begun {
			open, title = OpeningWords, len(u.Title)
		}
		length, _ := a.add(u.Title, TitleWeight, title)
		more, open := a.add(u.Text, 1, open)
		a.add(u.Extra, 1, 0)
		left[u.Item] = open
		a.segment.rows[a.chunk].length = length + more
	}
	a.segment.finish()
	return a.segment
}

// analyser fills a segment. Most terms occur once, so their memory is allocated in bulk. Most words
// recur, so their grams are looked up once.
type analyser struct {
	segment   *memorySegment
	chunk     uint32 // the current chunk
	spellings map[string]*spelling
	text      strings.Builder // allocates terms
	room      []posting       // allocates the first postings of terms
	opening   []byte          // the term that records an opening word
}

// spelling is a word as texts write it, unstemmed.
type spelling struct {
	grams []int32 // indexes of the grams' lists
	after uint32  // the last chunk that contains it, plus 1
}

// bytesPerTerm estimates the bytes of text for each distinct term of a batch.
const bytesPerTerm = 16

// maxExpected limits the number of terms to allocate for in advance: few texts have as many as
// their length suggests.
const maxExpected = 1 << 16

// The allocation sizes of terms, in bytes, and of postings.
const (
	textRoom    = 1 << 14
	postingRoom = 1 << 10
)

// add adds the features of a text. Its first open words count as opening words of the item. It
// returns the number of words and how many opening words are left.
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
	if s.after == a.chunk+1 {
		return
	}
	s.after = a.chunk + 1
	for _, i := range s.grams {
		a.count(int(i), 1, kindFrequency[analysis.Gram])
	}
}

// list returns the index of a term's list.
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
	return a.segment.addList(a.text.String()[at:])
}

// count adds tf to the frequency of a term in the current chunk, up to a maximum.
func (a *analyser) count(i int, tf, most uint32) {
	list := a.segment.lists[i]
	n := len(list)
	switch {
	case n > 0 && list[n-1].chunk == a.chunk:
		list[n-1].tf = min(list[n-1].tf+tf, most)
		return
	case n == 0:
		if len(a.room) == 0 {
			a.room = make([]posting, postingRoom)
		}
		list, a.room = a.room[:0:1], a.room[1:]
	}
	a.segment.lists[i] = append(list, posting{a.chunk, tf})
}
