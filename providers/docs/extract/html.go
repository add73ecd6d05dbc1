package extract

import (
	"bytes"
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html/atom"
)

// page is a converted web page.
type page struct {
	markdown  string
	title     string
	meta      map[string]any // may be nil
	published time.Time
}

// pageOptions control the conversion of a page. The zero value works.
type pageOptions struct {
	base    string // URL of the page; links to its host are dropped
	keepAll bool   // keep the whole body, for example of a book chapter
	xml     bool   // the page is XHTML: <a/> is a complete element
	maxText int    // maximum length of the Markdown in bytes; default [DefaultMaxText]
}

// readHTML reads a web page.
func readHTML(ctx context.Context, f File, o Options) (Text, error) {
	s, charset, err := decodeText(f.Data, f.MIME)
	if err != nil {
		return Text{}, err
	}
	xml := strings.HasSuffix(strings.ToLower(f.Name), ".xhtml") || strings.Contains(f.MIME, "xhtml") ||
		strings.HasPrefix(s, "<?xml")
	p, err := htmlMarkdown(ctx, []byte(s), pageOptions{base: f.Name, xml: xml, maxText: o.MaxText})
	if err != nil {
		return Text{}, err
	}
	t := Text{
		Text: p.markdown, MIME: "text/markdown", Format: "text/html", Title: p.title, Metadata: p.meta,
		Occurred: p.published,
	}
	t.setMeta(MetaCharset, charset)
	return t, nil
}

// htmlMarkdown converts a web page in UTF-8 to Markdown.
func htmlMarkdown(ctx context.Context, src []byte, o pageOptions) (page, error) {
	src, matter := cutFrontMatter(bytes.TrimPrefix(src, []byte("\ufeff")))
	root, err := parseHTML(ctx, trimSubset(src), o.xml)
	if err != nil {
		return page{}, err
	}
	h := readHead(root)
	h.title = cmp.Or(h.title, matter)
	measure(root)
	main := root
	if !o.keepAll {
		main = mainContent(root)
	}
	if o.maxText <= 0 {
		o.maxText = DefaultMaxText
	}
	r := &renderer{ctx: ctx, max: o.maxText, home: hostOf(o.base)}
	md, err := r.render(main)
	if err != nil {
		return page{}, err
	}
	title := h.pageTitle(r.headings, r.opening)
	return page{markdown: md, title: title, meta: h.metadata(), published: h.published}, nil
}

// trimSubset removes the internal subset of a document type, which the HTML tokenizer does not
// support. Entities declared there are not expanded.
func trimSubset(src []byte) []byte {
	i := bytes.Index(src[:min(len(src), declareLen)], []byte("<!DOCTYPE"))
	if i < 0 {
		return src
	}
	open := bytes.IndexAny(src[i:], "[>")
	if open < 0 || src[i+open] != '[' {
		return src
	}
	end := bytes.Index(src[i:], []byte("]>"))
	if end < 0 {
		return src
	}
	return slices.Concat(src[:i], src[i+end+len("]>"):])
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// textOf returns the text inside n with white space folded.
func textOf(n *node) string {
	var b strings.Builder
	appendText(&b, n)
	return strings.Join(strings.Fields(b.String()), " ")
}

func appendText(b *strings.Builder, n *node) {
	if n.isText() {
		b.WriteString(n.text)
		return
	}
	if blockTags[n.tag] || n.tag == atom.Br {
		b.WriteByte(' ')
	}
	for _, k := range n.kids {
		appendText(b, k)
	}
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
