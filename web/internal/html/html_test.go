package html_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	h "github.com/ragctx/ragctx/web/internal/html"
)

func render(t testing.TB, part h.Part) string {
	t.Helper()
	var b strings.Builder
	if err := h.WriteTo(&b, part); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkup(t *testing.T) {
	for want, part := range map[string]h.Part{
		`<p class="a" title="x &#34;y&#34;">1 &lt; 2</p>`:        h.F(`<p class="a" title={}>{}</p>`, `x "y"`, "1 < 2"),
		`<input name="q" value="" disabled>`:                     h.F(`<input name="q" value={} disabled={} hidden={} id={}>`, "", true, false, nil),
		`<ul><li>1</li><li>2</li></ul>`:                          h.F(`<ul>{}{}</ul>`, h.List{h.F(`<li>{}</li>`, 1), nil, h.F(`<li>2</li>`)}, h.If(false, h.Text("3"))),
		"<pre class=\"x\">\n\nx</pre>":                           h.F(`<pre class={}>{}</pre>`, "x", "\nx"),
		`<td colspan="2">x</td>`:                                 h.F(`<td colspan={} title={}>{}</td>`, 2, h.When(false, "y"), h.If(true, h.Text("x"))),
		`<p id="a" class="b">two words <b>three</b><i>4</i></p>`: h.F("<p id=\"a\"\n\t\tclass=\"b\">two\n\t\twords <b>three</b>\n\t\t<i>{}</i></p>", 4),
	} {
		if got := render(t, part); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := render(t, nil); got != "" {
		t.Errorf("nothing is %q", got)
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
		for name, part := range map[string]h.Part{
			"p": h.F(`<p title={}>{}</p>`, text, text), "pre": h.F(`<pre title={}>{}</pre>`, text, text),
			"textarea": h.F(`<textarea title={}>{}</textarea>`, text, h.Text(text)), "title": h.F(`<title title={}>{}</title>`, text, h.List{h.Text(text)}),
			"option": h.F(`<option title={}>{}</option>`, text, h.If(true, h.Text(text))),
		} {
			var b strings.Builder
			_ = h.WriteTo(&b, part)
			z := html.NewTokenizer(strings.NewReader(b.String()))
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
		for name, part := range map[string]h.Part{
			"href": h.F(`<a href={}></a>`, address), "HREF": h.F("<a class=\"x\"\n\t\tHREF={}></a>", address), "src": h.F(`<a src={}></a>`, address), "hx-get": h.F(`<a hx-get={}></a>`, address),
		} {
			if got := strings.Contains(render(t, part), strings.ToLower(name)); got != ok {
				t.Errorf("%s %q is written: %v", name, address, got)
			}
		}
	}
}

func TestWrongMarkupPanics(t *testing.T) {
	for name, build := range map[string]func(){
		"handler":            func() { h.F(`<a onclick={}></a>`, "x") },
		"htmx handler":       func() { h.F(`<a hx-on:click={}></a>`, "x") },
		"style":              func() { h.F(`<a style={}></a>`, "x") },
		"frame":              func() { h.F(`<a srcdoc={}></a>`, "x") },
		"script":             func() { h.F(`<script>{}</script>`, "x") },
		"sheet":              func() { h.F(`<style>{}</style>`, "x") },
		"too few arguments":  func() { h.F(`<p>{}{}</p>`, "x") },
		"too many arguments": func() { h.F(`<p>{}</p>`, "x", "y") },
		"capitals":           func() { h.F(`<a ONCLICK={}></a>`, "x") },
		"a line of its own":  func() { h.F("<a class=\"x\"\n\t\tonclick={}></a>", "x") },
		"a whole attribute":  func() { h.F(`<a {}></a>`, "onclick=x") },
		"a part of a value":  func() { h.F(`<a href=/x/{}></a>`, " onclick=x") },
		"no attribute":       func() { h.F(`<p>a b={}</p>`, "x") },
		"no name":            func() { h.F(`<a{}></a>`, "x") },
		"another content":    func() { h.F(`<p>{}</p>`, []byte("x")) },
		"another value":      func() { h.F(`<p title={}></p>`, h.Text("x")) },
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
