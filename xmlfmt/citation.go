package xmlfmt

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
)

// citation has the fields for citing an item. Unknown fields are "".
type citation struct {
	id, title, lines string

	page any // a string or an integer, nil if unknown
}

// cite returns an item's citation. It omits a title that the source ends with, such as a file name.
// For a truncated item it returns only the id, because the lines would be wrong.
func cite(it ragctx.ContextItem) citation {
	c := citation{id: it.ID}
	if it.Cut {
		return c
	}
	if title, _ := it.Metadata["title"].(string); !strings.HasSuffix(it.Source, title) {
		c.title, _ = redact.Visible(title)
	}
	lines, _ := it.Metadata["lines"].(string)
	c.lines, _ = redact.Visible(lines)
	switch page := it.Metadata["page"].(type) {
	case string:
		if page, _ = redact.Visible(page); page != "" {
			c.page = page
		}
	case int:
		c.page = page
	case float64: // from JSON
		if page == math.Trunc(page) && math.Abs(page) < 1<<53 {
			c.page = int64(page)
		}
	case json.Number: // from JSON
		if n, err := page.Int64(); err == nil {
			c.page = n
		}
	}
	return c
}

// write appends the fields of a citation, each as name="value" after a space. The result of quote
// must be on one line and read back as the exact value: an altered id would not find the item.
func (c citation) write(b *strings.Builder, quote func(string) string) {
	part := func(name, value string) {
		if value != "" {
			b.WriteString(" " + name + "=" + quote(value))
		}
	}
	part("id", c.id)
	part("title", c.title)
	if c.page != nil {
		part("page", fmt.Sprint(c.page))
	}
	part("lines", c.lines)
}

// attribute quotes a value for XML. Only characters that XML cannot represent are replaced.
func attribute(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	escape := escaper(s)
	for _, r := range attributeEscaper.Replace(s) {
		switch {
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == '\uFFFE', r == '\uFFFF':
			b.WriteRune(utf8.RuneError) // XML has no reference for it either
		case r < ' ' || escape(r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// jsonString quotes a value for JSON. It returns nil for "".
func jsonString(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // encoding a string cannot fail
	}
	encoded := strings.TrimSuffix(b.String(), "\n")
	b.Reset()
	escape := escaper(s)
	for _, r := range encoded {
		if !escape(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", unit)
		}
	}
	return json.RawMessage(b.String())
}

// textString quotes a value as a Go string.
func textString(s string) string {
	if _, unseen := redact.Visible(s); unseen > 0 {
		return strconv.QuoteToASCII(s)
	}
	return strconv.Quote(s)
}

// escaper returns a function that reports which characters of a value must be escaped: control
// characters, line ends and characters that change the text direction. If the value contains an
// invisible character, everything but ASCII is escaped.
func escaper(s string) func(r rune) bool {
	_, unseen := redact.Visible(s)
	return func(r rune) bool {
		return '\u007f' <= r && r <= '\u009f' || changesDirection(r) || r == '\u2028' || r == '\u2029' || unseen > 0 && r >= utf8.RuneSelf
	}
}

// Uncited returns a renderer like r that omits ids, titles, pages and lines. In XML it writes the
// tag of A3S, with only source and type.
func Uncited(r ragctx.Renderer) ragctx.Renderer { return uncited{r} }

type uncited struct{ ragctx.Renderer }

// Render implements [ragctx.Renderer].
func (u uncited) Render(items []ragctx.ContextItem) string {
	out := make([]ragctx.ContextItem, len(items))
	for i, it := range items {
		it.ID, it.Cut = "", true
		out[i] = it
	}
	return u.Renderer.Render(out)
}
