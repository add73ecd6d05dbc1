package keyword

import (
	"errors"
	"math"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// In a long text, the terms of a chunk also count for its neighbours: spill[d-1] tenths at distance
// d.
const tenths = blockmax.Tenths

var spill = [...]uint32{4, 2, 1}

// scratch is the working memory of one search. Chunks and items are numbered across all parts by
// place, see [view]. Dead ones are not counted.
type scratch struct {
	longText          int // see [Options]
	params            index.KeywordParams
	weights           kindWeights
	passage           float64 // weight of a chunk's own score relative to its item's score
	opening           float64 // weight of a word in the opening of an item
	chunkSat, textSat Saturation
	bound             float64 // upper bound of all scores, for the features so far

	subsetReader          // holds the postings of the current feature, part by part
	subsets      []subset // the chunks to read postings of, part by part; nil for all
	docFreq      docFreq  // document frequency of the current feature, if postings is incomplete
	prefetch     prefetch

	// Scores for the features so far. All zeros between searches.
	chunkScores, textScores []float64
	// Occurrences, in tenths and whole. All zeros between features.
	spilled, itemTf []uint32
	touched         []uint32 // chunks of a part with occurrences in spilled
	touchedTexts    []uint32 // items with occurrences in itemTf, part by part
	touchedTextEnds []int

	groups []int32 // see [groupScores]

	best  []found    // see [scratch.rank]
	short [][]uint32 // places of the chunks of the short list, part by part, or nil

	lists wordLists
	skip  bool // skip parts that have the current feature in lists
}

func (s *scratch) start(v *view, longText int, p index.KeywordParams) {
	s.longText, s.weights, s.passage, s.opening = longText, kindWeightsOf(p), p.Passage, p.Opening
	s.bound, s.subsets, s.short, s.params = 0, v.subsets, nil, p
	s.chunkSat = SaturationOf(p, v.live, float64(v.length))
	s.textSat = SaturationOf(p, v.texts, float64(v.length))
	chunks, texts := v.firsts[len(v.parts)], v.firstTexts[len(v.parts)]
	s.chunkScores, s.textScores = zeros(s.chunkScores, chunks), zeros(s.textScores, texts)
	s.spilled, s.itemTf = zeros(s.spilled, chunks), zeros(s.itemTf, texts)
	s.useLists(v, false)
}

// clear resets the scores to zero.
func (s *scratch) clear(v *view) {
	for i, p := range s.lists.parts {
		if p.words != nil {
			s.forget(v, i, p.chosen)
			continue
		}
		clear(s.chunkScores[v.firsts[i]:v.firsts[i+1]])
		clear(s.textScores[v.firstTexts[i]:v.firstTexts[i+1]])
	}
}

// zeros returns n zeros. It reuses the memory of s, which must be zero up to its capacity, if that
// is large enough.
func zeros[T float64 | uint32 | uint64 | int32](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// gather reads the live postings of a term with a maximum frequency of maxTf in a chunk. It returns
// false if more than limit chunks have the term, with postings incomplete.
func (s *scratch) gather(v *view, term string, most uint32, limit int) (bool, error) {
	if s.subsets != nil {
		return s.gatherSubsets(term, most, limit, v.subsets != nil)
	}
	s.postings, s.ends = s.postings[:0], s.ends[:0]
	for i, p := range v.parts {
		if s.skip && s.lists.parts[i].words != nil {
			s.ends = append(s.ends, len(s.postings))
			continue
		}
		q := lookup{term: term, maxTf: most, limit: limit}
		if limit < unlimited {
			q.limit += p.columns().chunks() - p.live - len(s.postings)
		}
		var err error
		if s.postings, err = p.postings(q, p.dead, s.postings); errors.Is(err, errMany) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		if len(s.postings) > limit {
			return false, nil
		}
		s.ends = append(s.ends, len(s.postings))
	}
	return true, nil
}

// of returns the section of a list that belongs to a part, given the end of each section.
func of[T any](list []T, ends []int, part int) []T {
	start := 0
	if part > 0 {
		start = ends[part-1]
	}
	return list[start:ends[part]]
}

// frequency returns the number of chunks that have the current feature.
func (s *scratch) frequency() int {
	if s.subsets != nil {
		return s.docFreq.chunks
	}
	return len(s.postings) + s.lists.docFreq.chunks
}

// add scores the current feature and returns the maximum score of an item.
func (s *scratch) add(v *view, weight float64) float64 {
	idf := weight * InverseFrequency(v.live, s.frequency())
	s.lists.chunkIDF = idf
	s.bound += s.passage * idf
	s.touchedTexts, s.touchedTextEnds = s.touchedTexts[:0], s.touchedTextEnds[:0]
	for i, p := range v.parts {
		s.addChunks(v, i, p.columns(), idf)
		if s.subsets == nil && !s.skip && s.lists.parts[i].words != nil {
			s.raiseMax(v, i, p.columns())
		}
		s.touchedTextEnds = append(s.touchedTextEnds, len(s.touchedTexts))
	}
	return s.addTexts(v, weight)
}

// addChunks scores the chunks of a part and sums the occurrences in their items.
func (s *scratch) addChunks(v *view, part int, cols *columns, idf float64) {
	chunks, inText := s.chunkScores[v.firsts[part]:], s.itemTf[v.firstTexts[part]:]
	near := s.spilled[v.firsts[part]:]
	s.touched = s.touched[:0]
	for _, e := range of(s.postings, s.ends, part) {
		place := cols.place[e.chunk]
		text := cols.text[place]
		if inText[text] == 0 {
			s.touchedTexts = append(s.touchedTexts, text)
		}
		inText[text] += e.tf
		if int(cols.chunkCounts[text]) >= s.longText {
			s.spill(near, cols.text, place, e.tf)
			continue
		}
		chunks[place] += s.chunkSat.weighed(idf, float64(e.tf), cols.lengths[place])
	}
	for _, place := range s.touched {
		tf := float64(near[place]) / tenths
		near[place] = 0
		chunks[place] += s.chunkSat.weighed(idf, tf, cols.lengths[place])
	}
}

// spill counts an occurrence in a long text at place and its neighbours.
func (s *scratch) spill(near, texts []uint32, place, tf uint32) {
	s.count(near, place, tenths*tf)
	text := texts[place]
	for d, share := range spill {
		at := int(place) + d + 1
		if at >= len(texts) || texts[at] != text {
			break
		}
		s.count(near, uint32(at), share*tf)
	}
	for d, share := range spill {
		at := int(place) - d - 1
		if at < 0 || texts[at] != text {
			break
		}
		s.count(near, uint32(at), share*tf)
	}
}

func (s *scratch) count(near []uint32, place, tf uint32) {
	if near[place] == 0 {
		s.touched = append(s.touched, place)
	}
	near[place] += tf
}

// addTexts scores the items with occurrences and returns the maximum score of one.
func (s *scratch) addTexts(v *view, weight float64) (idf float64) {
	df := len(s.touchedTexts) + s.lists.docFreq.texts
	if s.subsets != nil {
		df = s.docFreq.texts
	}
	idf = weight * InverseFrequency(v.texts, df)
	s.lists.textIDF = idf
	s.bound += idf
	s.scoreTexts(v, idf)
	return idf
}

// scoreTexts scores the items with occurrences.
func (s *scratch) scoreTexts(v *view, idf float64) {
	for i, p := range v.parts {
		cols := p.columns()
		inText, texts := s.itemTf[v.firstTexts[i]:], s.textScores[v.firstTexts[i]:]
		for _, text := range of(s.touchedTexts, s.touchedTextEnds, i) {
			tf := float64(inText[text])
			inText[text] = 0
			texts[text] += s.textSat.weighed(idf, tf, cols.textLengths[text])
		}
	}
}

// addOpenings scores the items that have a word in their opening.
func (s *scratch) addOpenings(v *view, word string, score float64) error {
	if _, err := s.gather(v, openingMark+word, 1, uncounted); err != nil {
		return err
	}
	s.bound += score
	for i, p := range v.parts {
		cols, texts := p.columns(), s.textScores[v.firstTexts[i]:]
		inText := s.itemTf[v.firstTexts[i]:]
		list := of(s.postings, s.ends, i)
		for _, e := range list {
			if text := cols.text[cols.place[e.chunk]]; inText[text] == 0 {
				inText[text] = 1 // the word can be in the openings of the first and the second chunk
				texts[text] += score
			}
		}
		for _, e := range list {
			inText[cols.text[cols.place[e.chunk]]] = 0
		}
	}
	return nil
}

// Grams that many chunks have are ignored in large collections: their lists are the longest and
// discriminate least.
const (
	commonChunks = 1000
	commonShare  = 8
	unlimited    = math.MaxInt - 1
	uncounted    = math.MaxInt // no limit and no document frequency needed
)

// LimitOf returns the maximum number of chunks that may have a feature for it to count.
func LimitOf(kind analysis.Kind, chunks int) int {
	if kind == analysis.Gram {
		return max(commonChunks, chunks/commonShare)
	}
	return unlimited
}
