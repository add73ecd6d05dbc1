package budget

import (
	"cmp"
	"slices"
)

// entry is the state of a candidate during the selection.
type entry struct {
	Candidate
	index int
	rank  int
	forms []form

	included  bool
	variant   int // index of the form used, -1 for a cut
	text      string
	chars     int // of text
	tokens    int
	truncated bool
	held      bool // left out or shortened by the share of its source
	reason    Reason
}

// form caches the text and cost of a variant.
type form struct {
	text     string
	rendered bool
	chars    int // -1 if not counted
	tokens   int
	counted  bool
	above    int // the cost is known to exceed this
}

// newEntries returns entries in the order of the candidates.
func newEntries(cands []Candidate) []entry {
	out := make([]entry, len(cands))
	variants := 0
	for _, c := range cands {
		variants += len(c.Variants)
	}
	forms := make([]form, variants)
	for i := range forms {
		forms[i] = form{chars: -1, above: -1}
	}
	for i, c := range cands {
		if c.Priority.rank() == 2 {
			c.Priority = Medium
		}
		if c.Required || c.Priority == Required {
			c.Required, c.Priority = true, Required
		}
		c.Preferred = min(max(c.Preferred, 0), max(len(c.Variants)-1, 0))
		n := len(c.Variants)
		out[i] = entry{Candidate: c, index: i, rank: c.Priority.rank(), variant: -1, forms: forms[:n:n]}
		forms = forms[n:]
	}
	return out
}

// inOrder returns the entries in the order of the result.
func inOrder(entries []entry) []*entry {
	out := make([]*entry, len(entries))
	for i := range entries {
		out[i] = &entries[i]
	}
	slices.SortFunc(out, byOrder) // cheap: they are mostly sorted already
	return out
}

// byTurn returns the entries by priority, and within a priority in the order of the result.
func byTurn(ordered []*entry) []*entry {
	out := make([]*entry, 0, len(ordered))
	for rank := Required.rank(); rank <= Low.rank(); rank++ {
		for _, e := range ordered {
			if e.rank == rank {
				out = append(out, e)
			}
		}
	}
	return out
}

// byOrder is a total order.
func byOrder(a, b *entry) int {
	if a.Order != b.Order {
		return cmp.Compare(a.Order, b.Order)
	}
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.index, b.index))
}

// show returns the text of variant i.
func (e *entry) show(i int) string {
	f := &e.forms[i]
	if !f.rendered {
		f.rendered = true
		if render := e.Variants[i].Text; render != nil {
			f.text = render()
		}
	}
	return f.text
}

// fits returns the cost of variant i, and whether the variant exists and costs at most limit.
func (e *entry) fits(i, limit int) (int, bool) {
	text, f := e.show(i), &e.forms[i]
	if text == "" || limit <= f.above {
		return 0, false
	}
	if !f.counted {
		n := e.countForm(f, limit)
		if n > limit {
			f.above = limit
			return 0, false
		}
		f.tokens, f.counted = n, true
	}
	return f.tokens, f.tokens <= limit
}

// countForm counts a form. It caches the chars if the cost depends on them.
func (e *entry) countForm(f *form, limit int) int {
	if e.Tokens != nil {
		return e.count(f.text, limit)
	}
	if least := minEstimate(f.text); least > limit {
		return least
	}
	f.chars = Chars(f.text)
	return estimate(f.chars)
}

func (e *entry) count(text string, limit int) int {
	if e.Tokens == nil {
		return Estimate(text)
	}
	return max(e.Tokens(text, limit), 0)
}

// longest returns the longest variant, from the preferred one on, that costs at most limit.
func (e *entry) longest(limit int) (i, tokens int, ok bool) {
	for i := e.Preferred; i < len(e.forms); i++ {
		if n, ok := e.fits(i, limit); ok {
			return i, n, true
		}
	}
	return 0, 0, false
}

// cheapest returns the cheapest variant that costs at most limit, or among equals the longest. Without one, i is -1.
func (e *entry) cheapest(limit int) (i, tokens int) {
	i = -1
	for j := e.Preferred; j < len(e.forms); j++ {
		if n, ok := e.fits(j, limit); ok && (i < 0 || n < tokens) {
			i, tokens, limit = j, n, n
		}
	}
	return i, tokens
}

// empty reports whether the candidate has no text.
func (e *entry) empty() bool {
	for i := e.Preferred; i < len(e.forms); i++ {
		if e.show(i) != "" {
			return false
		}
	}
	return true
}

// use makes variant i the text of the entry.
func (e *entry) use(i, tokens int) {
	e.included, e.variant, e.reason = true, i, ""
	e.setText(e.show(i), e.forms[i].chars, tokens)
}

// setText sets the text; chars is -1 if unknown.
func (e *entry) setText(text string, chars, tokens int) {
	if chars < 0 {
		chars = Chars(text)
	}
	e.text, e.chars, e.tokens = text, chars, tokens
}

// drop excludes the entry again.
func (e *entry) drop(r Reason) {
	e.included, e.variant, e.text, e.chars, e.tokens, e.truncated = false, -1, "", 0, 0, false
	e.reason = cmp.Or(e.reason, r)
}

func (e *entry) decision() Decision {
	d := Decision{
		ID: e.ID, Section: e.Section, Priority: e.Priority, Required: e.Required,
		Status: Skipped, Order: e.Order, Reason: e.reason,
		Index: e.index, VariantIndex: e.variant,
	}
	if e.included {
		d.Status, d.Variant, d.Truncated = Included, CutVariant, e.truncated
		d.Chars, d.Tokens, d.Text = e.chars, e.tokens, e.text
		if e.variant >= 0 {
			d.Variant = e.Variants[e.variant].Name
		}
	}
	return d
}
