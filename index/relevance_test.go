package index

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestRelevance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "hits")
		hits := make([]Candidate, n)
		score := 1.0
		for i := range hits {
			score *= rapid.Float64Range(0, 1).Draw(t, "share")
			hits[i].Hit = Hit{ID: uint64(i), Item: rapid.Uint64Range(1, 40).Draw(t, "parent"), Score: score}
		}
		setRelevance(hits, true)
		last := math.Inf(1)
		for i, h := range hits {
			if !(h.Relevance >= 0 && h.Relevance <= 1) {
				t.Fatalf("hit %d of score %v has relevance %v", i, h.Score, h.Relevance)
			}
			if h.Relevance > last {
				t.Fatalf("hit %d is more relevant than a better one", i)
			}
			last = h.Relevance
		}
	})
}

// What stands out is relevant, what looks like everything else is not, in
// collections of any size.
func TestRelevanceOfWhatStandsOut(t *testing.T) {
	search := func(scores ...float64) []Candidate {
		hits := make([]Candidate, len(scores))
		for i, s := range scores {
			hits[i].Hit = Hit{ID: uint64(i), Item: uint64(i), Score: s}
		}
		return setRelevance(hits, true)
	}
	flat := make([]float64, 100)
	for i := range flat {
		flat[i] = 0.3 - float64(i)/10000
	}
	steep := append([]float64{0.6}, flat...)
	if out, in := search(steep...)[0].Relevance, search(flat...)[0].Relevance; out < 2*in {
		t.Errorf("twice the score of the rest is %.2f relevant, one of many is %.2f", out, in)
	}
	if r := search(0.5, 0.1)[0].Relevance; r < 0.5 {
		t.Errorf("a good match among two texts is %.2f relevant", r)
	}
	if r := search(0.04, 0.03)[0].Relevance; r > 0.2 {
		t.Errorf("a chance match among two texts is %.2f relevant", r)
	}
	if hits := setRelevance([]Candidate{{Hit: Hit{Score: 0.4}}, {Hit: Hit{Score: 0.3}}}, false); hits[0].Relevance != 0.4 || hits[1].Relevance != 0.3 {
		t.Errorf("without words: %+v", hits)
	}
	setRelevance(nil, true)
	for _, h := range setRelevance(make([]Candidate, 3), true) {
		if h.Relevance != 0 {
			t.Errorf("no score is %v relevant", h.Relevance)
		}
	}
}
