package keyword

import (
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
)

// groupScores scores groups of chunks, each as one text.
type groupScores struct {
	of      func(chunk uint64) int32
	sizes   []int32
	length  float64 // average length of a chunk
	sat     Saturation
	score   []float64
	tf      []uint32
	counted []int32 // the groups with a frequency in tf
	groupOf []int32 // group of each chunk plus 2; 0 if not looked up yet
}

func noGroups(g *index.Groups) []float64 {
	if g == nil {
		return nil
	}
	return make([]float64, len(g.Sizes))
}

// newGroupScores returns nil if the query has no groups.
func newGroupScores(v *view, s *scratch, g *index.Groups, p index.KeywordParams) *groupScores {
	if g == nil {
		return nil
	}
	chunks := 0.0
	for _, n := range g.Sizes {
		chunks += float64(n)
	}
	length := float64(v.length) / float64(max(v.live, 1))
	s.groups = zeros(s.groups, len(s.chunkScores))
	clear(s.groups)
	return &groupScores{
		of: g.Of, sizes: g.Sizes, length: length, sat: SaturationOf(p, len(g.Sizes), chunks*length),
		score: noGroups(g), tf: make([]uint32, len(g.Sizes)),
		groupOf: s.groups,
	}
}

// add scores the current term.
func (g *groupScores) add(v *view, s *scratch, weight float64) {
	for i, p := range v.parts {
		cols, known := p.columns(), g.groupOf[v.firsts[i]:]
		for _, e := range of(s.postings, s.ends, i) {
			place := cols.place[e.chunk]
			if known[place] == 0 {
				known[place] = max(g.of(cols.ids[place]), -1) + 2
			}
			g.count(known[place]-2, e.tf)
		}
	}
	for i, p := range s.lists.parts {
		if p.words != nil && s.skip {
			g.addList(v, i, p, s.lists.features[len(s.lists.features)-1].lists[i])
		}
	}
	idf := weight * InverseFrequency(len(g.sizes), len(g.counted))
	for _, group := range g.counted {
		g.score[group] += idf * g.sat.Of(float64(g.tf[group]), float64(g.sizes[group])*g.length)
		g.tf[group] = 0
	}
	g.counted = g.counted[:0]
}

// addList counts the postings that a part holds in memory.
func (g *groupScores) addList(v *view, part int, p partLists, list blockmax.List) {
	if list.Texts == 0 {
		return
	}
	cols, known := v.parts[part].columns(), g.groupOf[v.firsts[part]:]
	list.Each(func(e blockmax.Posting) {
		if p.dead.has(cols.text[e.Place]) {
			return
		}
		if known[e.Place] == 0 {
			known[e.Place] = max(g.of(cols.ids[e.Place]), -1) + 2
		}
		g.count(known[e.Place]-2, e.Tf)
	})
}

func (g *groupScores) count(group int32, tf uint32) {
	if group < 0 || int(group) >= len(g.tf) {
		return
	}
	if g.tf[group] == 0 {
		g.counted = append(g.counted, group)
	}
	g.tf[group] += tf
}

func (g *groupScores) scores() []float64 {
	if g == nil {
		return nil
	}
	return g.score
}
