package extract

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of a web page, far above real pages.
const (
	maxNesting  = 200     // deeper elements are merged into their ancestor
	maxElements = 1 << 20 // elements and texts, about 150 bytes each
	maxAttrs    = 64      // attributes read per element
	maxAttr     = 2 << 10 // bytes stored per attribute
)

// node is an element or a text.
type node struct {
	tag       atom.Atom // 0 for text and for elements without an atom
	text      string    // or the name of an element without an atom
	attrs     []html.Attribute
	kids      []*node
	isElement bool // false for text

	// Computed by measure; hidden text does not count.
	lang          string // code language set by a surrounding element
	chars         int    // bytes of visible text
	linkChars     int    // bytes of link text
	localChars    int    // bytes of text in links within the page
	links         int    // number of links
	hasBlocks     bool   // contains block elements
	hasTopHeading bool   // contains a top-level heading
	hasHeading    bool   // contains a heading of any level
	structured    bool   // contains an element that a table cell cannot hold
}

func (n *node) isText() bool { return !n.isElement }

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

// treeBuilder builds a tree from the tokens of a page. The parser of x/net follows the HTML
// standard and repeats unclosed formatting elements in each paragraph: a few hundred KB can become
// gigabytes, and it cannot be interrupted. The rules below suffice for text and run in linear time.
type treeBuilder struct {
	xml         bool // <a/> is a complete element
	stack       []*node
	nodes       int
	excessDepth int // open elements beyond maxNesting
	err         error
}

// parseHTML returns the root of a page's tree. src is UTF-8.
func parseHTML(ctx context.Context, src []byte, xml bool) (*node, error) {
	root := &node{isElement: true}
	b := &treeBuilder{xml: xml, stack: []*node{root}}
	z := html.NewTokenizer(bytes.NewReader(src))
	for tokens := 0; b.err == nil; tokens++ {
		if tokens%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch z.Next() {
		case html.ErrorToken:
			return root, nil // end of input: reading from memory has no other errors
		case html.TextToken:
			b.addText(string(z.Text()))
		case html.StartTagToken:
			b.start(z, false)
		case html.SelfClosingTagToken:
			b.start(z, true)
		case html.EndTagToken:
			name, _ := z.TagName()
			b.end(atom.Lookup(name))
		default: // comments and declarations: declared entities are not expanded
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
	case atom.Head: // not closed
		b.closeImplied(0)
	default:
	}
	b.add(&node{text: s})
}

func (b *treeBuilder) start(z *html.Tokenizer, closed bool) {
	name, more := z.TagName()
	n := &node{tag: atom.Lookup(name), isElement: true}
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
		n.tag == atom.A && !n.hasAttr("href") // an anchor, often not closed
	switch {
	case whole:
		b.add(n)
	case len(b.stack) >= maxNesting:
		b.excessDepth++
	default:
		b.add(n)
		b.stack = append(b.stack, n)
	}
}

// end closes the innermost open element with that tag, unless an element in between prevents it.
func (b *treeBuilder) end(tag atom.Atom) {
	if voidTags[tag] {
		return
	}
	if b.excessDepth > 0 {
		b.excessDepth--
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

// closeImplied closes the elements that tag ends implicitly: a paragraph before a block, an item
// before the next one.
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

// closeParagraph closes an open paragraph and the inline elements in it.
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
