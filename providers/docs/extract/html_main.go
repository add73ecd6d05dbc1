package extract

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// hidden reports whether nothing of an element is shown as text.
func hidden(n *node) bool {
	if hiddenTags[n.tag] || n.attr("aria-hidden") == "true" {
		return true
	}
	if n.attr("role") == "tabpanel" || strings.Contains(n.attr("class"), "tab") {
		return false // shown when its tab is chosen
	}
	return n.hasAttr("hidden") || strings.Contains(strings.ReplaceAll(n.attr("style"), " ", ""), "display:none")
}

// measure fills in what is counted per element, children first.
func measure(n *node) {
	if n.isText() {
		n.chars = len(strings.TrimSpace(n.text))
		return
	}
	if hidden(n) {
		n.kids = nil
		return
	}
	lang := n.lang
	if l := languageOfClass(n); l != "" {
		lang = l
	}
	for _, k := range n.kids {
		k.lang = lang
		measure(k)
		n.chars += k.chars
		n.linked += k.linked
		n.local += k.local
		n.links += k.links
		n.blocks = n.blocks || k.blocks || blockTags[k.tag]
		n.headed = n.headed || k.headed
		n.solid = n.solid || k.solid
		n.titled = n.titled || k.titled || headingLevel[k.tag] > 0
	}
	switch n.tag {
	case atom.A:
		n.links++
		n.linked = n.chars
		if strings.HasPrefix(n.attr("href"), "#") {
			n.local = n.chars
		}
	case atom.H1:
		n.headed, n.solid = n.chars > 0, true
	case atom.Pre, atom.Table, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		n.solid = true
	default:
	}
}

// mainContent returns the part of a page that it is about: what the page itself
// marks as such, or what the well-known generators of documentation do, if that
// holds most of the text; else the whole. What surrounds the content (navigation,
// banners, tables of contents) is removed from the tree in both cases.
func mainContent(root *node) *node {
	prune(root, root.chars)
	for _, is := range mainMarks {
		if n, rivals := largest(root, is); n != nil && n.chars*2 >= root.chars && rivals*3 < n.chars {
			return n
		}
	}
	if linkLists(root, root.chars, false)*2 < root.chars {
		linkLists(root, root.chars, true)
	}
	return root
}

// linkLists returns how much text stands in parts of a page that are but links,
// and removes them if told to.
func linkLists(n *node, total int, remove bool) (chars int) {
	kept := n.kids[:0:0]
	for _, k := range n.kids {
		if linkListTags[k.tag] && k.links >= 5 && k.linked*10 >= k.chars*8 && k.chars*5 < total*2 && !k.headed {
			chars += k.chars
			continue
		}
		if !k.isText() {
			chars += linkLists(k, total, remove)
		}
		kept = append(kept, k)
	}
	if remove {
		n.kids = kept
	}
	return chars
}

// mainMarks tell the main content, the surest first.
var mainMarks = []func(*node) bool{
	func(n *node) bool { return n.tag == atom.Main || n.attr("role") == "main" },
	func(n *node) bool { return n.tag == atom.Article || n.attr("itemprop") == "articleBody" },
	func(n *node) bool { return hasWord(n, contentWords) },
}

// largest returns the element that is so and has the most text, and how much text
// the others have that are not inside of it.
func largest(n *node, is func(*node) bool) (best *node, rivals int) {
	if is(n) {
		return n, 0
	}
	for _, k := range n.kids {
		b, r := largest(k, is)
		rivals += r
		switch {
		case b == nil:
		case best == nil:
			best = b
		default:
			rivals += min(best.chars, b.chars)
			if b.chars > best.chars {
				best = b
			}
		}
	}
	return best, rivals
}

// prune removes what surrounds the content and corrects the counts. Nothing is
// removed that has a large part of all text, or the heading of the page: class
// names promise little.
func prune(n *node, total int) {
	kept := n.kids[:0]
	for _, k := range n.kids {
		if !k.isText() && k.chars*5 < total*2 && surrounds(k, total) {
			discount(n, k)
			continue
		}
		if !k.isText() {
			before := *k
			prune(k, total)
			n.chars -= before.chars - k.chars
			n.linked -= before.linked - k.linked
			n.local -= before.local - k.local
			n.links -= before.links - k.links
		}
		kept = append(kept, k)
	}
	clear(n.kids[len(kept):])
	n.kids = kept
}

func discount(n, k *node) {
	n.chars -= k.chars
	n.linked -= k.linked
	n.local -= k.local
	n.links -= k.links
}

// surrounds reports whether an element is navigation or the like.
func surrounds(n *node, total int) bool {
	if isAnchorSign(n) || hasWord(n, clutterWords) && !n.headed {
		return true
	}
	switch n.attr("role") {
	case "navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "alertdialog":
		return !n.headed
	}
	switch n.tag {
	case atom.Nav, atom.Search, atom.Footer, atom.Header:
		return !n.headed
	case atom.Aside:
		return !n.headed && !hasWord(n, noteWords)
	case atom.Ul, atom.Ol, atom.Div, atom.Table, atom.Section, atom.Dl:
		// A table of contents of the page says nothing that its headings do not.
		return n.links >= 3 && n.local*10 >= n.chars*8 && n.chars*3 < total && !n.headed
	default:
		return false
	}
}

// isAnchorSign reports whether n is the sign beside a heading that links to it.
func isAnchorSign(n *node) bool {
	if n.tag != atom.A || !strings.HasPrefix(n.attr("href"), "#") {
		return false
	}
	return n.chars <= len("🔗") && !hasLetter(textOf(n)) || hasWord(n, anchorWords)
}

// words that class names and ids are made of, in generated documentation.
var (
	contentWords = wordSet("markdown-body", "rst-content", "theme-doc-markdown", "md-content", "mw-parser-output", "entry-content",
		"post-content", "article-content", "page-content", "main-content", "bodycontent", "documentwrapper", "documentation",
		"contentcontainer", "doc-content", "docs-content", "content", "contents", "textblock", "main", "body")
	clutterWords = wordSet("navbar", "navigation", "nav", "breadcrumb", "breadcrumbs", "sidebar", "sphinxsidebar", "related", "toc",
		"table-of-contents", "tableofcontents", "localtoc", "pagination", "pagination-nav", "pager", "prev-next", "prev-next-area", "cookie",
		"cookies", "cookie-banner", "cookie-consent", "consent", "sr-only", "visually-hidden", "visuallyhidden",
		"screen-reader-text", "skip-link", "skip-nav", "skiplink", "skip-to-content", "copybtn", "copy-button", "edit-this-page", "theme-edit-this-page", "editsection",
		"mw-editsection", "headerlink", "linenos", "linenumbers", "lineno", "line-numbers", "rouge-gutter", "gutter", "share",
		"social", "social-share", "footer", "noprint", "printfooter", "catlinks", "feedback", "search-box", "searchbox", "announcement",
		"nav-wrapper", "nav-chapters", "mobile-nav-chapters", "sub-nav", "skip-nav-link", "newsletter", "subscribe", "advertisement", "ads",
		"viewcode-link")
	anchorWords    = wordSet("headerlink", "anchor", "hash-link", "header-anchor", "heading-anchor", "anchorjs-link", "anchor-link", "permalink", "direct-link", "mark", "self-link", "headinglink")
	signatureWords = wordSet("sig", "sig-object", "sig-name", "descname")
	noLanguage     = wordSet("none", "default", "notranslate", "text", "plain", "plaintext", "nohighlight", "highlight", "source", "wrapper", "copy", "box", "container")
	listingWords   = wordSet("fragment") // of lines of code, as Doxygen writes it
	noteWords      = wordSet("note", "tip", "warning", "caution", "danger", "important", "info", "admonition", "callout", "footnote",
		"footnotes", "starlight-aside", "hint", "alert", "example", "footnote-list")
)

func wordSet(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// hasWord reports whether the id or one of the classes of n is one of the words.
func hasWord(n *node, words map[string]bool) bool {
	if words[strings.ToLower(n.attr("id"))] {
		return true
	}
	for c := range strings.FieldsSeq(n.attr("class")) {
		if words[strings.ToLower(c)] {
			return true
		}
	}
	return false
}
