package keyword

import (
	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
)

// wordLists is the state of a search in parts with words in memory.
type wordLists struct {
	parts    []partLists     // by part
	inUse    bool            // whether any part has words in memory
	features []scoredFeature // the features of the query
	// For the current word: its lists, by part, and its document frequency.
	lists   []blockmax.List
	docFreq docFreq

	chunkIDF, textIDF float64 // weighted, of the current feature

	postings []posting // of features that are not words
	ends     []int     // end of each feature's postings in each part

	// By item: the maximum score of one of its chunks by features that are not words. All zeros
	// between searches.
	maxChunk []float64

	searcher blockmax.Searcher
	terms    []blockmax.Term
	finder   blockmax.Finder
	placed   []blockmax.Posting
	opened   []int // items, numbered across all parts
	found    []candidate
	scores   []float64 // the best scores of found
	texts    []uint32  // texts with candidates, part by part
	textEnds []int
}

// partLists holds the words of a part.
type partLists struct {
	words   *blockmax.Segment // nil if they are not in memory
	dead    bitset            // dead texts
	touched bitset            // texts with scores; empty between searches
	chosen  bitset            // texts with candidates; empty between searches
}

// scoredFeature is a feature of the query with its weights.
type scoredFeature struct {
	lists                []blockmax.List // of a word, by part; nil for other features
	ends                 int             // start in wordLists.ends of another feature
	chunk, text, opening float64         // weights
}

// candidate is a chunk that may be among the best.
type candidate struct {
	part  int
	place uint32
	score float64 // subject to rounding
}

// release drops the references to segments, so that an idle scratch does not keep them in memory.
func (s *scratch) release() {
	l := &s.lists
	clear(l.features)
	clear(l.lists)
	l.features, l.lists = l.features[:0], l.lists[:0]
	for i := range l.parts {
		l.parts[i].words, l.parts[i].dead = nil, nil
	}
	l.finder.Start(blockmax.List{})
	s.subsets, s.short = nil, nil
}

// useLists prepares a search of v, with the words in memory if use is true.
func (s *scratch) useLists(v *view, use bool) {
	l := &s.lists
	l.features, l.lists, l.postings, l.ends, l.found = l.features[:0], l.lists[:0], l.postings[:0], l.ends[:0], l.found[:0]
	l.inUse, s.skip = false, false
	for len(l.parts) < len(v.parts) {
		l.parts = append(l.parts, partLists{})
	}
	l.parts = l.parts[:len(v.parts)]
	for i, p := range v.parts {
		have := &l.parts[i]
		have.words, have.dead = nil, nil
		if !use || v.subsets != nil {
			continue
		}
		if have.words, have.dead = p.inMemory(); have.words == nil {
			continue
		}
		l.inUse = true
		sets := (len(p.columns().items) + 63) / 64
		have.touched, have.chosen = zeros(have.touched, sets), zeros(have.chosen, sets)
	}
	if l.inUse {
		l.maxChunk = zeros(l.maxChunk, v.firstTexts[len(v.parts)])
	}
}

// lookUp finds the lists of a word.
func (s *scratch) lookUp(v *view, word string) {
	l := &s.lists
	l.docFreq = docFreq{}
	first := len(l.lists)
	for i, p := range l.parts {
		var list blockmax.List
		if p.words != nil {
			var ok bool
			if list, ok = p.words.Lookup(word); ok {
				n := p.docFreqOf(word, &list, v.parts[i].freqs)
				l.docFreq.chunks += n.chunks
				l.docFreq.texts += n.texts
			}
		}
		l.lists = append(l.lists, list)
	}
	l.features = append(l.features, scoredFeature{lists: l.lists[first:len(l.lists):len(l.lists)]})
}

// docFreqOf counts the live chunks and items in a list.
func (p partLists) docFreqOf(word string, list *blockmax.List, known *docFreqCache) (n docFreq) {
	if p.dead == nil {
		return docFreq{list.Chunks, list.Texts}
	}
	n, ok := known.get(word)
	if ok {
		return n
	}
	for text, chunks := range list.All() {
		if !p.dead.has(text) {
			n.chunks += int(chunks)
			n.texts++
		}
	}
	known.put(word, n)
	return n
}

// recordFeature saves the weights of the feature just added. For a feature that is not a word, it
// also saves the postings in parts with words in memory.
func (s *scratch) recordFeature() {
	l := &s.lists
	if !l.inUse || s.subsets != nil {
		return
	}
	if !s.skip {
		l.features = append(l.features, scoredFeature{ends: len(l.ends)})
		for i, p := range l.parts {
			if p.words != nil {
				l.postings = append(l.postings, of(s.postings, s.ends, i)...)
			}
			l.ends = append(l.ends, len(l.postings))
		}
	}
	a := &l.features[len(l.features)-1]
	a.chunk, a.text = l.chunkIDF, l.textIDF
	if s.skip {
		a.opening = s.opening * l.textIDF
	}
}

// raiseMax updates the maximum chunk scores of the texts with current postings, in a part with
// words in memory.
func (s *scratch) raiseMax(v *view, part int, cols *columns) {
	p := &s.lists.parts[part]
	most, chunks := s.lists.maxChunk[v.firstTexts[part]:], s.chunkScores[v.firsts[part]:]
	for _, e := range of(s.postings, s.ends, part) {
		place := cols.place[e.chunk]
		text := cols.text[place]
		p.touched.set(text)
		most[text] = max(most[text], chunks[place])
	}
	for _, place := range s.touched {
		text := cols.text[place]
		most[text] = max(most[text], chunks[place])
	}
}

// forget resets the scores of some texts of a part and empties the set.
func (s *scratch) forget(v *view, part int, set bitset) {
	words := s.lists.parts[part].words
	texts, chunks := s.textScores[v.firstTexts[part]:], s.chunkScores[v.firsts[part]:]
	most := s.lists.maxChunk[v.firstTexts[part]:]
	for text := range set.all() {
		texts[text], most[text] = 0, 0
		clear(chunks[words.Start[text]:words.Start[text+1]])
	}
	clear(set)
}
