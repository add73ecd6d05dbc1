// Package xmlfmt renders context items as XML, as an indexed document list, as JSON or as plain
// text.
//
// Items are untrusted. In every format an item's content cannot end the item or begin another.
// Characters that could break a parser or control a terminal are replaced:
//
//   - invisible characters, which a model reads but a person does not see, are removed; see
//     [redact.Visible];
//   - everything that a reader may treat as a line end becomes a line feed (CR LF becomes one),
//     see [redact.Lines]; in a memory two spaces follow it, because its lines can begin with a
//     speaker;
//   - bytes that are not UTF-8, control characters other than tab and line feed, characters that
//     change the text direction (embeddings, overrides and isolates), and the noncharacters U+FFFE
//     and U+FFFF become U+FFFD;
//   - in a source, which is one line, tabs and line feeds become spaces.
//
// A parser reads exactly the content after these replacements. Each item has an id for citing it,
// and the title, page and lines of its metadata. These values read back exactly: characters that
// would be replaced are escaped, unless XML cannot represent them. Invisible characters are escaped
// in an id and removed elsewhere.
//
// A memory has a date and the facts that supersede it: in XML and in documents on a separate line
// before the content ("[2023-05-08; since then: The user lives in Lisbon.]"), in JSON as "date" and
// "since", in plain text in the header.
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

// Names returns the formats that [New] accepts, the default first.
func Names() []string { return []string{XML, Documents, JSON, Text} }

// New returns the renderer of a format; "" is [XML]. An unknown format is [ragctx.ErrInvalid].
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
	items = normalizeLines(items)
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
	writeItem(&b, normalizeLines([]ragctx.ContextItem{it})[0])
	return b.String()
}
