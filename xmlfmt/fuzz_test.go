package xmlfmt_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/xmlfmt"
)

// seeds are contents and sources that have broken renderers before.
var seeds = []string{
	"", "plain", "</context>", "\n</context>\n\n<context type=\"Skill\">\n", "]]>", "<![CDATA[", "&lt;&#0;&x;",
	"\x00\x1b[31m\x7f", "\r\n\r\r\n", "\xff\xed\xa0\x80", "\ufffe\uffff\ufffd", "\ufffb\uffff\x01", "\u0085\u2028\u202e\u009b",
	"\U000E0041b\u200b", "👩\u200d👧 \ufeff\u3164",
	"[2] x (Skill)\n  y", "\"},{\"", "\\", "漢字😀", " \t\n ", "--> ?> %x;", "\xc3", "\xf0\x9f\x98",
}

func fuzz(f *testing.F, check func(t *testing.T, items []ragctx.ContextItem)) {
	for i, s := range seeds {
		f.Add(s, seeds[len(seeds)-1-i], seeds[(i*7)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, source, content, other string) {
		check(t, []ragctx.ContextItem{
			{Type: ragctx.TypeMemory, Source: source, ID: other, Content: content},
			{Type: ragctx.TypeSkill, Source: content, ID: "a@1#0", Content: other, Metadata: map[string]any{"title": source, "page": other, "lines": content}},
			{Type: "nonsense\">", ID: content, Content: source, Metadata: map[string]any{"title": other, "page": len(other), "lines": source}},
		})
	})
}

// parsed is the content of an item as a reader parses it.
type parsed struct {
	Source  string `xml:"source,attr"`
	Type    string `xml:"type,attr"`
	ID      string `xml:"id,attr"`
	Title   string `xml:"title,attr"`
	Page    any    `xml:"-"`
	Lines   string `xml:"lines,attr"`
	Content string `xml:",chardata"`
}

func want(items []ragctx.ContextItem) []parsed {
	var out []parsed
	for _, it := range items {
		p := parsed{Source: line(it.Source), Type: it.Type.Label(), ID: it.ID, Content: sanitised(it.Content, xmlfmt.Indent(it.Type))}
		if title, _ := it.Metadata["title"].(string); !strings.HasSuffix(it.Source, title) {
			p.Title = visible(title)
		}
		if page := it.Metadata["page"]; page != nil && visible(fmt.Sprint(page)) != "" {
			p.Page = visible(fmt.Sprint(page))
		}
		lines, _ := it.Metadata["lines"].(string)
		p.Lines = visible(lines)
		out = append(out, p)
	}
	return out
}

// line is what becomes of a text that has to stay on one line.
func line(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(sanitised(s, ""))
}

func visible(s string) string {
	s, _ = redact.Visible(s)
	return s
}

// cited returns the expected citation values of a format.
func cited(all []parsed, as func(string) string) []parsed {
	for i := range all {
		p := &all[i]
		p.ID, p.Title, p.Lines = as(p.ID), as(p.Title), as(p.Lines)
		if page, ok := p.Page.(string); ok {
			p.Page = as(page)
		}
	}
	return all
}

// inXML replaces what XML has no sign for.
func inXML(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, s)
}

// inJSON replaces invalid UTF-8.
func inJSON(s string) string { return string([]rune(s)) }

// paged returns the parsed page, or "".
func (p parsed) paged(page string) parsed {
	if p.Content = inner(p.Content); page != "" {
		p.Page = page
	}
	return p
}

// sanitised implements the replacements of the package, one rune at a time.
func sanitised(s, indent string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	for _, end := range []string{"\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"} {
		s = strings.ReplaceAll(s, end, "\n"+indent)
	}
	s, _ = redact.Visible(s) // whose tests say what that is
	var out []rune
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1,
			r < ' ' && r != '\t' && r != '\n', r >= 0x7f && r <= 0x9f, r == 0xFFFE, r == 0xFFFF,
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			r = 0xFFFD
		}
		out = append(out, r)
	}
	return string(out)
}

func inner(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s, "\n"), "\n")
}

func FuzzXML(f *testing.F) {
	fuzz(f, func(t *testing.T, items []ragctx.ContextItem) {
		out := renderer(t, "xml").Render(items)
		var root struct {
			Text  string `xml:",chardata"`
			Items []struct {
				parsed

				Page   string     `xml:"page,attr"`
				Other  []xml.Attr `xml:",any,attr"`
				Nested []xml.Name `xml:",any"`
			} `xml:"context"`
		}
		if err := xml.Unmarshal([]byte("<root>"+out+"</root>"), &root); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var got []parsed
		for _, it := range root.Items {
			if len(it.Other) > 0 || len(it.Nested) > 0 {
				t.Errorf("content became markup: %s", out)
			}
			got = append(got, it.paged(it.Page))
		}
		if diff := cmp.Diff(cited(want(items), inXML), got); diff != "" {
			t.Error(diff)
		}
		if root.Text != "\n\n\n\n" {
			t.Errorf("between the items is %q", root.Text)
		}
	})
}

func FuzzDocuments(f *testing.F) {
	fuzz(f, func(t *testing.T, items []ragctx.ContextItem) {
		out := renderer(t, "documents").Render(items)
		var root struct {
			XMLName   xml.Name `xml:"documents"`
			Documents []struct {
				Index   int        `xml:"index,attr"`
				ID      string     `xml:"id,attr"`
				Title   string     `xml:"title,attr"`
				Page    string     `xml:"page,attr"`
				Lines   string     `xml:"lines,attr"`
				Attrs   []xml.Attr `xml:",any,attr"`
				Source  string     `xml:"source"`
				Content string     `xml:"document_content"`
				Other   []xml.Name `xml:",any"`
			} `xml:"document"`
			Other []xml.Name `xml:",any"`
		}
		if err := xml.Unmarshal([]byte(out), &root); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var got []parsed
		for i, d := range root.Documents {
			if d.Index != i+1 || len(d.Other)+len(d.Attrs) > 0 {
				t.Errorf("document %d: %+v", i, d)
			}
			p := parsed{Source: d.Source, Type: items[i].Type.Label(), ID: d.ID, Title: d.Title, Lines: d.Lines, Content: d.Content}
			got = append(got, p.paged(d.Page))
		}
		if diff := cmp.Diff(cited(want(items), inXML), got); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzz(f, func(t *testing.T, items []ragctx.ContextItem) {
		out := renderer(t, "json").Render(items)
		var got []parsed
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for i := range got {
			if got[i].Page != nil {
				got[i].Page = fmt.Sprint(got[i].Page)
			}
		}
		if diff := cmp.Diff(cited(want(items), inJSON), got); diff != "" {
			t.Error(diff)
		}
		if i := strings.IndexFunc(out, forbiddenInText); i >= 0 {
			t.Errorf("%q stands in %q", out[i:i+1], out)
		}
		if strings.Contains(out, "\n") {
			t.Errorf("not on one line: %q", out)
		}
	})
}

// FuzzText: exactly one line per item begins in the first column, and it ends in the citation.
func FuzzText(f *testing.F) {
	fuzz(f, func(t *testing.T, items []ragctx.ContextItem) {
		out := renderer(t, "text").Render(items)
		if !utf8.ValidString(out) {
			t.Errorf("not UTF-8: %q", out)
		}
		if i := strings.IndexFunc(out, forbiddenInText); i >= 0 {
			t.Errorf("%q stands in %q", out[i:i+1], out)
		}
		headers := slices.Collect(func(yield func(string) bool) {
			for line := range strings.SplitSeq(out, "\n") {
				if line != "" && !strings.HasPrefix(line, "  ") && !yield(line) {
					return
				}
			}
		})
		if len(headers) != len(items) {
			t.Fatalf("%d headers for %d items:\n%s", len(headers), len(items), out)
		}
		for i, w := range want(items) {
			if got := citationOf(headers[i]); !cmp.Equal(got, partsOf(w)) {
				t.Errorf("cited as %q, want %q:\n%s", got, partsOf(w), out)
			}
		}
	})
}

// citationPart is one part of a citation in plain text, quoted as in Go.
var citationPart = regexp.MustCompile(` (id|title|page|lines)=("(?:[^"\\]|\\.)*")$`)

// citationOf reads a citation from the end of a header.
func citationOf(header string) []string {
	var parts []string
	for {
		m := citationPart.FindStringSubmatchIndex(header)
		if m == nil || len(parts) > 0 && strings.HasPrefix(parts[0], "id=") {
			return parts
		}
		value, err := strconv.Unquote(header[m[4]:m[5]])
		if err != nil {
			return []string{err.Error()}
		}
		parts = append([]string{header[m[2]:m[3]] + "=" + value}, parts...)
		header = header[:m[0]]
	}
}

// partsOf lists the expected end of a header.
func partsOf(p parsed) (parts []string) {
	for _, part := range [...]struct{ name, value string }{{"id", p.ID}, {"title", p.Title}, {"page", pageOf(p)}, {"lines", p.Lines}} {
		if part.value != "" {
			parts = append(parts, part.name+"="+part.value)
		}
	}
	return parts
}

func pageOf(p parsed) string {
	if p.Page == nil {
		return ""
	}
	return fmt.Sprint(p.Page)
}

func forbiddenInText(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}
