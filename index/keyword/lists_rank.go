package keyword

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
)

// listSink receives the results of searching a part's lists.
type listSink struct {
	*wordLists
	bar      topScores // of scores that are subject to rounding
	part     int
	cols     *columns
	accept   index.Accept
	accepted uint32 // the first accepted place of the current text
}

// Wanted implements [blockmax.Sink].
func (f *listSink) Wanted(text uint32) bool {
	start := f.wordLists.parts[f.part].words.Start
	f.accepted = start[text]
	if f.accept == nil {
		return true
	}
	for ; f.accepted < start[text+1]; f.accepted++ {
		if f.accept(f.cols.ids[f.accepted]) {
			return true
		}
	}
	return false
}

// Offer implements [blockmax.Sink].
func (f *listSink) Offer(place uint32, score float64) float64 {
	id := f.cols.ids[place]
	if f.accept == nil || place == f.accepted || place > f.accepted && f.accept(id) {
		f.found = append(f.found, candidate{f.part, place, score})
		f.bar.add(score)
	}
	return f.bar.threshold()
}

// rankLists adds the best chunks of parts with words in memory to the best hits. It then gives
// their texts the exact scores that reading all postings would give, and leaves these texts in
// chosen.
func (s *scratch) rankLists(ctx context.Context, v *view, best *top, accept index.Accept) error {
	l := &s.lists
	f := &listSink{wordLists: l, bar: topScores{k: best.k, scores: l.scores[:0]}, accept: accept}
	defer func() { l.scores = f.bar.scores }()
	for _, hit := range best.hits {
		f.bar.add(hit.Score)
	}
	threshold := f.bar.threshold()
	for i, p := range l.parts {
		if p.words == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if best.k > 0 {
			f.part, f.cols = i, v.parts[i].columns()
			threshold = s.searchList(v, f, threshold)
		}
		s.forget(v, i, p.touched)
	}
	slack := blockmax.Slack(2 * len(l.features))
	l.found = slices.DeleteFunc(l.found, func(c candidate) bool { return c.score*slack < threshold })
	for _, c := range l.found {
		l.parts[c.part].chosen.set(v.parts[c.part].columns().text[c.place])
	}
	l.texts, l.textEnds = l.texts[:0], l.textEnds[:0]
	for _, p := range l.parts {
		if p.words != nil {
			l.texts = slices.AppendSeq(l.texts, p.chosen.all())
		}
		l.textEnds = append(l.textEnds, len(l.texts))
	}
	for _, a := range l.features {
		s.rescore(v, a)
	}
	for _, c := range l.found {
		r := s.ranker(v, c.part, best, nil)
		r.offer(int(c.place), s.chunkScores[r.first+int(c.place)])
	}
	return nil
}

// searchList searches the lists of a part.
func (s *scratch) searchList(v *view, f *listSink, threshold float64) float64 {
	l, part := &s.lists, f.part
	p := &l.parts[part]
	l.terms = l.terms[:0]
	for _, a := range l.features {
		if a.lists != nil && a.lists[part].Texts > 0 {
			l.terms = append(l.terms, blockmax.Term{List: a.lists[part], Text: a.text, Chunk: a.chunk, Open: a.opening})
		}
	}
	q := blockmax.Query{
		Terms: l.terms, Passage: s.passage, Dead: p.dead,
		TextSaturation: blockmax.Saturation(s.textSat), ChunkSaturation: blockmax.Saturation(s.chunkSat),
	}
	if len(l.ends) > 0 {
		q.Prior = &blockmax.Prior{
			Touched: p.touched, Texts: s.textScores[v.firstTexts[part]:],
			Chunks: s.chunkScores[v.firsts[part]:], MaxChunk: l.maxChunk[v.firstTexts[part]:],
		}
	}
	defer clear(l.terms)
	return l.searcher.Search(p.words, q, threshold, f)
}

// rescore adds the score of a feature in the texts with candidates.
func (s *scratch) rescore(v *view, a scoredFeature) {
	l := &s.lists
	s.postings, s.ends, l.opened = s.postings[:0], s.ends[:0], l.opened[:0]
	s.touchedTexts, s.touchedTextEnds = s.touchedTexts[:0], s.touchedTextEnds[:0]
	for i, p := range l.parts {
		cols := v.parts[i].columns()
		switch {
		case p.words == nil:
		case a.lists == nil:
			for _, e := range of(l.postings, l.ends, a.ends+i) {
				if p.chosen.has(cols.text[cols.place[e.chunk]]) {
					s.postings = append(s.postings, e)
				}
			}
		case a.lists[i].Texts > 0:
			s.rescoreWord(v, i, a)
		}
		s.ends = append(s.ends, len(s.postings))
		s.addChunks(v, i, cols, a.chunk)
		s.touchedTextEnds = append(s.touchedTextEnds, len(s.touchedTexts))
	}
	s.scoreTexts(v, a.text)
	if a.opening > 0 {
		for _, text := range l.opened {
			s.textScores[text] += a.opening
		}
	}
}

// rescoreWord reads the postings of a word in a part's texts with candidates.
func (s *scratch) rescoreWord(v *view, part int, a scoredFeature) {
	l := &s.lists
	p, cols := &l.parts[part], v.parts[part].columns()
	l.finder.Start(a.lists[part])
	for _, text := range of(l.texts, l.textEnds, part) {
		if !l.finder.Seek(text) {
			continue
		}
		if l.finder.Opens() {
			l.opened = append(l.opened, v.firstTexts[part]+int(text))
		}
		l.placed = l.finder.Postings(l.placed[:0])
		for _, e := range l.placed {
			s.postings = append(s.postings, posting{cols.chunk[p.words.Start[text]+e.Place], e.Tf})
		}
	}
}
