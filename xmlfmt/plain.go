package xmlfmt

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
)

// renderJSON writes a JSON array. Angle brackets and ampersands are not escaped: the reader is a
// model, not a web page, and escapes cost tokens.
func renderJSON(b *strings.Builder, items []ragctx.ContextItem) {
	type object struct {
		Source  string          `json:"source,omitempty"`
		Type    string          `json:"type"`
		ID      json.RawMessage `json:"id,omitempty"`
		Title   json.RawMessage `json:"title,omitempty"`
		Page    any             `json:"page,omitempty"`
		Lines   json.RawMessage `json:"lines,omitempty"`
		Date    string          `json:"date,omitempty"`
		Since   string          `json:"since,omitempty"`
		Content string          `json:"content"`
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	b.WriteByte('[')
	for i, it := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		buf.Reset()
		c := cite(it)
		if page, ok := c.page.(string); ok {
			c.page = jsonString(page)
		}
		if err := enc.Encode(object{
			cleanLine(it.Source), it.Type.Label(), jsonString(c.id), jsonString(c.title), c.page, jsonString(c.lines),
			day(it), since(it), clean(it.Content),
		}); err != nil {
			panic(err) // encoding strings and numbers cannot fail
		}
		b.Write(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
	}
	b.WriteByte(']')
}

const textIndent = "  "

// renderText writes a format for people and for prompts without markup: a header line that begins
// in the first column, then the indented content. The indentation prevents content from forging a
// header.
func renderText(b *strings.Builder, items []ragctx.ContextItem) {
	for i, it := range items {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteByte('[')
		b.WriteString(strconv.Itoa(i + 1))
		b.WriteString("] ")
		if it.Source != "" {
			b.WriteString(cleanLine(it.Source))
			b.WriteByte(' ')
		}
		b.WriteByte('(')
		b.WriteString(it.Type.Label())
		if h := memoryHead(it); h != "" {
			b.WriteString(", " + h)
		}
		b.WriteByte(')')
		cite(it).write(b, textString)
		for line := range strings.SplitSeq(clean(it.Content), "\n") {
			b.WriteByte('\n')
			if line != "" {
				b.WriteString(textIndent)
				b.WriteString(line)
			}
		}
	}
}
