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

// citation is what a reader cites an item by; "" where something is not known.
type citation struct {
	id, title, lines string

	page any // a string or an integer, nil for none
}

// cite returns an item's citation. A title that ends the source, as a file's name does, is
// not said again, and of an item that was cut the id alone is: its lines would not hold.
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
	case json.Number: // likewise
		if n, err := page.Int64(); err == nil {
			c.page = n
		}
	}
	return c
}

// write appends the parts of a citation, each as name="value" after a space. What quote
// returns for a value is on one line, and reads back as the value itself: an id opens
// nothing once a character of it was replaced or left out.
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

// attribute quotes a value for XML. Only what XML has no sign for is replaced.
func attribute(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	escape := escaped(s)
	for _, r := range attributeEscaper.Replace(s) {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || escape(r):
			fmt.Fprintf(&b, "&#%d;", r)
		case r < ' ' || r == '\uFFFE' || r == '\uFFFF':
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// jsonString quotes a value for JSON, "" as nothing.
func jsonString(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	encoded := strings.TrimSuffix(b.String(), "\n")
	b.Reset()
	escape := escaped(s)
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

// textString quotes a value as strings of Go are.
func textString(s string) string {
	if _, unseen := redact.Visible(s); unseen > 0 {
		return strconv.QuoteToASCII(s)
	}
	return strconv.Quote(s)
}

// escaped returns which characters of a value are not to stand in it as they are: those that
// steer a terminal, end a line or turn the direction of text, and where one is not to be seen all
// but ASCII.
func escaped(s string) func(r rune) bool {
	_, unseen := redact.Visible(s)
	return func(r rune) bool {
		return '\u007f' <= r && r <= '\u009f' || turns(r) || r == '\u2028' || r == '\u2029' || unseen > 0 && r >= utf8.RuneSelf
	}
}

// Uncited returns a renderer that writes what r does without ids, titles, pages and lines:
// in XML the tag with source and type alone that A3S has.
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
