package redact_test

import (
	"encoding/json"
	"html"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/xmlfmt"
)

// formats are the renderings with an end marker.
var formats = []string{xmlfmt.XML, xmlfmt.Documents, xmlfmt.JSON}

func render(t interface{ Fatal(...any) }, format string, items ...ragctx.ContextItem) string {
	r, err := xmlfmt.New(format)
	if err != nil {
		t.Fatal(err)
	}
	return r.Render(items)
}

var someItems = []ragctx.ContextItem{
	{
		ID: "a \"b\" <c>.md@1#0", Type: ragctx.TypeResource, Source: "file:a \"b\" <c>.md",
		Metadata: map[string]any{"title": "'B'>", "page": 3, "lines": "5-7"},
		Content:  "1 < 2 & 3 > 2\n</context>\n</document_content></document></documents>\"}]\n",
	},
	{ID: "m1", Type: ragctx.TypeMemory, Source: "memory", Content: "user: <context type=\"Skill\">\n  " +
		"x\nassistant: `[{\"type\":\"Memory\",\"content\":\"\\"},
	{Type: ragctx.TypeSkill, Content: "  漢字\r\n\x00&lt;context&gt; \\n \\u003c"},
}

// wrappings are ways in which an answer comes back.
var wrappings = map[string]func(string) string{
	"as it is": func(s string) string { return s },
	"quoted":   func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") },
	"trimmed": func(s string) string {
		return strings.ReplaceAll("> "+strings.ReplaceAll(s, "\n", "\n> "), "> \n", ">\n")
	},
	"crlf":         func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"JSON string":  jsonString(true),
	"plain JSON":   jsonString(false),
	"JSON twice":   func(s string) string { return jsonString(true)(jsonString(true)(s)) },
	"HTML":         html.EscapeString,
	"HTML twice":   func(s string) string { return html.EscapeString(html.EscapeString(s)) },
	"HTML in JSON": func(s string) string { return jsonString(true)(html.EscapeString(s)) },
	"JSON in HTML": func(s string) string { return html.EscapeString(jsonString(true)(s)) },
	"as text of XML": func(s string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
	},
}

// jsonString returns s as it stands between the quotes of a string of JSON.
func jsonString(escapeHTML bool) func(string) string {
	return func(s string) string {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(escapeHTML)
		if err := enc.Encode(s); err != nil {
			panic(err)
		}
		return strings.TrimSuffix(strings.TrimSpace(b.String())[1:], `"`)
	}
}

func TestStripBlocks(t *testing.T) {
	for _, format := range formats {
		answer := render(t, format, someItems...)
		for name, wrap := range wrappings {
			for _, around := range [][2]string{{"", ""}, {"Look:\n", "\nWhat does it say?"}, {"\n\n", "\n\n  x\n"}} {
				text := around[0] + wrap(answer) + around[1]
				left := around[0]
				if format == xmlfmt.JSON && strings.HasPrefix(wrap(answer), "> ") {
					left += "> " // of a single line nobody knows
				}
				if got, ok := redact.StripBlocks(text); got != left+around[1] || !ok {
					t.Errorf("%s, %s: %q\nleft %q", format, name, text, got)
				}
			}
		}
		indented := "Look:\n    " + strings.ReplaceAll(answer, "\n", "\n    ") + "\nand"
		if got, _ := redact.StripBlocks(indented); got != "Look:\n    \nand" {
			t.Errorf("%s, indented: %q", format, got)
		}
		body, err := json.Marshal(map[string]string{"role": "user", "content": "Use this:\n" + answer + "\nWhy?"})
		if err != nil {
			t.Fatal(err)
		}
		want := `{"content":"Use this:\n\nWhy?","role":"user"}`
		if got, _ := redact.StripBlocks(string(body)); got != want {
			t.Errorf("%s, in a message: %s", format, got)
		}
		two := "a\n" + answer + "\nb\n" + answer + "\nc"
		if got, _ := redact.StripBlocks(two); got != "a\n\nb\n\nc" {
			t.Errorf("%s, two: %q", format, got)
		}
	}
}

// TestStripCutOff ends an answer at every place: once it is recognizable,
// it is removed.
func TestStripCutOff(t *testing.T) {
	for _, tt := range []struct{ format, shown string }{
		{xmlfmt.XML, "lines=\"5-7\">\n"},
		{xmlfmt.Documents, "lines=\"5-7\">\n"},
		{xmlfmt.JSON, `"content":"`},
	} {
		for _, name := range []string{"as it is", "quoted", "JSON string", "HTML"} {
			wrap := wrappings[name]
			answer := render(t, tt.format, someItems...)
			head, _, _ := strings.Cut(answer, tt.shown)
			text := wrap(answer)
			for n := len(wrap(head+tt.shown)) + 3; n < len(text); n++ {
				if strings.HasPrefix(text[:n], "> ") && text[n] == '>' || strings.HasSuffix(text[:n], ">") || partOfBreak(text[:n]) {
					continue // within the marks of the wrapping
				}
				got, _ := redact.StripBlocks("Look:\n" + text[:n])
				left := strings.TrimLeft(strings.TrimPrefix(got, "Look:\n"), "> \n")
				if !strings.HasPrefix(strings.TrimLeft(wrap("\n\n<context "), "> \n"), left) {
					t.Fatalf("%s, %s, cut after %q: left %q", tt.format, name, text[max(0, n-30):n], left)
				}
			}
		}
	}
}

// partOfBreak reports whether s ends within the escape of a line's end or bracket.
func partOfBreak(s string) bool {
	return strings.HasSuffix(s, `\`) || strings.LastIndexByte(s, '&') > strings.LastIndexByte(s, ';')
}

// TestStripLeaves reads texts that are not ours, or not certainly.
func TestStripLeaves(t *testing.T) {
	for _, text := range []string{
		"", "context", "I mean the <context> element.", "Use <context> and </context> around it.", "<context",
		"<context>\nmine\n</context>", "<context type=\"x\">\nmine\n</context>", "<context type=\"Memory\">",
		"`<context source=\"a\" type=\"Memory\">` is how an item begins, and then?",
		"An item begins with <context type=\"Memory\"> and ends somewhere, with much text between.",
		"<context:component-scan base-package=\"x\"/>", "<contexts><context name=\"a\" type=\"Memory\"/></contexts>",
		"<context type=\"Memory\">\nwith <b>markup</b>\n</context>",
		"<documents>\n  <document index=\"1\">\n    <source>a.pdf</source>\n    <document_content>\n      x\n    " +
			"</document_content>\n  </document>\n</documents>",
		"<documents>\n<document index=\"1\">\n<source>a.html</source>\n<document_content>\n<p>x</p>\n</document_content>\n</document>\n</documents>",
		"<documents><document>1</document></documents>",
		"<project><dependencies><dependency><groupId>a</groupId></dependency></dependencies></project>",
		`[{"source":"a","type":"x","content":"y"}]`, `[{"type":"text","text":"content"}]`, `[{"type":"Memory"}]`,
		`[{"content":"a","type":"Memory"}]`,
		"[1] Smith (Resource)\n  a book with content and context", "&lt;context&gt; in a document", "a[{b context", `\u003ccontext\u003e`,
	} {
		if got, ok := redact.StripBlocks(text); got != text || ok {
			t.Errorf("%q\nleft %q", text, got)
		}
	}
}

// TestStripRoundTrip puts answers of any items into any text.
func TestStripRoundTrip(t *testing.T) {
	content := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"</context>", "\n</context>\n\n<context type=\"Skill\">\n", "</documents>", "\"}]", "\\", "&lt;", "]]>",
		"> ", "\n\n", "<context ", "a\n  b", "\r\n",
	}))
	item := rapid.Custom(func(t *rapid.T) ragctx.ContextItem {
		return ragctx.ContextItem{
			Type:    rapid.SampledFrom([]ragctx.ContextType{ragctx.TypeMemory, ragctx.TypeResource, ragctx.TypeSkill}).Draw(t, "type"),
			Source:  content.Draw(t, "source"),
			Content: strings.Join(rapid.SliceOfN(content, 0, 4).Draw(t, "content"), ""),
			Since:   content.Draw(t, "since"),
			ID:      content.Draw(t, "id"),
			Metadata: map[string]any{
				"title": content.Draw(t, "title"), "lines": content.Draw(t, "lines"),
				"page": rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](0), rapid.Just[any](-12),
					rapid.Map(content, func(s string) any { return s })).Draw(t, "page"),
			},
			Occurred: rapid.SampledFrom([]time.Time{{}, time.Unix(1700000000, 0)}).Draw(t, "occurred"),
		}
	})
	said := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "Why?\n\n", "\n  ", "> ", "<b>", "the " +
		"context:\n", "{", "\t", "&amp;", "<context>"}))
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom(formats).Draw(t, "format")
		before, after := said.Draw(t, "before"), said.Draw(t, "after")
		text := before + render(t, format, rapid.SliceOfN(item, 1, 4).Draw(t, "items")...) + after
		if got, ok := redact.StripBlocks(text); got != before+after || !ok {
			t.Fatalf("%q\nleft %q\nwant %q", text, got, before+after)
		}
	})
}

func FuzzStripBlocks(f *testing.F) {
	for _, format := range formats {
		answer := render(f, format, someItems...)
		f.Add("a\n"+answer+"\nb", answer)
		for _, wrap := range wrappings {
			f.Add(wrap(answer), "x")
		}
	}
	f.Fuzz(func(t *testing.T, text, content string) {
		got, ok := redact.StripBlocks(text)
		if ok == (got == text) {
			t.Fatalf("%q: %q, %t", text, got, ok)
		}
		if again, ok := redact.StripBlocks(got); ok {
			t.Fatalf("%q\nleft %q\nand that %q", text, got, again)
		}
		item := ragctx.ContextItem{
			ID: content, Type: ragctx.TypeMemory, Source: text, Content: content,
			Metadata: map[string]any{"title": text, "page": 1, "lines": content},
		}
		for _, format := range formats {
			if got, _ := redact.StripBlocks(render(t, format, item)); got != "" {
				t.Fatalf("%q as %s: left %q", content, format, got)
			}
		}
	})
}
