package extract

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// hidden reports whether an element is not displayed.
func hidden(n *node) bool {
	if hiddenTags[n.tag] || n.attr("aria-hidden") == "true" {
		return true
	}
	if n.attr("role") == "tabpanel" || strings.Contains(n.attr("class"), "tab") {
		return false // displayed when its tab is selected
	}
	return n.hasAttr("hidden") || strings.Contains(strings.ReplaceAll(n.attr("style"), " ", ""), "display:none")
}

// measure computes the counts of each element, children first.
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
		n.linkChars += k.linkChars
		n.localChars += k.localChars
		n.links += k.links
		n.hasBlocks = n.hasBlocks || k.hasBlocks || blockTags[k.tag]
		n.hasTopHeading = n.hasTopHeading || k.hasTopHeading
		n.structured = n.structured || k.structured
		n.hasHeading = n.hasHeading || k.hasHeading || headingLevel[k.tag] > 0
	}
	switch n.tag {
	case atom.A:
		n.links++
		n.linkChars = n.chars
		if strings.HasPrefix(n.attr("href"), "#") {
			n.localChars = n.chars
		}
	case atom.H1:
		n.hasTopHeading, n.structured = n.chars > 0, true
	case atom.Pre, atom.Table, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		n.structured = true
	default:
	}
}

// mainContent returns the main content of a page: the element that the page, or a well-known
// documentation generator, marks as such and that holds most of the text; otherwise the whole page.
// In both cases it removes surrounding elements (navigation, banners, tables of contents) from the
// tree.
func mainContent(root *node) *node {
	prune(root, root.chars)
	for _, match := range mainSelectors {
		if n, rivals := largest(root, match); n != nil && n.chars*2 >= root.chars && rivals*3 < n.chars {
			return n
		}
	}
	if linkLists(root, root.chars, false)*2 < root.chars {
		linkLists(root, root.chars, true)
	}
	return root
}

// linkLists counts the text in elements that consist only of links. If remove is set, it removes
// them.
func linkLists(n *node, total int, remove bool) (chars int) {
	kept := n.kids[:0:0]
	for _, k := range n.kids {
		if linkListTags[k.tag] && k.links >= 5 && k.linkChars*10 >= k.chars*8 && k.chars*5 < total*2 &&
			!k.hasTopHeading {
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

// mainSelectors match the main content, the most reliable first.
var mainSelectors = []func(*node) bool{
	func(n *node) bool { return n.tag == atom.Main || n.attr("role") == "main" },
	func(n *node) bool { return n.tag == atom.Article || n.attr("itemprop") == "articleBody" },
	func(n *node) bool { return hasWord(n, contentWords) },
}

// largest returns the matching element with the most text, and the length of the text in other
// matching elements outside it.
func largest(n *node, match func(*node) bool) (best *node, rivals int) {
	if match(n) {
		return n, 0
	}
	for _, k := range n.kids {
		b, r := largest(k, match)
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

// prune removes elements that surround the content and updates the counts. Elements with a large
// part of the text, or with the page's heading, stay, because class names are unreliable.
func prune(n *node, total int) {
	kept := n.kids[:0]
	for _, k := range n.kids {
		if !k.isText() && k.chars*5 < total*2 && isClutter(k, total) {
			subtractCounts(n, k)
			continue
		}
		if !k.isText() {
			before := *k
			prune(k, total)
			n.chars -= before.chars - k.chars
			n.linkChars -= before.linkChars - k.linkChars
			n.localChars -= before.localChars - k.localChars
			n.links -= before.links - k.links
		}
		kept = append(kept, k)
	}
	clear(n.kids[len(kept):])
	n.kids = kept
}

func subtractCounts(n, k *node) {
	n.chars -= k.chars
	n.linkChars -= k.linkChars
	n.localChars -= k.localChars
	n.links -= k.links
}

// isClutter reports whether an element is navigation or similar.
func isClutter(n *node, total int) bool {
	if isAnchorSign(n) || hasWord(n, clutterWords) && !n.hasTopHeading {
		return true
	}
	switch n.attr("role") {
	case "navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "alertdialog":
		return !n.hasTopHeading
	}
	switch n.tag {
	case atom.Nav, atom.Search, atom.Footer, atom.Header:
		return !n.hasTopHeading
	case atom.Aside:
		return !n.hasTopHeading && !hasWord(n, noteWords)
	case atom.Ul, atom.Ol, atom.Div, atom.Table, atom.Section, atom.Dl:
		// The page's own table of contents only repeats its headings.
		return n.links >= 3 && n.localChars*10 >= n.chars*8 && n.chars*3 < total && !n.hasTopHeading
	default:
		return false
	}
}

// isAnchorSign reports whether n is the link sign next to a heading.
func isAnchorSign(n *node) bool {
	if n.tag != atom.A || !strings.HasPrefix(n.attr("href"), "#") {
		return false
	}
	return n.chars <= len("🔗") && !hasLetter(textOf(n)) || hasWord(n, anchorWords)
}

// Words in class names and ids of generated documentation.
var (
	contentWords = wordSet("markdown-body", "rst-content", "theme-doc-markdown", "md-content", "mw-parser-output",
		"entry-content", "post-content", "article-content", "page-content", "main-content", "bodycontent",
		"documentwrapper", "documentation", "contentcontainer", "doc-content", "docs-content", "content", "contents",
		"textblock", "main", "body")
	clutterWords = wordSet("navbar", "navigation", "nav", "breadcrumb", "breadcrumbs", "sidebar", "sphinxsidebar",
		"related", "toc", "table-of-contents", "tableofcontents", "localtoc", "pagination", "pagination-nav", "pager",
		"prev-next", "prev-next-area", "cookie", "cookies", "cookie-banner", "cookie-consent", "consent", "sr-only",
		"visually-hidden", "visuallyhidden", "screen-reader-text", "skip-link", "skip-nav", "skiplink",
		"skip-to-content", "copybtn", "copy-button", "edit-this-page", "theme-edit-this-page", "editsection",
		"mw-editsection", "headerlink", "linenos", "linenumbers", "lineno", "line-numbers", "rouge-gutter", "gutter",
		"share", "social", "social-share", "footer", "noprint", "printfooter", "catlinks", "feedback", "search-box",
		"searchbox", "announcement", "nav-wrapper", "nav-chapters", "mobile-nav-chapters", "sub-nav", "skip-nav-link",
		"newsletter", "subscribe", "advertisement", "ads", "viewcode-link")
	anchorWords = wordSet("headerlink", "anchor", "hash-link", "header-anchor", "heading-anchor", "anchorjs-link",
		"anchor-link", "permalink", "direct-link", "mark", "self-link", "headinglink")
	signatureWords = wordSet("sig", "sig-object", "sig-name", "descname")
	noLanguage     = wordSet("none", "default", "notranslate", "text", "plain", "plaintext", "nohighlight",
		"highlight", "source", "wrapper", "copy", "box", "container")
	listingWords = wordSet("fragment") // code listing of Doxygen
	noteWords    = wordSet("note", "tip", "warning", "caution", "danger", "important", "info", "admonition",
		"callout", "footnote", "footnotes", "starlight-aside", "hint", "alert", "example", "footnote-list")
)

func wordSet(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// hasWord reports whether the id or a class of n is in words.
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
