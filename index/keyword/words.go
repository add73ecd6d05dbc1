package keyword

import (
	"github.com/ragctx/ragctx/index/keyword/blockmax"
)

// lists are what a search knows of the words of parts whose words are in memory, and of
// what else it has found there.
type lists struct {
	parts []partLists // by part
	some  bool        // parts have them
	asked []asked     // features of the question
	// Of the word at hand: its lists, by part, and how many live units and parents they
	// have.
	lists  []blockmax.List
	spread spread

	unitIDF, textIDF float64 // of the feature at hand, weighed

	kept []posting // of features that are no words
	ends []int     // where those of each feature and part end

	// What features that are no words score, by parent: the most that one of its units does
	// by itself. All zeros between searches.
	most []float64

	searcher blockmax.Searcher
	terms    []blockmax.Term
	finder   blockmax.Finder
	placed   []blockmax.Posting
	opened   []int // parents, numbered through
	found    []candidate
	scores   []float64 // the best of theirs
	texts    []uint32  // with candidates, part by part
	textEnds []int
}

// partLists are the words of a part.
type partLists struct {
	words   *blockmax.Segment // nil where they are not in memory
	dead    bitset            // texts
	touched bitset            // texts in which something was found; empty between searches
	chosen  bitset            // texts with candidates, likewise
}

// asked is a feature of the question.
type asked struct {
	lists               []blockmax.List // of a word, by part; none of another feature
	ends                int             // those of another feature start there
	unit, text, opening float64         // what it weighs
}

// candidate is a unit that may be among the best.
type candidate struct {
	part  int
	place uint32
	score float64 // but for rounding
}

// letGo forgets the segments of a search: what waits for the next one must not keep in
// memory what the index has no more.
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

// useLists makes ready for a search of v, by the words in memory if these are to be used.
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
				l.spread.units += n.units
				l.spread.texts += n.texts
			}
		}
		l.lists = append(l.lists, list)
	}
	l.asked = append(l.asked, asked{lists: l.lists[first:len(l.lists):len(l.lists)]})
}

// spreadOf counts the live units and parents in a list.
func (p partLists) spreadOf(word string, list *blockmax.List, known *knownSpread) (n spread) {
	if p.dead == nil {
		return spread{list.Chunks, list.Texts}
	}
	n, ok := known.get(word)
	if ok {
		return n
	}
	for text, units := range list.All() {
		if !p.dead.has(text) {
			n.units += int(units)
			n.texts++
		}
	}
	known.put(word, n)
	return n
}

// ask notes what the feature weighs that was added; of one that is no word also the
// postings, in parts whose words are in memory.
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
	a.unit, a.text = l.unitIDF, l.textIDF
	if s.skip {
		a.opening = s.opening * l.textIDF
	}
}

// raise notes what the units score for which there are postings at hand, in a part whose
// words are in memory.
func (s *scratch) raise(v *view, part int, cols *columns) {
	p := &s.lists.parts[part]
	most, units := s.lists.most[v.firstTexts[part]:], s.units[v.firsts[part]:]
	for _, e := range of(s.postings, s.ends, part) {
		place := cols.place[e.unit]
		text := cols.text[place]
		p.touched.set(text)
		most[text] = max(most[text], units[place])
	}
	for _, place := range s.touched {
		text := cols.text[place]
		most[text] = max(most[text], units[place])
	}
}

// forget sets to zero what some texts of a part score, and empties the set.
func (s *scratch) forget(v *view, part int, set bitset) {
	words := s.lists.parts[part].words
	texts, units := s.texts[v.firstTexts[part]:], s.units[v.firsts[part]:]
	most := s.lists.most[v.firstTexts[part]:]
	for text := range set.all() {
		texts[text], most[text] = 0, 0
		clear(units[words.Start[text]:words.Start[text+1]])
	}
	clear(set)
}
