package keyword

import (
	"context"
	"math"
	"slices"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// maxUnknown is the maximum number of unknown words for a query to be corrected: a query with more
// is in another language or quotes something.
const maxUnknown = 8

// respell adds the corrections of misspelt words to the wordings of q.
func (ix *Index) respell(ctx context.Context, v *view, q *index.KeywordQuery) (read []index.Correction, err error) {
	if q.Spelling == nil || v.live == 0 {
		return nil, nil
	}
	err = guard(func() (err error) {
		read, err = v.corrections(ctx, q)
		return err
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, ix.damaged("look up words", err)
	}
	q.More = slices.Clip(q.More)
	for _, c := range read {
		q.More = append(q.More, index.Wording{Text: c.Term, Weight: float64(c.Count), Term: true})
	}
	return read, nil
}

// corrections returns the corrections of a query's words; see [index.Spelling].
func (v *view) corrections(ctx context.Context, q *index.KeywordQuery) (read []index.Correction, err error) {
	unknown, err := v.unknown(ctx, q)
	for _, w := range unknown {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		as, err := v.nearest(w.Spelled, q.Spelling.Within)
		if err != nil {
			return nil, err
		}
		if as.Count = w.count; as.Term != "" {
			read = append(read, as)
		}
	}
	return read, err
}

// unknownWord is a word that no chunk has, with its frequency in the query.
type unknownWord struct {
	analysis.Spelled

	count int
}

// unknown returns the distinct words of a query that may be misspelt and that no accepted chunk
// has. It returns nothing if there are too many.
func (v *view) unknown(ctx context.Context, q *index.KeywordQuery) (words []unknownWord, err error) {
	w := visibleWords{view: v, Spelling: q.Spelling}
	places := make(map[string]int) // index in words by term, -1 for known words
	for s := range analysis.SpelledWords(q.Text) {
		if at, again := places[s.Term]; again {
			if at >= 0 {
				words[at].count++
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		known, err := w.has(s.Term)
		switch {
		case err != nil:
			return nil, err
		case known:
			places[s.Term] = -1
		case len(words) == maxUnknown:
			return nil, nil
		default:
			places[s.Term] = len(words)
			words = append(words, unknownWord{s, 1})
		}
	}
	return words, nil
}

// visibleWords looks words up among the chunks that the caller may see.
type visibleWords struct {
	*index.Spelling

	view    *view
	subsets []subset // the visible chunks of each part; built on first use
}

// has reports whether a visible chunk has a word.
func (w *visibleWords) has(word string) (bool, error) {
	if chunks, err := w.view.countChunks(word, nil, 1); err != nil || chunks == 0 || w.Within == nil {
		return chunks > 0, err
	}
	if w.Only != nil {
		return w.subsetsHave(word)
	}
	chunks, err := w.view.countChunks(word, w.Within, 1)
	return chunks > 0, err
}

// subsetsHave reports whether a chunk of a small visible set has a word, which many other chunks
// may have.
func (w *visibleWords) subsetsHave(word string) (bool, error) {
	if w.subsets == nil {
		narrow, err := w.view.narrow(w.Only)
		if err != nil {
			return false, err
		}
		w.subsets = narrow.subsets
	}
	for _, sub := range w.subsets {
		found, _, err := sub.of.among(subsetLookup{lookup: lookup{term: word, maxTf: 1, limit: math.MaxInt}, subset: sub}, nil)
		if err != nil || len(found) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// nearest returns the spelling of a word with the most frequent term in accepted chunks; among
// equals, the one tried first. Term is "" if no spelling is known.
func (v *view) nearest(w analysis.Spelled, accept index.Accept) (best index.Correction, err error) {
	best.Word = w.Written
	most := 0
	w.Respell(func(term, spelt []byte) {
		if err != nil || string(term) == best.Term {
			return
		}
		var chunks int
		if chunks, err = v.countChunks(string(term), accept, math.MaxInt); chunks > most {
			most, best.Term, best.As = chunks, string(term), string(spelt)
		}
	})
	return best, err
}

// countChunks returns the number of accepted live chunks that have a word. It may stop counting at
// enough.
func (v *view) countChunks(word string, accept index.Accept, enough int) (n int, err error) {
	for _, p := range v.parts {
		chunks, err := p.countChunks(word, accept, enough)
		if err != nil {
			return 0, err
		}
		if n += chunks; n >= enough {
			break
		}
	}
	return n, nil
}

func (p part) countChunks(word string, accept index.Accept, enough int) (n int, err error) {
	if words, dead := p.inMemory(); words != nil {
		list, ok := words.Lookup(word)
		switch in := (partLists{words: words, dead: dead}); {
		case !ok:
			return 0, nil
		case accept == nil:
			return in.docFreqOf(word, &list, p.freqs).chunks, nil
		default:
			return in.countAccepted(&list, p.columns(), accept, enough), nil
		}
	}
	if accept == nil {
		q := subsetLookup{lookup: lookup{term: word}, subset: subset{of: p}, counted: true, seen: new(bitset)}
		_, in, err := p.among(q, nil)
		return in.chunks, err
	}
	list, err := p.postings(lookup{term: word, maxTf: 1, limit: math.MaxInt}, p.dead, nil)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		if accept(p.columns().row(e.chunk).id) {
			n++
		}
	}
	return n, nil
}

// countAccepted counts the chunks of a list in live, accepted texts.
func (p partLists) countAccepted(list *blockmax.List, cols *columns, accept index.Accept, enough int) (n int) {
	for text, chunks := range list.All() {
		if p.dead.has(text) || !accept(cols.ids[p.words.Start[text]]) {
			continue
		}
		if n += int(chunks); n >= enough {
			break
		}
	}
	return n
}
