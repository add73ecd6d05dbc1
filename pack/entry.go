package pack

import (
	"cmp"
	"math"
	"slices"
)

// entry is a candidate on its way through the selection.
type entry struct {
	Candidate
	index int
	forms []form

	included  bool
	variant   int // index of the form used, -1 for a cut
	text      string
	tokens    int
	truncated bool
	reason    Reason
}

// form remembers what is known of a variant.
type form struct {
	text     string
	rendered bool
	tokens   int
	counted  bool
	above    int // the cost is known to be more than this
}

// newEntries returns the candidates in the order of their turns.
func newEntries(cands []Candidate) []*entry {
	out := make([]*entry, len(cands))
	for i, c := range cands {
		if c.Priority.rank() == 2 {
			c.Priority = Medium
		}
		if c.Required || c.Priority == Required {
			c.Required, c.Priority = true, Required
		}
		c.Preferred = min(max(c.Preferred, 0), max(len(c.Variants)-1, 0))
		e := &entry{Candidate: c, index: i, variant: -1, forms: make([]form, len(c.Variants))}
		for j := range e.forms {
			e.forms[j].above = -1
		}
		out[i] = e
	}
	slices.SortStableFunc(out, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.Priority.rank(), b.Priority.rank()), byOrder(a, b))
	})
	return out
}

func byOrder(a, b *entry) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
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

// fits returns the cost of variant i and whether there is such a variant and it
// costs at most limit.
func (e *entry) fits(i, limit int) (int, bool) {
	text, f := e.show(i), &e.forms[i]
	if text == "" || limit <= f.above {
		return 0, false
	}
	if !f.counted {
		n := e.count(text, limit)
		if n > limit {
			f.above = limit
			return 0, false
		}
		f.tokens, f.counted = n, true
	}
	return f.tokens, f.tokens <= limit
}

func (e *entry) count(text string, limit int) int {
	if e.Tokens == nil {
		return Estimate(text)
	}
	return max(e.Tokens(text, limit), 0)
}

// longest returns the longest variant, from the preferred one on, that costs at
// most limit.
func (e *entry) longest(limit int) (i, tokens int, ok bool) {
	for i := e.Preferred; i < len(e.forms); i++ {
		if n, ok := e.fits(i, limit); ok {
			return i, n, true
		}
	}
	return 0, 0, false
}

// leastBad returns the variant to use when none fits: the cheapest if it is
// cheaper than the longest, else the longest.
func (e *entry) leastBad() (i, tokens int) {
	i = -1
	for j := e.Preferred; j < len(e.forms); j++ {
		if n, ok := e.fits(j, math.MaxInt); ok && (i < 0 || n < tokens) {
			i, tokens = j, n
		}
	}
	return i, tokens
}

// empty reports whether the candidate has no text to begin with.
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
	e.text, e.tokens = e.show(i), tokens
}

// drop takes the entry out again.
func (e *entry) drop(r Reason) {
	e.included, e.variant, e.text, e.tokens, e.truncated = false, -1, "", 0, false
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
		d.Chars, d.Tokens, d.Text = Chars(e.text), e.tokens, e.text
		if e.variant >= 0 {
			d.Variant = e.Variants[e.variant].Name
		}
	}
	return d
}
