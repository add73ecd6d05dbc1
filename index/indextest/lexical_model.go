package indextest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// lexModel is the score as one would write it down, over maps.
type lexModel struct {
	long  int // units of a long parent
	units map[uint64]modelUnit
}

// longText is the default of the legs.
const longText = 32

type modelUnit struct {
	title, words []string // as they stand
	parent       uint64
	tf           map[string]float64 // the kinds of features are different strings
	length       float64
}

func newLexicalModel() *lexModel { return &lexModel{long: longText, units: make(map[uint64]modelUnit)} }

func (m *lexModel) apply(upserts []index.TextUnit, deletes []uint64) {
	for _, u := range upserts {
		unit := modelUnit{parent: parentOf(u), tf: make(map[string]float64)}
		for i, text := range []string{u.Title, u.Text, u.Extra} {
			analysis.Features(text, func(kind analysis.Kind, term []byte) {
				if kind != analysis.Word {
					unit.tf[string(term)] = 1
					return
				}
				if i < 2 {
					unit.length++
				}
				unit.tf[string(term)] += []float64{2, 1, 1}[i]
				switch i {
				case 0:
					unit.title = append(unit.title, string(term))
				case 1:
					unit.words = append(unit.words, string(term))
				}
			})
		}
		for term, tf := range unit.tf {
			unit.tf[term] = min(tf, 16)
		}
		m.units[u.ID] = unit
	}
	for _, id := range deletes {
		delete(m.units, id)
	}
}

// search scores a unit by its parent among all parents, plus half its own score
// among all units.
func (m *lexModel) search(q index.LexicalQuery) (hits []index.Scored, bound float64) {
	whole, near := m.parents(), m.near()
	p := newModelParams(q.Params)
	terms := p.weigh(modelTerms(q))
	texts, textBound := p.bm25(whole, whole, terms)
	units, unitBound := p.bm25(m.units, near, terms)
	openings, openingBound := p.open(m.openings(), whole, terms)
	for id, s := range units {
		parent := m.units[id].parent
		hits = append(hits, index.Scored{ID: id, Score: texts[parent] + openings[parent] + p.passage*s})
	}
	slices.SortFunc(hits, func(a, b index.Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits, textBound + openingBound + p.passage*unitBound
}

// openings returns the words that open each parent: of its first unit's title, and
// the first 40 of all texts.
func (m *lexModel) openings() map[uint64]map[string]bool {
	words := make(map[uint64]map[string]bool)
	left := make(map[uint64]int)
	for _, id := range slices.Sorted(maps.Keys(m.units)) {
		u := m.units[id]
		if words[u.parent] == nil {
			words[u.parent], left[u.parent] = make(map[string]bool), 40
			for _, w := range u.title {
				words[u.parent][w] = true
			}
		}
		for _, w := range u.words[:min(left[u.parent], len(u.words))] {
			words[u.parent][w] = true
			left[u.parent]--
		}
	}
	return words
}

// open scores parents by the words that open them.
func (p modelParams) open(openings map[uint64]map[string]bool, whole map[uint64]modelUnit, terms map[modelTerm]float64) (scores map[uint64]float64, bound float64) {
	scores = make(map[uint64]float64)
	for term, weight := range terms {
		if term.kind != analysis.Word {
			continue
		}
		df := 0.0
		for _, u := range whole {
			if u.tf[term.text] > 0 {
				df++
			}
		}
		idf := p.opening * weight * math.Log(1+(float64(len(whole))-df+0.5)/(df+0.5))
		bound += idf
		for id := range whole {
			if openings[id][term.text] {
				scores[id] += idf
			}
		}
	}
	return scores, bound
}

func (m *lexModel) parents() map[uint64]modelUnit {
	whole := make(map[uint64]modelUnit)
	for _, u := range m.units {
		p := whole[u.parent]
		p.add(u, 1)
		p.length += u.length
		whole[u.parent] = p
	}
	return whole
}

// near adds to each unit of a long parent the terms of those beside it.
func (m *lexModel) near() map[uint64]modelUnit {
	ids := slices.Sorted(maps.Keys(m.units))
	near := make(map[uint64]modelUnit)
	for _, id := range ids {
		unit := modelUnit{length: m.units[id].length}
		at := -1
		var siblings []modelUnit
		for _, other := range ids {
			if m.units[other].parent == m.units[id].parent {
				if other == id {
					at = len(siblings)
				}
				siblings = append(siblings, m.units[other])
			}
		}
		for i, u := range siblings {
			if d := max(i-at, at-i); d == 0 || d <= 3 && len(siblings) >= m.long {
				unit.add(u, []float64{1, .4, .2, .1}[d])
			}
		}
		near[id] = unit
	}
	return near
}

func (u *modelUnit) add(other modelUnit, weight float64) {
	if u.tf == nil {
		u.tf = make(map[string]float64)
	}
	for term, tf := range other.tf {
		u.tf[term] += weight * tf
	}
}

// bm25 scores texts with the statistics of units.
func (p modelParams) bm25(units, texts map[uint64]modelUnit, terms map[modelTerm]float64) (scores map[uint64]float64, bound float64) {
	n, total := float64(len(units)), 0.0
	for _, u := range units {
		total += u.length
	}
	scores = make(map[uint64]float64)
	for term, weight := range terms {
		df := 0.0
		for _, u := range units {
			if u.tf[term.text] > 0 {
				df++
			}
		}
		idf := weight * math.Log(1+(n-df+0.5)/(df+0.5))
		bound += idf
		for id, u := range texts {
			if tf := u.tf[term.text]; tf > 0 {
				scores[id] += idf * tf / (tf + p.k1*(1-p.b+p.b*(u.length+20)/(total/n+20)))
			}
		}
	}
	return scores, bound
}

// groups scores groups by their words, each as one text.
func (m *lexModel) groups(q index.LexicalQuery, of func(uint64) int32, sizes []int32) []float64 {
	average := 0.0
	for _, u := range m.units {
		average += u.length / float64(len(m.units))
	}
	groups := make(map[uint64]modelUnit)
	for g, size := range sizes {
		groups[uint64(g)] = modelUnit{tf: make(map[string]float64), length: average * float64(size)}
	}
	for id, u := range m.units {
		if g := of(id); g >= 0 {
			group := groups[uint64(g)]
			group.add(u, 1)
		}
	}
	words := modelTerms(q)
	maps.DeleteFunc(words, func(t modelTerm, _ float64) bool { return t.kind != analysis.Word })
	scores, _ := newModelParams(q.Params).bm25(groups, groups, words)
	out := make([]float64, len(sizes))
	for g := range out {
		out[g] = scores[uint64(g)]
	}
	return out
}

// scoreError is what scores may be off, in shares of the bound and 1.
const scoreError = 1e-9

// compare checks the leg's whole answer against the model's.
func (m *lexModel) compare(l *lex, text string) {
	l.t.Helper()
	m.compareQuery(l, index.LexicalQuery{Text: text})
}

func (m *lexModel) compareQuery(l *lex, q index.LexicalQuery) {
	l.t.Helper()
	read, asked := m.corrections(q)
	want, bound := m.search(asked)
	off := scoreError * (1 + bound)
	q.K = len(m.units) + 5
	res := l.search(q)
	if !slices.Equal(res.Corrections, read) {
		l.t.Fatalf("%+v: corrections %+v, want %+v", q, res.Corrections, read)
	}
	m.sameListed(l, q, read)
	if n := l.leg.Stats().Units; n != len(m.units) {
		l.t.Fatalf("Units = %d, want %d", n, len(m.units))
	}
	if !(math.Abs(res.Max-bound) <= off) {
		l.t.Fatalf("%+v: Max = %v, want %v", q, res.Max, bound)
	}
	if !slices.IsSortedFunc(res.Hits, func(a, b index.Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	}) {
		l.t.Fatalf("%+v: hits are not in order: %v", q, res.Hits)
	}
	got := make(map[uint64]float64)
	for _, h := range res.Hits {
		if !(h.Score >= 0 && h.Score <= res.Max && h.Score/res.Max <= 1) {
			l.t.Fatalf("%+v: unit %d scores %v, not within 0 to Max, %v", q, h.ID, h.Score, res.Max)
		}
		got[h.ID] = h.Score
	}
	if len(got) != len(want) || len(res.Hits) != len(want) {
		l.t.Fatalf("%+v: %d hits of %d units, want %d", q, len(res.Hits), len(got), len(want))
	}
	for _, h := range want {
		if s, ok := got[h.ID]; !ok || !(math.Abs(s-h.Score) <= off) {
			l.t.Fatalf("%+v: unit %d scores %v (found: %v), want %v", q, h.ID, s, ok, h.Score)
		}
	}
}

// compareGroups checks the scores of groups of parents.
func (m *lexModel) compareGroups(l *lex, q index.LexicalQuery) {
	l.t.Helper()
	of := func(id uint64) int32 { return int32(id/4)%4 - 1 } //nolint:gosec // small
	sizes := make([]int32, 3)
	for id := range m.units {
		if g := of(id); g >= 0 {
			sizes[g]++
		}
	}
	_, asked := m.corrections(q)
	want := m.groups(asked, of, sizes)
	q.K, q.Groups = 1, &index.Groups{Of: of, Sizes: sizes}
	got := l.search(q).Groups
	if len(got) != len(want) {
		l.t.Fatalf("%+v: %d groups, want %d", q, len(got), len(want))
	}
	for g := range want {
		if !(math.Abs(got[g]-want[g]) <= scoreError*(1+want[g])) {
			l.t.Fatalf("%+v: group %d scores %v, want %v", q, g, got[g], want[g])
		}
	}
}

var modelWords = []string{
	"ship", "ships", "harbour", "storm", "the", "of", "is", "user_id", "parseHTTPRequest", "1.5", "2023-05-08",
	"needles", "книги", "книга", "学习", "機器学習", "ไทย", "كتاب", "Brücke", "http.Client", "a", "needle",
}

func drawWords(rt *rapid.T, label string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(modelWords), 0, most).Draw(rt, label), " ")
}

// lexicalModel applies random changes, flushes and reopens, and expects the
// model's answers all the time, and the very same scores from a second leg that
// was given the same units at once.
func lexicalModel(t *testing.T, open OpenLexical, long int) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		l := &lex{t: rt, leg: open(t, dir)}
		defer func() { _ = l.leg.Close() }()
		model := newLexicalModel()
		model.long = long
		log := &lexLog{}
		parent := rapid.Uint64Range(0, 7)
		rt.Repeat(map[string]func(*rapid.T){
			"apply": func(rt *rapid.T) {
				var c lexChange
				for _, p := range rapid.SliceOfN(parent, 0, 2).Draw(rt, "deletes") {
					c.deletes = append(c.deletes, unitsOf(p)...)
				}
				for _, p := range rapid.SliceOfN(parent, 0, 3).Draw(rt, "upserts") {
					for _, id := range unitsOf(p) {
						c.upserts = append(c.upserts, index.TextUnit{
							ID: id, Parent: p + 1, Title: drawWords(rt, "title", 2), Text: drawWords(rt, "text", 8),
							Extra: drawWords(rt, "extra", 1),
						})
					}
				}
				*log = append(*log, c)
				l.apply(c.upserts, c.deletes...)
				model.apply(c.upserts, c.deletes)
			},
			"flush": func(rt *rapid.T) {
				l.flush()
				if rapid.IntRange(0, 5).Draw(rt, "compact") == 5 {
					l.compact()
				}
				if c := l.leg.Cursor(); c != l.seq {
					rt.Fatalf("Cursor = %d after Flush, want %d", c, l.seq)
				}
			},
			"reopen": func(*rapid.T) {
				if err := l.leg.Close(); err != nil {
					rt.Fatalf("Close: %v", err)
				}
				l.leg = open(t, dir)
				log.replay(l)
			},
			"": func(rt *rapid.T) {
				query := drawQuery(rt)
				model.compareQuery(l, query)
				model.compareGroups(l, query)
				l.wordsAre(model, drawPattern(rt), rapid.IntRange(1, 5).Draw(rt, "words"))
				l.sameAmong(rt, query)
			},
		})
		sameBits(rt, l, open(t, t.TempDir()), *log)
	})
}

// unitsOf returns the ids of a parent's units, of which there are one to four.
func unitsOf(parent uint64) []uint64 {
	var ids []uint64
	for i := range parent%4 + 1 {
		ids = append(ids, 4*parent+i)
	}
	return ids
}

type lexChange struct {
	upserts []index.TextUnit
	deletes []uint64
}

type lexLog []lexChange

// replay applies what the leg has not kept.
func (log lexLog) replay(l *lex) {
	l.seq = l.leg.Cursor()
	if l.seq > uint64(len(log)) {
		l.t.Fatalf("Cursor = %d of %d changes", l.seq, len(log))
	}
	for _, c := range log[l.seq:] {
		l.apply(c.upserts, c.deletes...)
	}
}

// sameBits fills another leg with the live units alone.
func sameBits(rt *rapid.T, l *lex, fresh index.Lexical, log lexLog) {
	other := &lex{t: rt, leg: fresh}
	defer func() { _ = fresh.Close() }()
	live := make(map[uint64]index.TextUnit)
	for _, c := range log {
		for _, u := range c.upserts {
			live[u.ID] = u
		}
		for _, id := range c.deletes {
			delete(live, id)
		}
	}
	other.apply(slices.Collect(maps.Values(live)))
	for range 3 {
		q := drawQuery(rt)
		q.K = rapid.IntRange(0, 20).Draw(rt, "k")
		if a, b := l.search(q), other.search(q); a.Max != b.Max || !slices.Equal(a.Hits, b.Hits) || !slices.Equal(a.Corrections, b.Corrections) {
			rt.Fatalf("scores depend on how units are stored, for %+v:\n%s", q, fmt.Sprintf("%v\n%v", a, b))
		}
	}
}
