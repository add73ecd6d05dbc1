package resolve

import (
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
)

// maxRounds is the maximum number of selections. A selection is repeated if the whole came out
// longer than the sum of its parts. With a real tokenizer one repetition is rare, and two have not
// been observed.
const maxRounds = 4

// fitting is how texts are counted, rendered and marked.
type fitting struct {
	counter  ragctx.Counter
	renderer ragctx.Renderer
	secret   []byte
}

// within returns a fitter for caps.
func (f fitting) within(caps ragctx.Caps) *fitter {
	return &fitter{meter: newMeter(f.counter, f.renderer), caps: caps, secret: f.secret}
}

// fitter fits candidates into the caps of a query.
type fitter struct {
	*meter
	caps ragctx.Caps
	// instruction explains the marker of spotlighted text, which depends on secret.
	instruction string
	secret      []byte
	// relevanceLimits is true if the relevance of an item limits how much of it is shown.
	relevanceLimits bool
}

// placement is an answer under construction.
type placement struct {
	items    []ragctx.ContextItem
	rendered string
	tokens   int // of rendered
	// decisions has one entry per candidate, in their order.
	decisions []budget.Decision
	// instruction explains the marker in rendered.
	instruction string
	// pinned are the candidates of a stable block, whether they fit or not.
	pinned []*candidate
	// unreadable is true if the items could not be read.
	unreadable bool
}

// fit places the sorted candidates. The tokens of the result never exceed the cap: every string
// that it returns has been counted as a whole.
func (f *fitter) fit(list []*candidate) placement {
	limit := max(f.caps.MaxTokens-f.frame, 1)
	var p placement
	for range maxRounds {
		sel := budget.Select(f.candidates(list), budget.Options{
			MaxTokens: limit, MaxItems: f.caps.MaxResults,
			MaxTokensPerSource: f.caps.MaxTokensPerSource, MaxItemsPerSource: f.caps.MaxResultsPerSource,
		})
		p = f.place(list, sel.Decisions)
		excess := p.tokens - f.caps.MaxTokens
		if excess <= 0 {
			break
		}
		if limit = min(limit, sel.Budget.UsedTokens) - excess; limit < 1 {
			break
		}
	}
	if p.tokens > f.caps.MaxTokens {
		p = f.longestPrefix(p)
	}
	if len(p.items) == 0 && len(list) > 0 {
		p = f.lastResort(list, p)
	}
	return p
}

// candidates converts the list for package budget. Its order is the order of selection and of the
// answer.
func (f *fitter) candidates(list []*candidate) []budget.Candidate {
	out := make([]budget.Candidate, len(list))
	for i, c := range list {
		variants := make([]budget.Variant, len(c.forms))
		for j, fm := range c.forms {
			if !c.sentenceOnly || j == len(c.forms)-1 {
				variants[j] = budget.Fixed(string(fm.depth), fm.text)
			}
		}
		out[i] = budget.Candidate{
			ID: c.item.ID, Source: bucket(c.item), Required: c.item.Required, Order: i,
			Variants: variants, Preferred: c.preferred,
			Tokens: func(text string, limit int) int { return f.costOf(c, text, limit, i == 0) },
			Cut:    func(limit int) (string, int) { return f.cutForm(c, limit) },
		}
	}
	return out
}

// costOf returns the cost of one of c's forms, which all differ in length. Forms of the best
// candidate are counted rather than estimated.
func (f *fitter) costOf(c *candidate, text string, limit int, best bool) int {
	i := slices.IndexFunc(c.forms, func(o form) bool { return len(o.text) == len(text) })
	if !c.forms[i].counted && (beyond(len(text), limit) || !best && f.hopeless(len(text), limit)) {
		return above(limit)
	}
	return f.cost(c, i, limit)
}

// cutForm cuts the shortest form of c to a cost of at most limit and returns the cost.
func (f *fitter) cutForm(c *candidate, limit int) (text string, cost int) {
	measure := func(prefix string) int {
		_, cost := f.count(c.shownCut(prefix), &c.cutShell)
		return cost
	}
	room := limit - f.measure(c.shownCut(""), &c.cutShell).tokens
	if room <= 0 {
		return "", 0
	}
	if text = cut(c.forms[len(c.forms)-1].text, limit, f.bytesFor(room), measure); text == "" {
		return "", 0
	}
	return text, measure(text)
}

// bytesFor estimates the number of bytes for a number of tokens.
func (f *fitter) bytesFor(tokens int) int {
	if f.tokens == 0 {
		return 4 * tokens
	}
	return max(int(float64(tokens)*float64(f.bytes)/float64(f.tokens)), 1)
}

// place applies decisions and counts the result.
func (f *fitter) place(list []*candidate, decisions []budget.Decision) placement {
	p := placement{decisions: decisions}
	for _, d := range decisions {
		if d.Status != budget.Included {
			continue
		}
		c := list[d.Index]
		it := c.shownCut(d.Text)
		if d.VariantIndex >= 0 {
			shown := &c.forms[d.VariantIndex]
			it = c.shown(shown)
			it.TokenCount = shown.tokens
		} else {
			it.TokenCount = f.counter.Count(d.Text)
		}
		it.Forms = ragctx.Forms{} // the choice is made
		p.items = append(p.items, it)
	}
	f.measureWhole(&p)
	return p
}

// described returns the metadata with the form's lines and the ids of included items.
func (f *form) described(m map[string]any) map[string]any {
	if f.lines == "" && f.includes == nil {
		return m
	}
	m = maps.Clone(m)
	if m == nil {
		m = make(map[string]any)
	}
	if f.lines != "" {
		m["lines"] = f.lines
	}
	if f.includes != nil {
		m["beside"] = f.includes
	}
	return m
}

func (f *fitter) measureWhole(p *placement) {
	p.instruction = f.instruction
	p.rendered = f.renderer.Render(p.items)
	p.tokens = f.counter.Count(p.rendered)
}

// longestPrefix drops items from the end until the whole fits, by bisection.
func (f *fitter) longestPrefix(p placement) placement {
	best := placement{}
	for lo, hi := 1, len(p.items)-1; lo <= hi; {
		mid := lo + (hi-lo)/2
		try := placement{items: p.items[:mid]}
		f.measureWhole(&try)
		if try.tokens <= f.caps.MaxTokens {
			best, lo = try, mid+1
		} else {
			hi = mid - 1
		}
	}
	best.decisions = skipAfter(p.decisions, len(best.items))
	return best
}

// skipAfter marks all but the first n included candidates as skipped.
func skipAfter(decisions []budget.Decision, n int) []budget.Decision {
	for i := range decisions {
		d := &decisions[i]
		if d.Status != budget.Included {
			continue
		}
		if n--; n < 0 {
			d.Status, d.Reason = budget.Skipped, budget.ReasonBudget
			d.Text, d.Variant, d.Tokens, d.Chars, d.VariantIndex, d.Truncated = "", "", 0, 0, -1, false
		}
	}
	return decisions
}

// lastResort cuts the first candidate that allows it until the whole string fits, so that an answer
// is empty only if that fails as well.
func (f *fitter) lastResort(list []*candidate, p placement) placement {
	const candidates = 8
	for i, c := range list[:min(len(list), candidates)] {
		last := c.forms[len(c.forms)-1].text
		text := cut(last, f.caps.MaxTokens, f.bytesFor(f.caps.MaxTokens), func(prefix string) int {
			return f.counter.Count(f.render(c.shownCut(prefix)))
		})
		if text == "" {
			continue
		}
		d := &p.decisions[slices.IndexFunc(p.decisions, func(d budget.Decision) bool { return d.Index == i })]
		d.Status, d.Reason, d.Text = budget.Included, "", text
		d.Truncated, d.VariantIndex = len(text) < len(last), -1
		return f.place(list, p.decisions)
	}
	return p
}
