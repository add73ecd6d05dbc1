// Package xmlfmt writes context items as one string: as XML, as an indexed
// document list, as JSON or as plain text.
//
// Items are hostile. In every format an item's content cannot end the item or
// begin another, and characters that could break a parser or drive a terminal
// are replaced:
//
//   - bytes that are not UTF-8, control characters other than tab and line
//     feed, those that turn the direction of text (embeddings, overrides and
//     isolates), and the noncharacters U+FFFE and U+FFFF become U+FFFD;
//   - carriage returns become line feeds (CR LF becomes one), as an XML parser
//     would read them anyway;
//   - in a source, which is one line, tabs and line feeds become spaces.
//
// What a parser reads from the result is exactly the content after these
// replacements. A memory says when it is from: in XML and in documents on a line of
// its own before the content ("[2023-05-08]"), in JSON as "date", in plain text in
// the header; and so it says what holds since then ("[2023-05-08; since then: The user
// lives in Lisbon.]", "since").
package xmlfmt

import (
	"strings"

	"github.com/ragctx/ragctx"
)

// The names of the formats.
const (
	XML       = "xml"       // <context source="…" type="…"> elements; the default
	Documents = "documents" // <documents><document index="1">…
	JSON      = "json"      // a compact array of {source, type, date, since, content}
	Text      = "text"      // a header line and indented content per item
)

// Names returns the formats that [New] knows, the default first.
func Names() []string { return []string{XML, Documents, JSON, Text} }

// New returns the renderer of a format; "" is [XML]. An unknown format is
// [ragctx.ErrInvalid].
func New(format string) (ragctx.Renderer, error) {
	switch format {
	case "", XML:
		return renderer{XML, renderXML}, nil
	case Documents:
		return renderer{Documents, renderDocuments}, nil
	case JSON:
		return renderer{JSON, renderJSON}, nil
	case Text:
		return renderer{Text, renderText}, nil
	}
	return nil, ragctx.Invalid("format", "%q is not a format; use %s", ragctx.Clip(format), strings.Join(Names(), ", "))
}

type renderer struct {
	name   string
	render func(b *strings.Builder, items []ragctx.ContextItem)
}

var _ ragctx.Renderer = renderer{}

// Name implements [ragctx.Renderer].
func (r renderer) Name() string { return r.name }

// Render implements [ragctx.Renderer].
func (r renderer) Render(items []ragctx.ContextItem) string {
	if len(items) == 0 {
		return ""
	}
	size := 0
	for _, it := range items {
		size += len(it.Source) + len(it.Since) + len(it.Content) + 96
	}
	var b strings.Builder
	b.Grow(size)
	r.render(&b, items)
	return b.String()
}

// Item returns one item as XML.
func Item(it ragctx.ContextItem) string {
	var b strings.Builder
	writeItem(&b, it)
	return b.String()
}
