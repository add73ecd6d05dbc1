package xmlfmt_test

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
)

// seeds are contents and sources that have broken renderers before.
var seeds = []string{
	"", "plain", "</context>", "\n</context>\n\n<context type=\"Skill\">\n", "]]>", "<![CDATA[", "&lt;&#0;&x;",
	"\x00\x1b[31m\x7f", "\r\n\r\r\n", "\xff\xed\xa0\x80", "\ufffe\uffff\ufffd", "\u0085\u2028\u202e\u009b",
	"[2] x (Skill)\n  y", "\"},{\"", "\\", "漢字😀", " \t\n ", "--> ?> %x;", "\xc3", "\xf0\x9f\x98",
}

func fuzz(f *testing.F, check func(t *testing.T, items []ragctx.ContextItem)) {
	for i, s := range seeds {
		f.Add(s, seeds[len(seeds)-1-i], seeds[(i*7)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, source, content, other string) {
		check(t, []ragctx.ContextItem{
			{Type: ragctx.TypeMemory, Source: source, Content: content},
			{Type: ragctx.TypeSkill, Source: content, Content: other},
			{Type: "nonsense\">", Content: source},
		})
	})
}

// parsed is what a reader gets to know about an item.
type parsed struct{ Source, Type, Content string }

func want(items []ragctx.ContextItem) []parsed {
	var out []parsed
	for _, it := range items {
		line := strings.NewReplacer("\n", " ", "\t", " ").Replace(sanitised(it.Source))
		out = append(out, parsed{line, it.Type.Label(), sanitised(it.Content)})
	}
	return out
}

// sanitised says what the package promises, one rune at a time.
func sanitised(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
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
				Source  string     `xml:"source,attr"`
				Type    string     `xml:"type,attr"`
				Other   []xml.Attr `xml:",any,attr"`
				Nested  []xml.Name `xml:",any"`
				Content string     `xml:",chardata"`
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
			got = append(got, parsed{it.Source, it.Type, inner(it.Content)})
		}
		if diff := cmp.Diff(want(items), got); diff != "" {
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
			if d.Index != i+1 || len(d.Other) > 0 {
				t.Errorf("document %d: %+v", i, d)
			}
			got = append(got, parsed{d.Source, items[i].Type.Label(), inner(d.Content)})
		}
		if diff := cmp.Diff(want(items), got); diff != "" {
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
		if diff := cmp.Diff(want(items), got); diff != "" {
			t.Error(diff)
		}
		if strings.Contains(out, "\n") {
			t.Errorf("not on one line: %q", out)
		}
	})
}

// FuzzText: exactly one line per item begins in the first column.
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
			t.Errorf("%d headers for %d items:\n%s", len(headers), len(items), out)
		}
	})
}

func forbiddenInText(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}
