package resolve

import (
	"math"
	"slices"

	"github.com/ragctx/ragctx"
)

// maxForms is the maximum number of shorter forms that a provider may offer.
const maxForms = 8

// form is one text of an item.
type form struct {
	depth    ragctx.ContextDepth
	text     string
	lines    string
	includes []string

	counted bool
	tokens  int // of the text alone
	cost    int // with tags and separator, in an answer of several items
	shell   shell
}

// shown returns the item with a form as its content.
func (c *candidate) shown(f *form) ragctx.ContextItem {
	it := c.item
	it.Content, it.Depth, it.Metadata = f.text, f.depth, f.described(it.Metadata)
	return it
}

// shownCut returns the item with the beginning of its shortest form as its content.
func (c *candidate) shownCut(text string) ragctx.ContextItem {
	it := c.shown(&c.forms[len(c.forms)-1])
	it.Content, it.Cut = text, true
	return it
}

// shell is the cost of an item without its content.
type shell struct {
	counted bool
	bytes   int
	tokens  int
}

// ladder returns the forms of an item, longest first, and the index of its content. It omits forms
// that are not shorter than the one before.
func ladder(it ragctx.ContextItem) (forms []form, preferred int) {
	around := it.Forms.Around[:min(len(it.Forms.Around), maxForms)]
	for _, w := range append(slices.Clip(around), it.Forms.Wider) {
		if len(w.Text) > len(it.Content) && (len(forms) == 0 || len(w.Text) < len(forms[len(forms)-1].text)) {
			forms = append(forms, form{depth: it.Depth, text: w.Text, lines: w.Lines, includes: w.Includes})
		}
	}
	preferred = len(forms)
	forms = append(forms, form{depth: it.Depth, text: it.Content})
	for _, f := range it.Forms.Shorter {
		if last := forms[len(forms)-1]; f.Text != "" && len(f.Text) < len(last.text) && len(forms)-preferred <= maxForms {
			forms = append(forms, form{depth: depthOr(f.Depth, ragctx.DepthAbstract), text: f.Text, lines: f.Lines})
		}
	}
	return forms, preferred
}

// meter counts the cost of texts in one answer, each at most once. Counting is the most expensive
// part of an answer: a byte-pair encoder reads some 20 MB/s.
type meter struct {
	counter  ragctx.Counter
	renderer ragctx.Renderer
	// frame is the cost of the format itself, once per answer.
	frame int

	bytes, tokens int // of all texts counted so far
	misfits       int // counted texts that did not fit
}

func newMeter(c ragctx.Counter, r ragctx.Renderer) *meter {
	m := &meter{counter: c, renderer: r}
	x := ragctx.ContextItem{Type: ragctx.TypeResource, Content: "x"}
	one := c.Count(r.Render([]ragctx.ContextItem{x}))
	two := c.Count(r.Render([]ragctx.ContextItem{x, x}))
	m.frame = 2*one - two
	return m
}

// render returns the item alone.
func (m *meter) render(it ragctx.ContextItem) string {
	return m.renderer.Render([]ragctx.ContextItem{it})
}

// cost returns the cost of form i of c, or more than limit if it does not fit. If the tags alone do
// not fit, it does not count the text.
func (m *meter) cost(c *candidate, i, limit int) int {
	f := &c.forms[i]
	if f.counted {
		return f.cost
	}
	it := c.shown(f)
	if m.measure(it, &f.shell).tokens >= limit {
		return above(limit)
	}
	f.tokens, f.cost = m.count(it, &f.shell)
	f.counted = true
	m.bytes += len(f.text)
	m.tokens += f.tokens
	if f.cost > limit {
		m.misfits++
	}
	return f.cost
}

// count returns the tokens of an item's content, and the cost of the item with its tags. If the
// renderer does not change the content, the cost is the sum of both parts; the count of the whole
// answer is authoritative.
func (m *meter) count(it ragctx.ContextItem, s *shell) (tokens, cost int) {
	tokens = m.counter.Count(it.Content)
	out := m.render(it)
	if len(out) == m.measure(it, s).bytes+len(it.Content) {
		return tokens, tokens + s.tokens
	}
	return tokens, max(m.counter.Count(out)-m.frame, 0)
}

// measure returns the cost of an item without its content, cached in s.
func (m *meter) measure(it ragctx.ContextItem, s *shell) shell {
	if !s.counted {
		it.Content = ""
		out := m.render(it)
		*s = shell{counted: true, bytes: len(out), tokens: max(m.counter.Count(out)-m.frame, 0)}
	}
	return *s
}

// hopeless reports whether a text of the given size is not worth counting. It estimates from the
// texts counted so far, at first in favour of the text. Each counted misfit makes it stricter, so
// that a long list of candidates costs a bounded number of counts.
func (m *meter) hopeless(bytes, limit int) bool {
	if m.tokens == 0 {
		return beyond(bytes, limit)
	}
	margin := .85 + .05*float64(min(m.misfits, 8))
	if m.misfits > 32 {
		margin = 2 // the texts differ too much for an estimate
	}
	return float64(m.estimate(bytes))*margin > float64(limit)
}

// beyond reports whether a text of that many bytes certainly has more than limit tokens.
func beyond(bytes, limit int) bool { return bytes/64 > limit }

// estimate estimates the tokens of a text of that many bytes.
func (m *meter) estimate(bytes int) int {
	if m.tokens == 0 || m.bytes == 0 {
		return (bytes + 3) / 4
	}
	return int(math.Ceil(float64(bytes) * float64(m.tokens) / float64(m.bytes)))
}

// size returns the tokens of form i of c, estimated if it was not counted.
func (m *meter) size(c *candidate, i int) int {
	if f := c.forms[i]; f.counted {
		return f.tokens
	}
	return m.estimate(len(c.forms[i].text))
}

func above(limit int) int {
	if limit == math.MaxInt {
		return limit
	}
	return limit + 1
}
