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

// keywordModel is the reference implementation: the formula over maps.
type keywordModel struct {
	long   int // number of chunks that make an item long
	chunks map[uint64]modelChunk
}

type modelChunk struct {
	title, words []string // in order
	item         uint64
	tf           map[string]float64 // features of different kinds are different strings
	length       float64
}

func newKeywordModel() *keywordModel {
	return &keywordModel{long: index.LongText, chunks: make(map[uint64]modelChunk)}
}

func (m *keywordModel) apply(upserts []index.TextChunk, deletes []uint64) {
	for _, u := range upserts {
		chunk := modelChunk{item: itemOf(u), tf: make(map[string]float64)}
		for i, text := range []string{u.Title, u.Text, u.Extra} {
			analysis.Features(text, func(kind analysis.Kind, term []byte) {
				if kind != analysis.Word {
					chunk.tf[string(term)] = 1
					return
				}
				if i < 2 {
					chunk.length++
				}
				chunk.tf[string(term)] += []float64{2, 1, 1}[i]
				switch i {
				case 0:
					chunk.title = append(chunk.title, string(term))
				case 1:
					chunk.words = append(chunk.words, string(term))
				}
			})
		}
		for term, tf := range chunk.tf {
			chunk.tf[term] = min(tf, 16)
		}
		m.chunks[u.ID] = chunk
	}
	for _, id := range deletes {
		delete(m.chunks, id)
	}
}

// search scores a chunk by its item among all items, plus half its own score among all chunks.
func (m *keywordModel) search(q index.KeywordQuery) (hits []index.Scored, bound float64) {
	whole, near := m.items(), m.near()
	p := newModelParams(q.Params)
	terms := p.weigh(modelTerms(q))
	texts, textBound := p.bm25(whole, whole, terms)
	chunks, unitBound := p.bm25(m.chunks, near, terms)
	openings, openingBound := p.open(m.openings(), whole, terms)
	for id, s := range chunks {
		item := m.chunks[id].item
		hits = append(hits, index.Scored{ID: id, Score: texts[item] + openings[item] + p.passage*s})
	}
	slices.SortFunc(hits, func(a, b index.Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits, textBound + openingBound + p.passage*unitBound
}

// openings returns the opening words of each item: the title of its first chunk, and the first 40
// words of its texts.
func (m *keywordModel) openings() map[uint64]map[string]bool {
	words := make(map[uint64]map[string]bool)
	left := make(map[uint64]int)
	for _, id := range slices.Sorted(maps.Keys(m.chunks)) {
		u := m.chunks[id]
		if words[u.item] == nil {
			words[u.item], left[u.item] = make(map[string]bool), 40
			for _, w := range u.title {
				words[u.item][w] = true
			}
		}
		for _, w := range u.words[:min(left[u.item], len(u.words))] {
			words[u.item][w] = true
			left[u.item]--
		}
	}
	return words
}

// open scores items by their opening words.
func (p modelParams) open(
	openings map[uint64]map[string]bool, whole map[uint64]modelChunk, terms map[modelTerm]float64,
) (scores map[uint64]float64, bound float64) {
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
		idf := p.opening * weight * math.Log(1+(float64(len(whole))+index.UnseenTexts-df+0.5)/(df+0.5))
		bound += idf
		for id := range whole {
			if openings[id][term.text] {
				scores[id] += idf
			}
		}
	}
	return scores, bound
}

func (m *keywordModel) items() map[uint64]modelChunk {
	whole := make(map[uint64]modelChunk)
	for _, u := range m.chunks {
		p := whole[u.item]
		p.add(u, 1)
		p.length += u.length
		whole[u.item] = p
	}
	return whole
}

// near adds the terms of its neighbours to each chunk of a long item.
func (m *keywordModel) near() map[uint64]modelChunk {
	ids := slices.Sorted(maps.Keys(m.chunks))
	near := make(map[uint64]modelChunk)
	for _, id := range ids {
		chunk := modelChunk{length: m.chunks[id].length}
		at := -1
		var siblings []modelChunk
		for _, other := range ids {
			if m.chunks[other].item == m.chunks[id].item {
				if other == id {
					at = len(siblings)
				}
				siblings = append(siblings, m.chunks[other])
			}
		}
		for i, u := range siblings {
			if d := max(i-at, at-i); d == 0 || d <= 3 && len(siblings) >= m.long {
				chunk.add(u, []float64{1, .4, .2, .1}[d])
			}
		}
		near[id] = chunk
	}
	return near
}

func (u *modelChunk) add(other modelChunk, weight float64) {
	if u.tf == nil {
		u.tf = make(map[string]float64)
	}
	for term, tf := range other.tf {
		u.tf[term] += weight * tf
	}
}

// bm25 scores texts with the statistics of chunks.
func (p modelParams) bm25(chunks, texts map[uint64]modelChunk, terms map[modelTerm]float64) (scores map[uint64]float64, bound float64) {
	n, total := float64(len(chunks)), 0.0
	for _, u := range chunks {
		total += u.length
	}
	scores = make(map[uint64]float64)
	for term, weight := range terms {
		df := 0.0
		for _, u := range chunks {
			if u.tf[term.text] > 0 {
				df++
			}
		}
		idf := weight * math.Log(1+(n+index.UnseenTexts-df+0.5)/(df+0.5))
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
func (m *keywordModel) groups(q index.KeywordQuery, of func(uint64) int32, sizes []int32) []float64 {
	average := 0.0
	for _, u := range m.chunks {
		average += u.length / float64(len(m.chunks))
	}
	groups := make(map[uint64]modelChunk)
	for g, size := range sizes {
		groups[uint64(g)] = modelChunk{tf: make(map[string]float64), length: average * float64(size)}
	}
	for id, u := range m.chunks {
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

// scoreError is the allowed rounding error of scores, as a fraction of the bound plus 1.
const scoreError = 1e-9

// compare checks the index's whole result against the model's.
func (m *keywordModel) compare(l *keywordIndex, text string) {
	l.t.Helper()
	m.compareQuery(l, index.KeywordQuery{Text: text})
}

// compareFound checks which chunks are found, and that their scores are within bounds.
func (m *keywordModel) compareFound(l *keywordIndex, text string) {
	l.t.Helper()
	hits, _ := m.search(index.KeywordQuery{Text: text})
	want := make(map[uint64]bool)
	for _, h := range hits {
		want[h.ID] = true
	}
	if n := l.ix.Stats().Chunks; n != len(m.chunks) {
		l.t.Fatalf("Chunks = %d, want %d", n, len(m.chunks))
	}
	res := l.search(index.KeywordQuery{Text: text, K: len(m.chunks) + 5})
	for _, h := range res.Hits {
		if !want[h.ID] || !(h.Score > 0 && h.Score <= res.Max) {
			l.t.Fatalf("%q: hit %+v of %d chunks, Max %v", text, h, len(want), res.Max)
		}
	}
	if len(res.Hits) != len(want) {
		l.t.Fatalf("%q: %d hits, want %d", text, len(res.Hits), len(want))
	}
}

func (m *keywordModel) compareQuery(l *keywordIndex, q index.KeywordQuery) {
	l.t.Helper()
	read, asked := m.corrections(q)
	want, bound := m.search(asked)
	off := scoreError * (1 + bound)
	q.K = len(m.chunks) + 5
	res := l.search(q)
	if !slices.Equal(res.Corrections, read) {
		l.t.Fatalf("%+v: corrections %+v, want %+v", q, res.Corrections, read)
	}
	m.sameListed(l, q, read)
	if n := l.ix.Stats().Chunks; n != len(m.chunks) {
		l.t.Fatalf("Chunks = %d, want %d", n, len(m.chunks))
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
			l.t.Fatalf("%+v: chunk %d scores %v, not within 0 to Max, %v", q, h.ID, h.Score, res.Max)
		}
		got[h.ID] = h.Score
	}
	if len(got) != len(want) || len(res.Hits) != len(want) {
		l.t.Fatalf("%+v: %d hits of %d chunks, want %d", q, len(res.Hits), len(got), len(want))
	}
	for _, h := range want {
		if s, ok := got[h.ID]; !ok || !(math.Abs(s-h.Score) <= off) {
			l.t.Fatalf("%+v: chunk %d scores %v (found: %v), want %v", q, h.ID, s, ok, h.Score)
		}
	}
}

// compareGroups checks the scores of groups of items.
func (m *keywordModel) compareGroups(l *keywordIndex, q index.KeywordQuery) {
	l.t.Helper()
	of := func(id uint64) int32 { return int32(id/4)%4 - 1 } //nolint:gosec // small
	sizes := make([]int32, 3)
	for id := range m.chunks {
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

// keywordModelTest applies random changes, flushes and reopens. It checks every result against the
// model, and the scores, bit for bit, against a second index that received the same chunks at once. Without a list of words it asks
// for no corrections and patterns.
func keywordModelTest(t *testing.T, open OpenKeyword, long int, listed bool) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		l := &keywordIndex{t: rt, ix: open(t, dir)}
		defer func() { _ = l.ix.Close() }()
		model := newKeywordModel()
		model.long = long
		log := &keywordLog{}
		item := rapid.Uint64Range(0, 7)
		rt.Repeat(map[string]func(*rapid.T){
			"apply": func(rt *rapid.T) {
				var c keywordChange
				for _, p := range rapid.SliceOfN(item, 0, 2).Draw(rt, "deletes") {
					c.deletes = append(c.deletes, chunksOf(p)...)
				}
				for _, p := range rapid.SliceOfN(item, 0, 3).Draw(rt, "upserts") {
					for _, id := range chunksOf(p) {
						c.upserts = append(c.upserts, index.TextChunk{
							ID: id, Item: p + 1, Title: drawWords(rt, "title", 2), Text: drawWords(rt, "text", 8),
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
				if c := l.ix.Cursor(); c != l.seq {
					rt.Fatalf("Cursor = %d after Flush, want %d", c, l.seq)
				}
			},
			"reopen": func(*rapid.T) {
				if err := l.ix.Close(); err != nil {
					rt.Fatalf("Close: %v", err)
				}
				l.ix = open(t, dir)
				log.replay(l)
			},
			"": func(rt *rapid.T) {
				query := drawQuery(rt)
				pattern, words := drawPattern(rt), rapid.IntRange(1, 5).Draw(rt, "words")
				if listed {
					l.wordsAre(model, pattern, words)
				} else {
					query.Spelling = nil
				}
				model.compareQuery(l, query)
				model.compareGroups(l, query)
				l.sameWithOnly(rt, query)
			},
		})
		sameBits(rt, l, open(t, t.TempDir()), *log, listed)
	})
}

// chunksOf returns the ids of an item's chunks, one to four.
func chunksOf(item uint64) []uint64 {
	var ids []uint64
	for i := range item%4 + 1 {
		ids = append(ids, 4*item+i)
	}
	return ids
}

type keywordChange struct {
	upserts []index.TextChunk
	deletes []uint64
}

type keywordLog []keywordChange

// replay applies the changes after the index's cursor.
func (log keywordLog) replay(l *keywordIndex) {
	l.seq = l.ix.Cursor()
	if l.seq > uint64(len(log)) {
		l.t.Fatalf("Cursor = %d of %d changes", l.seq, len(log))
	}
	for _, c := range log[l.seq:] {
		l.apply(c.upserts, c.deletes...)
	}
}

// sameBits fills another index with the live chunks only and compares the scores.
func sameBits(rt *rapid.T, l *keywordIndex, fresh index.KeywordIndex, log keywordLog, listed bool) {
	other := &keywordIndex{t: rt, ix: fresh}
	defer func() { _ = fresh.Close() }()
	live := make(map[uint64]index.TextChunk)
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
		if !listed {
			q.Spelling = nil
		}
		if a, b := l.search(q), other.search(q); a.Max != b.Max || !slices.Equal(a.Hits, b.Hits) ||
			!slices.Equal(a.Corrections, b.Corrections) {
			rt.Fatalf("scores depend on how chunks are stored, for %+v:\n%s", q, fmt.Sprintf("%v\n%v", a, b))
		}
	}
}
