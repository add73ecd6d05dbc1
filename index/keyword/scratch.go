package keyword

import (
	"errors"
	"math"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword/blockmax"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// The terms of a unit of a long text count for those beside it too, less with the
// distance: by spill, in tenths.
const tenths = blockmax.Tenths

var spill = [...]uint32{4, 2, 1}

// scratch is the working memory of one search. Units and parents of all parts are
// numbered through by place, see [view]; of dead ones nothing is counted.
type scratch struct {
	longText         int // see [Options]
	params           index.LexicalParams
	weights          kindWeights
	passage          float64 // what a unit's own score counts beside that of its parent
	opening          float64 // what a word counts that opens a parent
	unitSat, textSat saturation
	bound            float64 // of all scores, for the features so far

	fewReader          // with the postings of the feature at hand, part by part
	few       []subset // what postings are read of, part by part; nil is all units
	spread    spread   // of the feature at hand, where postings has not all
	ahead     ahead

	// All zeros between searches: scores, for the features so far.
	units, texts []float64
	// All zeros between features: occurrences, in tenths and in whole.
	near, inText    []uint32
	touched         []uint32 // units of a part in near
	touchedTexts    []uint32 // parents in inText, part by part
	touchedTextEnds []int

	groups []int32 // see [groupScores]

	best  []found    // see [scratch.rank]
	short [][]uint32 // places of the units of the short list, part by part; nil without

	lists lists
	skip  bool // the feature at hand is in lists, where parts have them
}

func (s *scratch) start(v *view, longText int, p index.LexicalParams) {
	s.longText, s.weights, s.passage, s.opening = longText, kindWeightsOf(p), p.Passage, p.Opening
	s.bound, s.few, s.short, s.params = 0, v.few, nil, p
	s.unitSat = saturationOf(p, v.live, float64(v.length))
	s.textSat = saturationOf(p, v.texts, float64(v.length))
	units, texts := v.firsts[len(v.parts)], v.firstTexts[len(v.parts)]
	s.units, s.texts = zeros(s.units, units), zeros(s.texts, texts)
	s.near, s.inText = zeros(s.near, units), zeros(s.inText, texts)
	s.useLists(v, false)
}

// clear sets the scores to zero.
func (s *scratch) clear(v *view) {
	for i, p := range s.lists.parts {
		if p.words != nil {
			s.forget(v, i, p.chosen)
			continue
		}
		clear(s.units[v.firsts[i]:v.firsts[i+1]])
		clear(s.texts[v.firstTexts[i]:v.firstTexts[i+1]])
	}
}

// zeros returns n zeros, in the memory of s, which holds nothing else, if there is
// enough.
func zeros[T float64 | uint32 | uint64 | int32](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// gather reads the live postings of a term that counts at most so often in a unit.
// It reports false, and may have read nothing, if more than limit units have it.
func (s *scratch) gather(v *view, term string, most uint32, limit int) (bool, error) {
	if s.few != nil {
		return s.gatherAmong(term, most, limit, v.few != nil)
	}
	s.postings, s.ends = s.postings[:0], s.ends[:0]
	for i, p := range v.parts {
		if s.skip && s.lists.parts[i].words != nil {
			s.ends = append(s.ends, len(s.postings))
			continue
		}
		q := lookup{term: term, most: most, limit: limit}
		if limit < unlimited {
			q.limit += p.columns().units() - p.live - len(s.postings)
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

// of returns the part's share of a list with the given ends.
func of[T any](list []T, ends []int, part int) []T {
	start := 0
	if part > 0 {
		start = ends[part-1]
	}
	return list[start:ends[part]]
}

// frequency returns how many units have the feature at hand.
func (s *scratch) frequency() int {
	if s.few != nil {
		return s.spread.units
	}
	return len(s.postings) + s.lists.spread.units
}

// add scores the feature at hand, and returns the most that a parent could get.
func (s *scratch) add(v *view, weight float64) float64 {
	idf := weight * inverseFrequency(v.live, s.frequency())
	s.lists.unitIDF = idf
	s.bound += s.passage * idf
	s.touchedTexts, s.touchedTextEnds = s.touchedTexts[:0], s.touchedTextEnds[:0]
	for i, p := range v.parts {
		s.addUnits(v, i, p.columns(), idf)
		if s.few == nil && !s.skip && s.lists.parts[i].words != nil {
			s.raise(v, i, p.columns())
		}
		s.touchedTextEnds = append(s.touchedTextEnds, len(s.touchedTexts))
	}
	return s.addTexts(v, weight)
}

// addUnits scores the units of a part, and counts the postings at their parents.
func (s *scratch) addUnits(v *view, part int, cols *columns, idf float64) {
	units, inText := s.units[v.firsts[part]:], s.inText[v.firstTexts[part]:]
	near := s.near[v.firsts[part]:]
	s.touched = s.touched[:0]
	for _, e := range of(s.postings, s.ends, part) {
		place := cols.place[e.unit]
		text := cols.text[place]
		if inText[text] == 0 {
			s.touchedTexts = append(s.touchedTexts, text)
		}
		inText[text] += e.tf
		if int(cols.count[text]) >= s.longText {
			s.spill(near, cols.text, place, e.tf)
			continue
		}
		units[place] += s.unitSat.weighed(idf, float64(e.tf), cols.size[place])
	}
	for _, place := range s.touched {
		tf := float64(near[place]) / tenths
		near[place] = 0
		units[place] += s.unitSat.weighed(idf, tf, cols.size[place])
	}
}

// spill counts an occurrence in a long text at place and beside it.
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

// addTexts scores the parents in which something was counted, and returns the most
// that one could get.
func (s *scratch) addTexts(v *view, weight float64) (idf float64) {
	df := len(s.touchedTexts) + s.lists.spread.texts
	if s.few != nil {
		df = s.spread.texts
	}
	idf = weight * inverseFrequency(v.texts, df)
	s.lists.textIDF = idf
	s.bound += idf
	s.scoreTexts(v, idf)
	return idf
}

// scoreTexts scores the parents in which something was counted.
func (s *scratch) scoreTexts(v *view, idf float64) {
	for i, p := range v.parts {
		cols := p.columns()
		inText, texts := s.inText[v.firstTexts[i]:], s.texts[v.firstTexts[i]:]
		for _, text := range of(s.touchedTexts, s.touchedTextEnds, i) {
			tf := float64(inText[text])
			inText[text] = 0
			texts[text] += s.textSat.weighed(idf, tf, cols.whole[text])
		}
	}
}

// addOpenings scores the parents that a word opens.
func (s *scratch) addOpenings(v *view, word string, score float64) error {
	if _, err := s.gather(v, openingMark+word, 1, uncounted); err != nil {
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
	unlimited   = math.MaxInt - 1
	uncounted   = math.MaxInt // where it does not matter how many have it, either
)

// limitOf returns how many of so many units may have a feature for it to count.
func limitOf(kind analysis.Kind, units int) int {
	if kind == analysis.Gram {
		return max(commonUnits, units/commonShare)
	}
	return unlimited
}
