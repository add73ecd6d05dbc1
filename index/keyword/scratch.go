package keyword

import (
	"slices"

	"github.com/ragctx/ragctx/index"
)

// The terms of a unit of a long text count for those beside it too, less with the
// distance: by spill, in tenths.
const tenths = 10

var spill = [...]uint32{4, 2, 1}

// scratch is the working memory of one search. Units and parents of all parts are
// numbered through, see [view]; of dead ones nothing is counted.
type scratch struct {
	longText        int // see [Options]
	weights         kindWeights
	passage         float64 // what a unit's own score counts beside that of its parent
	opening         float64 // what a word counts that opens a parent
	unitSat         saturation
	textSat         saturation
	bound           float64   // of all scores, for the features so far
	units, texts    []float64 // scores, for the features so far
	postings        []posting // of the feature at hand, part by part
	ends            []int     // where those of each part end
	near, inText    []uint32  // occurrences of the feature at hand, in tenths and in whole; else zero
	touched         []uint32  // units in near, part by part
	touchedEnds     []int
	touchedTexts    []uint32 // parents in inText, part by part
	touchedTextEnds []int
}

func (s *scratch) start(v *view, longText int, p index.LexicalParams) {
	s.longText, s.weights, s.passage, s.opening = longText, kindWeightsOf(p), p.Passage, p.Opening
	s.bound = 0
	s.unitSat = saturationOf(p, v.live, float64(v.length))
	s.textSat = saturationOf(p, v.texts, float64(v.length))
	units, texts := v.firsts[len(v.parts)], v.firstTexts[len(v.parts)]
	s.units, s.texts = zeroed(s.units, units), zeroed(s.texts, texts)
	s.near, s.inText = zeroed(s.near, units), zeroed(s.inText, texts)
}

// zeroed returns n zeros, in the memory of s if there is enough.
func zeroed[T float64 | uint32](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// gather reads the live postings of a term that counts at most so often in a unit.
func (s *scratch) gather(v *view, text string, most uint32) (err error) {
	s.postings, s.ends = s.postings[:0], s.ends[:0]
	for _, p := range v.parts {
		if s.postings, err = p.postings(text, most, p.dead, s.postings); err != nil {
			return err
		}
		s.ends = append(s.ends, len(s.postings))
	}
	return nil
}

// of returns the part's share of a list with the given ends.
func of[T any](list []T, ends []int, part int) []T {
	start := 0
	if part > 0 {
		start = ends[part-1]
	}
	return list[start:ends[part]]
}

// scatter counts the postings at the units, those beside them, and the parents.
func (s *scratch) scatter(v *view) {
	s.touched, s.touchedEnds = s.touched[:0], s.touchedEnds[:0]
	s.touchedTexts, s.touchedTextEnds = s.touchedTexts[:0], s.touchedTextEnds[:0]
	for i, p := range v.parts {
		cols := p.columns()
		near, inText := s.near[v.firsts[i]:], s.inText[v.firstTexts[i]:]
		for _, e := range of(s.postings, s.ends, i) {
			place := cols.place[e.unit]
			text := cols.text[place]
			if inText[text] == 0 {
				s.touchedTexts = append(s.touchedTexts, text)
			}
			inText[text] += e.tf
			s.count(near, place, tenths*e.tf)
			if int(cols.count[text]) >= s.longText {
				s.spill(near, cols.text, place, e.tf)
			}
		}
		s.touchedEnds = append(s.touchedEnds, len(s.touched))
		s.touchedTextEnds = append(s.touchedTextEnds, len(s.touchedTexts))
	}
}

func (s *scratch) count(near []uint32, place, tf uint32) {
	if near[place] == 0 {
		s.touched = append(s.touched, place)
	}
	near[place] += tf
}

// spill counts an occurrence at the units beside place.
func (s *scratch) spill(near, texts []uint32, place, tf uint32) {
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

// addUnits scores the units at which something was counted.
func (s *scratch) addUnits(v *view, weight float64) {
	idf := weight * inverseFrequency(v.live, len(s.postings))
	s.bound += s.passage * idf
	for i, p := range v.parts {
		cols := p.columns()
		near, units := s.near[v.firsts[i]:], s.units[v.firsts[i]:]
		for _, place := range of(s.touched, s.touchedEnds, i) {
			tf := float64(near[place]) / tenths
			near[place] = 0
			units[place] += idf * s.unitSat.of(tf, float64(cols.size[place]))
		}
	}
}

// addTexts scores the parents in which something was counted, and returns the most
// that one could get.
func (s *scratch) addTexts(v *view, weight float64) (idf float64) {
	idf = weight * inverseFrequency(v.texts, len(s.touchedTexts))
	s.bound += idf
	for i, p := range v.parts {
		cols := p.columns()
		inText, texts := s.inText[v.firstTexts[i]:], s.texts[v.firstTexts[i]:]
		for _, text := range of(s.touchedTexts, s.touchedTextEnds, i) {
			tf := float64(inText[text])
			inText[text] = 0
			texts[text] += idf * s.textSat.of(tf, float64(cols.whole[text]))
		}
	}
	return idf
}

// addOpenings scores the parents that a word opens.
func (s *scratch) addOpenings(v *view, word string, score float64) error {
	if err := s.gather(v, openingMark+word, 1); err != nil {
		return err
	}
	s.bound += score
	for i, p := range v.parts {
		cols, texts := p.columns(), s.texts[v.firstTexts[i]:]
		inText := s.inText[v.firstTexts[i]:]
		list := of(s.postings, s.ends, i)
		for _, e := range list {
			if text := cols.text[cols.place[e.unit]]; inText[text] == 0 {
				inText[text] = 1 // a word can stand in the first unit and in the second
				texts[text] += score
			}
		}
		for _, e := range list {
			inText[cols.text[cols.place[e.unit]]] = 0
		}
	}
	return nil
}

// Grams that many units have are left out of large collections: their lists are
// the longest, and say the least.
const (
	commonUnits = 1000
	commonShare = 8
)

// common reports whether the feature at hand is in so many units.
func (s *scratch) common(v *view) bool {
	return len(s.postings) > max(commonUnits, v.live/commonShare)
}
