package keyword

import (
	"github.com/ragctx/ragctx/index/keyword/blockmax"
)

// wordLists is the state of a search in parts whose words are in memory.
type lists struct {
	parts []partLists // by part
	some  bool        // whether any part has words in memory
	asked []asked     // the features of the query
	// For the current word: its lists, by part, and its document frequency.
	lists  []blockmax.List
	spread spread

	chunkIDF, textIDF float64 // weighted, of the current feature

	kept []posting // of features that are not words
	ends []int     // end of each feature's postings in each part

	// By parent: the maximum score of one of its chunks by features that are not words. All zeros
	// between searches.
	most []float64

	searcher blockmax.Searcher
	terms    []blockmax.Term
	finder   blockmax.Finder
	placed   []blockmax.Posting
	opened   []int // parents, numbered across all parts
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
type asked struct {
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
func (s *scratch) letGo() {
	l := &s.lists
	clear(l.asked)
	clear(l.lists)
	l.asked, l.lists = l.asked[:0], l.lists[:0]
	for i := range l.parts {
		l.parts[i].words, l.parts[i].dead = nil, nil
	}
	l.finder.Start(blockmax.List{})
	s.few, s.short = nil, nil
}

// useLists prepares a search of v, with the words in memory if use is true.
func (s *scratch) useLists(v *view, use bool) {
	l := &s.lists
	l.asked, l.lists, l.kept, l.ends, l.found = l.asked[:0], l.lists[:0], l.kept[:0], l.ends[:0], l.found[:0]
	l.some, s.skip = false, false
	for len(l.parts) < len(v.parts) {
		l.parts = append(l.parts, partLists{})
	}
	l.parts = l.parts[:len(v.parts)]
	for i, p := range v.parts {
		have := &l.parts[i]
		have.words, have.dead = nil, nil
		if !use || v.few != nil {
			continue
		}
		if have.words, have.dead = p.inMemory(); have.words == nil {
			continue
		}
		l.some = true
		sets := (len(p.columns().parents) + 63) / 64
		have.touched, have.chosen = zeros(have.touched, sets), zeros(have.chosen, sets)
	}
	if l.some {
		l.most = zeros(l.most, v.firstTexts[len(v.parts)])
	}
}

// lookUp finds the lists of a word.
func (s *scratch) lookUp(v *view, word string) {
	l := &s.lists
	l.spread = spread{}
	first := len(l.lists)
	for i, p := range l.parts {
		var list blockmax.List
		if p.words != nil {
			var ok bool
			if list, ok = p.words.Lookup(word); ok {
				n := p.spreadOf(word, &list, v.parts[i].known)
				l.spread.chunks += n.chunks
				l.spread.texts += n.texts
			}
		}
		l.lists = append(l.lists, list)
	}
	l.asked = append(l.asked, asked{lists: l.lists[first:len(l.lists):len(l.lists)]})
}

// docFreqOf counts the live chunks and parents in a list.
func (p partLists) spreadOf(word string, list *blockmax.List, known *knownSpread) (n spread) {
	if p.dead == nil {
		return spread{list.Chunks, list.Texts}
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
// also saves the postings in parts whose words are in memory.
func (s *scratch) ask() {
	l := &s.lists
	if !l.some || s.few != nil {
		return
	}
	if !s.skip {
		l.asked = append(l.asked, asked{ends: len(l.ends)})
		for i, p := range l.parts {
			if p.words != nil {
				l.kept = append(l.kept, of(s.postings, s.ends, i)...)
			}
			l.ends = append(l.ends, len(l.kept))
		}
	}
	a := &l.asked[len(l.asked)-1]
	a.chunk, a.text = l.chunkIDF, l.textIDF
	if s.skip {
		a.opening = s.opening * l.textIDF
	}
}

// raiseMax updates the maximum chunk scores of the texts with current postings, in a part whose
// words are in memory.
func (s *scratch) raise(v *view, part int, cols *columns) {
	p := &s.lists.parts[part]
	most, chunks := s.lists.most[v.firstTexts[part]:], s.chunks[v.firsts[part]:]
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
	texts, chunks := s.texts[v.firstTexts[part]:], s.chunks[v.firsts[part]:]
	most := s.lists.most[v.firstTexts[part]:]
	for text := range set.all() {
		texts[text], most[text] = 0, 0
		clear(chunks[words.Start[text]:words.Start[text+1]])
	}
	clear(set)
}
