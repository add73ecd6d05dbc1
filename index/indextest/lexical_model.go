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

	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/index"
)

// lexModel is BM25 as one would write it down, over maps.
type lexModel struct {
	units map[uint64]modelUnit
}

type modelUnit struct {
	parent uint64
	tf     map[string]float64
	length float64
}

func newLexicalModel() *lexModel { return &lexModel{units: make(map[uint64]modelUnit)} }

func (m *lexModel) apply(upserts []index.TextUnit, deletes []uint64) {
	for _, u := range upserts {
		unit := modelUnit{parent: parentOf(u), tf: make(map[string]float64)}
		for _, term := range analysis.Index(u.Title) {
			unit.tf[term] += 2
			unit.length++
		}
		for _, term := range analysis.Index(u.Text) {
			unit.tf[term]++
			unit.length++
		}
		m.units[u.ID] = unit
	}
	for _, id := range deletes {
		delete(m.units, id)
	}
}

// search scores a unit by its parent among all parents, plus half its own score
// among all units.
func (m *lexModel) search(text string) (hits []index.Scored, bound float64) {
	whole := make(map[uint64]modelUnit)
	for _, u := range m.units {
		p := whole[u.parent]
		if p.tf == nil {
			p.tf = make(map[string]float64)
		}
		for term, tf := range u.tf {
			p.tf[term] += tf
		}
		p.length += u.length
		whole[u.parent] = p
	}
	terms := analysis.QueryTerms(text)
	texts, textBound := bm25(whole, terms)
	units, unitBound := bm25(m.units, terms)
	for id, s := range units {
		hits = append(hits, index.Scored{ID: id, Score: texts[m.units[id].parent] + s/2})
	}
	slices.SortFunc(hits, func(a, b index.Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits, textBound + unitBound/2
}

func bm25(units map[uint64]modelUnit, terms []analysis.QueryTerm) (scores map[uint64]float64, bound float64) {
	n, total := float64(len(units)), 0.0
	for _, u := range units {
		total += u.length
	}
	scores = make(map[uint64]float64)
	for _, term := range terms {
		df := 0.0
		for _, u := range units {
			if u.tf[term.Text] > 0 {
				df++
			}
		}
		idf := float64(term.Count) * math.Log(1+(n-df+0.5)/(df+0.5))
		bound += idf
		for id, u := range units {
			if tf := u.tf[term.Text]; tf > 0 {
				scores[id] += idf * tf / (tf + 1.2*(1-0.9+0.9*(u.length+20)/(total/n+20)))
			}
		}
	}
	return scores, bound
}

const scoreError = 1e-9

// compare checks the leg's whole answer against the model's.
func (m *lexModel) compare(l *lex, text string) {
	l.t.Helper()
	want, bound := m.search(text)
	res := l.search(index.LexicalQuery{Text: text, K: len(m.units) + 5})
	if n := l.leg.Stats().Units; n != len(m.units) {
		l.t.Fatalf("Units = %d, want %d", n, len(m.units))
	}
	if math.Abs(res.Max-bound) > scoreError*(1+bound) {
		l.t.Fatalf("%q: Max = %v, want %v", text, res.Max, bound)
	}
	if !slices.IsSortedFunc(res.Hits, func(a, b index.Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	}) {
		l.t.Fatalf("%q: hits are not in order: %v", text, res.Hits)
	}
	got := make(map[uint64]float64)
	for _, h := range res.Hits {
		got[h.ID] = h.Score
	}
	if len(got) != len(want) || len(res.Hits) != len(want) {
		l.t.Fatalf("%q: %d hits of %d units, want %d", text, len(res.Hits), len(got), len(want))
	}
	for _, h := range want {
		if s, ok := got[h.ID]; !ok || math.Abs(s-h.Score) > scoreError {
			l.t.Fatalf("%q: unit %d scores %v (found: %v), want %v", text, h.ID, s, ok, h.Score)
		}
	}
}

var modelWords = []string{
	"ship", "ships", "harbour", "storm", "the", "of", "is", "user_id", "parseHTTPRequest", "1.5", "2023-05-08",
	"книги", "книга", "学习", "機器学習", "ไทย", "كتاب", "Brücke", "http.Client", "a", "needle",
}

func drawWords(rt *rapid.T, label string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(modelWords), 0, most).Draw(rt, label), " ")
}

// lexicalModel applies random changes, flushes and reopens, and expects the
// model's answers all the time, and the very same scores from a second leg that
// was given the same units at once.
func lexicalModel(t *testing.T, open OpenLexical) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		l := &lex{t: rt, leg: open(t, dir)}
		defer func() { _ = l.leg.Close() }()
		model := newLexicalModel()
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
						})
					}
				}
				*log = append(*log, c)
				l.apply(c.upserts, c.deletes...)
				model.apply(c.upserts, c.deletes)
			},
			"flush": func(*rapid.T) {
				l.flush()
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
			"": func(rt *rapid.T) { model.compare(l, drawWords(rt, "query", 4)) },
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
		q := index.LexicalQuery{Text: drawWords(rt, "query", 6), K: rapid.IntRange(0, 20).Draw(rt, "k")}
		if a, b := l.search(q), other.search(q); a.Max != b.Max || !slices.Equal(a.Hits, b.Hits) {
			rt.Fatalf("scores depend on how units are stored, for %q:\n%s", q.Text, fmt.Sprintf("%v\n%v", a, b))
		}
	}
}
