package keyword

import (
	"context"
	"math"
	"slices"

	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword/blockmax"
)

// mostUnknown is how many words of a query may be unknown for them to be read as others:
// one that has more is of another language, or quotes something.
const mostUnknown = 8

// manyUnits is how many units have a word at least for it to be known whoever asks,
// which spares looking for one that they may see.
const manyUnits = 1 << 12

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
	var unknown []analysis.Spelled
	for _, w := range analysis.SpelledWords(q.Text) {
		known, err := v.knows(w.Term, q.Spelling.Within)
		if err != nil {
			return nil, err
		}
		if known {
			continue
		}
		if unknown = append(unknown, w); len(unknown) > mostUnknown {
			return nil, nil
		}
	}
	for _, w := range unknown {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		as, err := v.nearest(w, q.Spelling.Within)
		if err != nil {
			return nil, err
		}
		if as.Term != "" {
			read = append(read, as)
		}
	}
	return read, nil
}

// knows reports whether an accepted unit has a word, or many units.
func (v *view) knows(word string, accept index.Accept) (bool, error) {
	units, err := v.countUnits(word, nil, manyUnits)
	if err != nil || units == 0 || accept == nil || units >= manyUnits {
		return units > 0, err
	}
	units, err = v.countUnits(word, accept, 1)
	return units > 0, err
}

// nearest returns the spelling of a word whose term most accepted units have; of several,
// the first by its edit. Its Term is "" if there is none.
func (v *view) nearest(w analysis.Spelled, accept index.Accept) (best index.Correction, err error) {
	best.Word, best.Count = w.Written, w.Count
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
