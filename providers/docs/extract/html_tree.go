package extract

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// What a web page may be at most. Pages within reason stay far below it.
const (
	maxNesting  = 200     // deeper elements are flattened into the one above
	maxElements = 1 << 20 // elements and texts; each is some 150 bytes
	maxAttrs    = 64      // attributes looked at per element
	maxAttr     = 2 << 10 // bytes kept of an attribute
)

// node is an element or a piece of text.
type node struct {
	tag    atom.Atom // 0 of text and of elements that have no atom
	text   string    // or the name of an element that has no atom
	attrs  []html.Attribute
	kids   []*node
	opaque bool // an element

	// What measure finds; text that is not shown does not count.
	lang   string // of the code inside, as an element around it says
	chars  int    // bytes of visible text
	linked int    // bytes of it in links
	local  int    // bytes of it in links to the page itself
	links  int    // number of links
	blocks bool   // has block elements inside
	headed bool   // has a heading of the first level inside
	titled bool   // has a heading of any level inside
	solid  bool   // has something inside that no cell of a table holds
}

func (n *node) isText() bool { return !n.opaque }

func (n *node) attr(key string) string {
	for _, a := range n.attrs {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func (n *node) hasAttr(key string) bool {
	return slices.ContainsFunc(n.attrs, func(a html.Attribute) bool { return a.Key == key })
}

// treeBuilder makes a tree of the tokens of a page. The parser of x/net builds the
// tree of the standard, which repeats unclosed formatting in each paragraph: a few
// hundred KB can become gigabytes, and it cannot be stopped. For text the rules
// below are enough, and their work is linear.
type treeBuilder struct {
	ctx   context.Context
	xml   bool // <a/> is a whole element
	stack []*node
	nodes int
	over  int // elements open beyond maxNesting
	err   error
}

// parseHTML returns the root of a page's tree. src is UTF-8.
func parseHTML(ctx context.Context, src []byte, xml bool) (*node, error) {
	root := &node{opaque: true}
	b := &treeBuilder{ctx: ctx, xml: xml, stack: []*node{root}}
	z := html.NewTokenizer(bytes.NewReader(src))
	for tokens := 0; b.err == nil; tokens++ {
		if tokens%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch z.Next() {
		case html.ErrorToken:
			return root, nil // the end: a reader of bytes has no other errors
		case html.TextToken:
			b.addText(string(z.Text()))
		case html.StartTagToken:
			b.start(z, false)
		case html.SelfClosingTagToken:
			b.start(z, true)
		case html.EndTagToken:
			name, _ := z.TagName()
			b.end(atom.Lookup(name))
		default: // comments, declarations: entities that a page declares are not expanded
		}
	}
	return nil, b.err
}

func (b *treeBuilder) top() *node { return b.stack[len(b.stack)-1] }

// add appends a node to the innermost open element.
func (b *treeBuilder) add(n *node) {
	if b.nodes++; b.nodes > maxElements {
		b.err = refuse("has more than %d elements; split the page", maxElements)
		return
	}
	t := b.top()
	t.kids = append(t.kids, n)
}

func (b *treeBuilder) addText(s string) {
	if kids := b.top().kids; len(kids) > 0 && strings.TrimSpace(s) == "" && kids[len(kids)-1].isText() {
		return
	}
	switch b.top().tag {
	case atom.Script, atom.Style:
		return
	case atom.Head: // left open
		b.closeImplied(0)
	default:
	}
	b.add(&node{text: s})
}

func (b *treeBuilder) start(z *html.Tokenizer, closed bool) {
	name, more := z.TagName()
	n := &node{tag: atom.Lookup(name), opaque: true}
	if n.tag == 0 {
		n.text = string(name[:min(len(name), 64)])
	}
	for i := 0; more && i < maxAttrs; i++ {
		var k, v []byte
		k, v, more = z.TagAttr()
		if keptAttrs[string(k)] {
			n.attrs = append(n.attrs, html.Attribute{Key: string(k), Val: string(v[:min(len(v), maxAttr)])})
		}
	}
	if closed && b.xml {
		z.NextIsNotRawText()
	}
	b.closeImplied(n.tag)
	whole := voidTags[n.tag] || closed && (b.xml || n.tag == 0 || !htmlContainers[n.tag]) ||
		n.tag == atom.A && !n.hasAttr("href") // an anchor, often left open
	switch {
	case whole:
		b.add(n)
	case len(b.stack) >= maxNesting:
		b.over++
	default:
		b.add(n)
		b.stack = append(b.stack, n)
	}
}

// end closes the innermost open element of that name, unless something stands
// between that the name cannot close.
func (b *treeBuilder) end(tag atom.Atom) {
	if voidTags[tag] {
		return
	}
	if b.over > 0 {
		b.over--
		return
	}
	for i := len(b.stack) - 1; i > 0; i-- {
		t := b.stack[i].tag
		if t == tag {
			b.stack = b.stack[:i]
			return
		}
		if !tableTags[tag] && cellTags[t] || !blockTags[tag] && blockTags[t] {
			return
		}
	}
}

// closeImplied closes what ends where tag begins: a paragraph before a block, an
// item before the next one.
func (b *treeBuilder) closeImplied(tag atom.Atom) {
	for _, r := range impliedEnds {
		if slices.Contains(r.at, tag) {
			b.closeInner(r.ends, r.within)
		}
	}
	if b.top().tag == atom.Head && !headTags[tag] {
		b.stack = b.stack[:len(b.stack)-1]
	}
	if blockTags[tag] {
		b.closeParagraph()
	}
}

func (b *treeBuilder) closeInner(ends, within []atom.Atom) {
	for i := len(b.stack) - 1; i > 0; i-- {
		t := b.stack[i].tag
		if slices.Contains(ends, t) {
			b.stack = b.stack[:i]
			continue
		}
		if slices.Contains(within, t) {
			return
		}
	}
}

// closeParagraph closes an open paragraph, with the inline elements in it.
func (b *treeBuilder) closeParagraph() {
	for i := len(b.stack) - 1; i > 0; i-- {
		t := b.stack[i].tag
		if t == atom.P {
			b.stack = b.stack[:i]
			return
		}
		if blockTags[t] {
			return
		}
	}
}
