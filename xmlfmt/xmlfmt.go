// Package xmlfmt writes context items as one string: as XML, as an indexed
// document list, as JSON or as plain text.
//
// Items are hostile. In every format an item's content cannot end the item or
// begin another, and characters that could break a parser or drive a terminal
// are replaced:
//
//   - characters that a model reads and a person does not see are left out, see
//     [redact.Visible];
//   - whatever any reader takes for the end of a line becomes a line feed (CR LF becomes
//     one), see [redact.Lines]; in a memory two spaces follow it, as the lines of one say
//     who speaks;
//   - bytes that are not UTF-8, control characters other than tab and line
//     feed, those that turn the direction of text (embeddings, overrides and
//     isolates), and the noncharacters U+FFFE and U+FFFF become U+FFFD;
//   - in a source, which is one line, tabs and line feeds become spaces.
//
// What a parser reads from the result is exactly the content after these
// replacements. Each item has its id to be cited by, and the title, page and lines
// that its metadata has. These are read back as they are: characters that would be
// replaced are escaped, unless XML has no sign for them, and what nobody sees is
// escaped in an id and left out of the others. A memory says when it is from: in XML and in documents on a line of
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
	XML       = "xml"       // <context source="…" type="…" id="…" title="…" page="…" lines="…"> elements; the default
	Documents = "documents" // <documents><document index="1" id="…" title="…" page="…" lines="…">…
	JSON      = "json"      // a compact array of {source, type, id, title, page, lines, date, since, content}
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
	items = legible(items)
	size := 0
	for _, it := range items {
		size += len(it.Source) + len(it.ID) + len(it.Since) + len(it.Content) + 192
	}
	var b strings.Builder
	b.Grow(size)
	r.render(&b, items)
	return b.String()
}

// Item returns one item as XML.
func Item(it ragctx.ContextItem) string {
	var b strings.Builder
	writeItem(&b, legible([]ragctx.ContextItem{it})[0])
	return b.String()
}
