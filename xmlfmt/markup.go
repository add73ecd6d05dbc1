package xmlfmt

import (
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

var (
	textEscaper      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	attributeEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")
)

// renderXML writes the items separated by one blank line.
func renderXML(b *strings.Builder, items []ragctx.ContextItem) {
	for i, it := range items {
		if i > 0 {
			b.WriteString("\n\n")
		}
		writeItem(b, it)
	}
}

// writeItem writes one element: the source, if any, the type and the citation as attributes, and
// the content on separate lines.
func writeItem(b *strings.Builder, it ragctx.ContextItem) {
	b.WriteString("<context")
	if it.Source != "" {
		b.WriteString(` source="`)
		b.WriteString(attributeEscaper.Replace(cleanLine(it.Source)))
		b.WriteByte('"')
	}
	b.WriteString(` type="`)
	b.WriteString(it.Type.Label())
	b.WriteByte('"')
	cite(it).write(b, attribute)
	b.WriteString(">\n")
	writeContent(b, it)
	b.WriteString("\n</context>")
}

// writeContent writes an item's content. For a memory a line with its date and superseding facts
// precedes it.
func writeContent(b *strings.Builder, it ragctx.ContextItem) {
	if h := memoryHead(it); h != "" {
		b.WriteString("[" + textEscaper.Replace(h) + "]\n")
	}
	b.WriteString(textEscaper.Replace(clean(it.Content)))
}

// memoryHead returns the date of a memory and the facts that supersede it, in one line.
func memoryHead(it ragctx.ContextItem) string {
	d, since := day(it), since(it)
	switch {
	case since == "":
		return d
	case d == "":
		return "since then: " + since
	default:
		return d + "; since then: " + since
	}
}

// since returns the facts that supersede a memory, in one line.
func since(it ragctx.ContextItem) string {
	if it.Type != ragctx.TypeMemory {
		return ""
	}
	return cleanLine(it.Since)
}

// day returns the date of a memory in UTC, or "" if unknown.
func day(it ragctx.ContextItem) string {
	if it.Type != ragctx.TypeMemory || it.Occurred.IsZero() {
		return ""
	}
	return it.Occurred.UTC().Format(time.DateOnly)
}

// renderDocuments writes the format recommended for long-context prompts with Claude. An item
// without a source has no source element.
func renderDocuments(b *strings.Builder, items []ragctx.ContextItem) {
	b.WriteString("<documents>\n")
	for i, it := range items {
		b.WriteString(`<document index="`)
		b.WriteString(strconv.Itoa(i + 1))
		b.WriteByte('"')
		cite(it).write(b, attribute)
		b.WriteString(">\n")
		if it.Source != "" {
			b.WriteString("<source>")
			b.WriteString(textEscaper.Replace(cleanLine(it.Source)))
			b.WriteString("</source>\n")
		}
		b.WriteString("<document_content>\n")
		writeContent(b, it)
		b.WriteString("\n</document_content>\n</document>\n")
	}
	b.WriteString("</documents>")
}
