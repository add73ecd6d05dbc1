package keyword

import "github.com/ragctx/ragctx/index"

// groupScores scores groups of units, each as one text.
type groupScores struct {
	of     func(unit uint64) int32
	sizes  []int32
	length float64 // of a unit, on average
	sat    saturation
	score  []float64
	tf     []uint32
	counts []int32 // groups in tf
}

func noGroups(g *index.Groups) []float64 {
	if g == nil {
		return nil
	}
	return make([]float64, len(g.Sizes))
}

// newGroupScores returns nil if no groups are asked about.
func newGroupScores(v *view, g *index.Groups, p index.LexicalParams) *groupScores {
	if g == nil {
		return nil
	}
	units := 0.0
	for _, n := range g.Sizes {
		units += float64(n)
	}
	length := float64(v.length) / float64(max(v.live, 1))
	return &groupScores{
		of: g.Of, sizes: g.Sizes, length: length, sat: saturationOf(p, len(g.Sizes), units*length),
		score: noGroups(g), tf: make([]uint32, len(g.Sizes)),
	}
}

// add scores the term at hand.
func (g *groupScores) add(v *view, s *scratch, weight float64) {
	for i, p := range v.parts {
		cols := p.columns()
		for _, e := range of(s.postings, s.ends, i) {
			g.count(g.of(cols.ids[e.unit]), e.tf)
		}
	}
	idf := weight * inverseFrequency(len(g.sizes), len(g.counts))
	for _, group := range g.counts {
		g.score[group] += idf * g.sat.of(float64(g.tf[group]), float64(g.sizes[group])*g.length)
		g.tf[group] = 0
	}
	g.counts = g.counts[:0]
}

func (g *groupScores) count(group int32, tf uint32) {
	if group < 0 || int(group) >= len(g.tf) {
		return
	}
	if g.tf[group] == 0 {
		g.counts = append(g.counts, group)
	}
	g.tf[group] += tf
}

func (g *groupScores) scores() []float64 {
	if g == nil {
		return nil
	}
	return g.score
}
