package keyword

import (
	"context"
	"math"
	"slices"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword/blockmax"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// mostUnknown is how many words of a query may be unknown for them to be read as others:
// one that has more is of another language, or quotes something.
const mostUnknown = 8

// respell adds to what q searches for what its misspelt words are read as.
func (ix *Index) respell(ctx context.Context, v *view, q *index.LexicalQuery) (read []index.Correction, err error) {
	if q.Spelling == nil {
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

// corrections returns the words of a query that are read as others; see [index.Spelling].
func (v *view) corrections(ctx context.Context, q *index.LexicalQuery) (read []index.Correction, err error) {
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

// unknownWord is a word that no unit has, and how often a query has it.
type unknownWord struct {
	analysis.Spelled

	count int
}

// unknown returns the distinct words of a query that may be misspelt and that no accepted
// unit has; none if there are too many.
func (v *view) unknown(ctx context.Context, q *index.LexicalQuery) (words []unknownWord, err error) {
	w := wall{view: v, Spelling: q.Spelling}
	places := make(map[string]int) // of terms among words, -1 for those that are known
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
		known, err := w.knows(s.Term)
		switch {
		case err != nil:
			return nil, err
		case known:
			places[s.Term] = -1
		case len(words) == mostUnknown:
			return nil, nil
		default:
			places[s.Term] = len(words)
			words = append(words, unknownWord{s, 1})
		}
	}
	return words, nil
}

// wall says which words a view has for who may not see all of its units.
type wall struct {
	*index.Spelling

	view *view
	few  []subset // of the parts' units that count; made when they are asked for
}

// knows reports whether a unit that counts has a word.
func (w *wall) knows(word string) (bool, error) {
	if units, err := w.view.countUnits(word, nil, 1); err != nil || units == 0 || w.Within == nil {
		return units > 0, err
	}
	if w.Only != nil {
		return w.fewKnow(word)
	}
	units, err := w.view.countUnits(word, w.Within, 1)
	return units > 0, err
}

// fewKnow reports whether one of few units has a word, which may be one of very many
// others.
func (w *wall) fewKnow(word string) (bool, error) {
	if w.few == nil {
		narrow, err := w.view.narrow(w.Only)
		if err != nil {
			return false, err
		}
		w.few = narrow.few
	}
	for _, few := range w.few {
		found, _, err := few.of.among(among{lookup: lookup{term: word, most: 1, limit: math.MaxInt}, subset: few}, nil)
		if err != nil || len(found) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// nearest returns the spelling of a word whose term most accepted units have; of several,
// the first by its edit. Its Term is "" if there is none.
func (v *view) nearest(w analysis.Spelled, accept index.Accept) (best index.Correction, err error) {
	best.Word = w.Written
	most := 0
	w.Respell(func(term, spelt []byte) {
		if err != nil || string(term) == best.Term {
			return
		}
		var units int
		if units, err = v.countUnits(string(term), accept, math.MaxInt); units > most {
			most, best.Term, best.As = units, string(term), string(spelt)
		}
	})
	return best, err
}

// countUnits returns how many accepted live units have a word; those beyond a number need
// not be counted.
func (v *view) countUnits(word string, accept index.Accept, enough int) (n int, err error) {
	for _, p := range v.parts {
		units, err := p.countUnits(word, accept, enough)
		if err != nil {
			return 0, err
		}
		if n += units; n >= enough {
			break
		}
	}
	return n, nil
}

func (p part) countUnits(word string, accept index.Accept, enough int) (n int, err error) {
	if words, dead := p.inMemory(); words != nil {
		list, ok := words.Lookup(word)
		switch in := (partLists{words: words, dead: dead}); {
		case !ok:
			return 0, nil
		case accept == nil:
			return in.spreadOf(word, &list, p.known).units, nil
		default:
			return in.countAccepted(&list, p.columns(), accept, enough), nil
		}
	}
	list, err := p.postings(lookup{term: word, most: 1, limit: math.MaxInt}, p.dead, nil)
	if err != nil || accept == nil {
		return len(list), err
	}
	for _, e := range list {
		if accept(p.columns().row(e.unit).id) {
			n++
		}
	}
	return n, nil
}

// countAccepted counts the units of a list whose texts are alive and accepted.
func (p partLists) countAccepted(list *blockmax.List, cols *columns, accept index.Accept, enough int) (n int) {
	for text, units := range list.All() {
		if p.dead.has(text) || !accept(cols.ids[p.words.Start[text]]) {
			continue
		}
		if n += int(units); n >= enough {
			break
		}
	}
	return n
}
