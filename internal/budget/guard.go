package budget

import (
	"cmp"
	"math"
	"slices"
)

// truncationMarker ends a required text that the guard has cut.
const truncationMarker = "\n\n[Context truncated to fit limit]\n"

// guard enforces the limit on characters. It compacts optional candidates, then drops them, least
// important and latest first, and finally cuts required ones: unpreserved ones first, then the
// largest.
func (s *selector) guard() Guard {
	total := s.chars()
	g := Guard{BeforeChars: total, AfterChars: total}
	if s.opts.MaxChars <= 0 || total <= s.opts.MaxChars {
		return g
	}
	optional, required := s.byGuardTurn()
	over := total - s.opts.MaxChars
	for _, step := range []struct {
		entries []*entry
		shrink  func(e *entry, over int)
	}{
		{optional, func(e *entry, _ int) { e.compact() }},
		{optional, func(e *entry, _ int) { e.drop(ReasonMaxChars) }},
		{required, (*entry).truncate},
	} {
		for _, e := range step.entries {
			if over <= 0 {
				break
			}
			before := e.chars
			step.shrink(e, over)
			over -= before - e.chars
		}
	}
	g.Applied, g.AfterChars = true, s.opts.MaxChars+over
	return g
}

// byGuardTurn returns the included candidates in the order in which the guard shrinks them.
func (s *selector) byGuardTurn() (optional, required []*entry) {
	for _, e := range s.entries {
		switch {
		case !e.included:
		case e.Required:
			required = append(required, e)
		default:
			optional = append(optional, e)
		}
	}
	slices.SortStableFunc(optional, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.Priority.rank(), a.Priority.rank()), byOrder(b, a))
	})
	slices.SortStableFunc(required, func(a, b *entry) int {
		return cmp.Or(
			compareBool(a.Preserve, b.Preserve),
			cmp.Compare(b.chars, a.chars),
			byOrder(b, a),
		)
	})
	return optional, required
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

func (s *selector) chars() int {
	n := 0
	for _, e := range s.entries {
		n += e.chars
	}
	return n
}

// compact replaces the text by the shortest variant if that is shorter. A cut text has no variant
// that fits.
func (e *entry) compact() {
	if e.variant < 0 {
		return
	}
	best, chars := -1, e.chars
	for i := e.variant + 1; i < len(e.forms); i++ {
		if n := Chars(e.show(i)); n > 0 && n < chars {
			best, chars = i, n
		}
	}
	if best < 0 {
		return
	}
	if tokens, ok := e.fits(best, e.tokens); ok {
		e.use(best, tokens)
	}
}

// truncate shortens the text by at least over chars, and appends the marker if there is room.
func (e *entry) truncate(over int) {
	target := e.chars - over
	switch marker := len(truncationMarker); {
	case target > marker:
		e.text = prefix(e.text, target-marker) + truncationMarker
	default:
		e.text = prefix(e.text, max(target, 0))
	}
	e.setText(e.text, -1, e.count(e.text, math.MaxInt))
	e.truncated = true
}
