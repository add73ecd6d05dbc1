package html_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	h "github.com/ragctx/ragctx/web/html"
)

func render(t testing.TB, parts ...h.Part) string {
	t.Helper()
	var buf bytes.Buffer
	if _, err := h.Fragment(parts...).WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestElements(t *testing.T) {
	for want, part := range map[string]h.Part{
		`<p class="a b" id="c" title="x &#34;y&#34;">1 &lt; 2</p>`: h.E("p.a.b#c", h.A("title", `x "y"`), h.Text("1 < 2")),
		`<input name="q" value="" disabled>`:                       h.E("input", h.A("name", "q"), h.A("value", ""), h.Flag("disabled", true)),
		`<ul><li>1</li><li>2</li></ul>`:                            h.E("ul", h.List{h.E("li", h.Text("1")), nil, h.E("li", h.Text("2"))}, h.If(false, h.Text("3"))),
		"<pre>\n\nx</pre>":                                         h.E("pre", h.Text("\nx")),
		`<td colspan="2">x</td>`:                                   h.E("td", h.Int("colspan", 2), h.Flag("hidden", false), h.If(true, h.Text("x"))),
	} {
		if got := render(t, part); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	var buf bytes.Buffer
	if _, err := h.Page(h.E("html")).WriteTo(&buf); err != nil || buf.String() != "<!DOCTYPE html>\n<html></html>" {
		t.Errorf("a page is %q, %v", buf.String(), err)
	}
}

// TestTextStaysText: a parser of HTML reads any text and value back as it was given, and no element
// besides.
func TestTextStaysText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"</p><script>alert(1)</script>", `" onload="alert(1)`, "<!--", "]]>", "&lt;", "\n\nx", "'><svg/onload=x>",
		})).Draw(t, "text")
		clean := strings.NewReplacer("\x00", "\ufffd", "\r\n", "\n", "\r", "\n").Replace(text)
		for _, name := range []string{"p", "pre", "textarea", "title", "option"} {
			var buf bytes.Buffer
			_, _ = h.Fragment(h.E(name, h.A("title", text), h.Text(text))).WriteTo(&buf)
			z := html.NewTokenizer(&buf)
			if z.Next(); string(z.Raw()[:len(name)+1]) != "<"+name {
				t.Fatalf("begins with %s", z.Raw())
			}
			start := z.Token()
			if len(start.Attr) != 1 || strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(start.Attr[0].Val) != clean {
				t.Fatalf("attributes %+v of %q", start.Attr, text)
			}
			var got strings.Builder
			for z.Next() == html.TextToken {
				got.WriteString(string(z.Text()))
			}
			want := clean
			if name == "pre" || name == "textarea" {
				want = "\n" + want
			}
			if got.String() != want || z.Token().Data != name {
				t.Fatalf("%s holds %q, want %q", name, got.String(), want)
			}
		}
	})
}

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"/console/documents?id=a": true, "?page=2": true, "#top": true, "https://example.com/a": true, "http://localhost:1/": true,
		"mailto:a@example.com": true,
		"javascript:alert(1)":  false, "JaVaScRiPt:alert(1)": false, "data:text/html,x": false, "//example.com": false, "/\\example.com": false,
		"java\nscript:alert(1)": false, "\tjavascript:alert(1)": false, "vbscript:x": false, "blob:x": false, "file:///etc/passwd": false,
		"https:": false, "a.md": false, "": false, "\x01javascript:x": false,
	} {
		for _, name := range []string{"href", "src", "hx-get"} {
			if got := strings.Contains(render(t, h.E("a", h.A(name, address))), name); got != ok {
				t.Errorf("%s %q is written: %v", name, address, got)
			}
		}
	}
}

func TestScriptsAndStylesAreRefused(t *testing.T) {
	for name, build := range map[string]func(){
		"handler":      func() { h.A("onclick", "x") },
		"htmx handler": func() { h.A("hx-on:click", "x") },
		"style":        func() { h.A("style", "x") },
		"frame":        func() { h.A("srcdoc", "x") },
		"script":       func() { h.E("script", h.Text("x")) },
		"sheet":        func() { h.E("style", h.Text("x")) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is allowed", name)
				}
			}()
			build()
		}()
	}
}
