package extract

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func markdownOf(t *testing.T, src string, o pageOptions) string {
	t.Helper()
	p, err := htmlMarkdown(t.Context(), []byte(src), o)
	if err != nil {
		t.Fatalf("%.100q: %v", src, err)
	}
	return p.markdown
}

// TestHTMLParts converts single constructs.
func TestHTMLParts(t *testing.T) {
	for _, x := range []struct{ name, in, want string }{
		{"entities and spaces", "<p>a &amp;\n  b&nbsp;c&#8203;d &lt;i&gt;", "a & b cd \\<i>\n"},
		{"emphasis inside of a word", "<p>un<b>believ</b>able <b> bold </b>x", "unbelievable **bold** x\n"},
		{"nested strong", "<p><b><b>x</b> y</b>", "**x y**\n"},
		{"strong around code", "<p><b><code>x</code></b>", "`x`\n"},
		{"code with a backtick", "<p><code>a`b</code><code>c</code>", "`` a`b `` `c`\n"},
		{
			"links", `<p><a href="/in">in</a> <a href="#x">x</a> <a href="https://e.org/a(b)">out</a> <a ` +
				`href="https://e.org">https://e.org/</a> <a href="javascript:x()">js</a>`,
			"in x [out](https://e.org/a%28b%29) https://e.org/ js\n",
		},
		{"number of a ticket", `<p><a href="https://e.org/7">#7</a>`, "#7\n"},
		{
			"lines of code",
			`<div class="fragment"><div class="line">int <b>a</b>;</div><div class="line">  ` +
				`b&lt;c&gt;;</div></div>`, "```\nint a;\n  b<c>;\n```\n",
		},
		{"link around a block", `<a href="https://e.org"><div>one</div><div>two</div></a>`, "one\n\ntwo\n"},
		{
			"image in a link", `<a href="https://e.org"><img alt="a red boat" src="x.png"></a>`,
			"[a red boat](https://e.org)\n",
		},
		{"names of pictures", `<p><img alt="photo.jpg">x<img alt="">`, "x\n"},
		{
			"line starts", "<p># a<p>- b<p>1) c<p>> d<p>+1 e<p>12. f<p>---<p>#tag",
			"\\# a\n\n\\- b\n\n1\\) c\n\n\\> d\n\n+1 e\n\n12\\. f\n\n\\---\n\n#tag\n",
		},
		{"loose list", "<ul><li><p>a<p>b<li>c</ul>", "- a\n\n  b\n\n- c\n"},
		{
			"deep list", "<ol start=9><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ol>e",
			"9. a\n   - b\n     1. c\n10. d\n\ne\n",
		},
		{"list of sections", "<ul><li><h2>a</h2>b<ul><li>c</ul></ul>", "## a\n\nb\n\n- c\n"},
		{"list without items", "<ul>a<ul><li>b</ul></ul>", "- a\n- - b\n"},
		{
			"pre keeps its lines", "<pre class='brush: go'>\nfunc f() {\n\treturn\n}\n\n</pre>",
			"```go\nfunc f() {\n\treturn\n}\n```\n",
		},
		{
			"pre of lines",
			`<pre><code class="language-js"><span class="line">a</span><br><div>b</div><div>c</div></code></pre>`,
			"```js\na\nb\nc\n```\n",
		},
		{"pre with fences", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````\n"},
		{
			"table without header", "<table><tr><td>a<td>b<tr><td>c<td>d|e</table>",
			"| | |\n|---|---|\n| a | b |\n| c | d\\|e |\n",
		},
		{
			"header in the first column", "<table><tr><th>k<td>v<tr><th>l<td>w</table>",
			"| | |\n|---|---|\n| k | v |\n| l | w |\n",
		},
		{
			"spans", "<table><tr><th colspan=2>a<th>b<tr><td rowspan=2>c<td>d<td>e<tr><td>f<td>g</table>",
			"| a | | b |\n|---|---|---|\n| c | d | e |\n| c | f | g |\n",
		},
		{
			"blocks in a cell", "<table><tr><th>a<th>b<tr><td><p>x<p>y<td><ul><li>1<li>2</ul></table>",
			"| a | b |\n|---|---|\n| x y | 1; 2 |\n",
		},
		{
			"layout table", "<table><tr><td><h2>a</h2>b<td><table><tr><th>x<tr><td>1</table></table>",
			"## a\n\nb\n\nx\n\n1\n",
		},
		{"quotation in an item", "<ul><li><blockquote><p>a<p>b</blockquote></ul>", "- > a\n  >\n  > b\n"},
		{"hidden", `<p hidden>a</p><p style="display: none">b</p><p aria-hidden="true">c</p><div role="tabpanel" ` +
			`hidden>d</div><select><option>e</select><svg><title>f</title></svg><template>g</template>h`, "d\n\nh\n"},
		{"formulas", `<p><math alttext="x^2"><mi>x</mi></math> <span ` +
			`class="katex"><math><semantics><mi>y</mi><annotation ` +
			`encoding="application/x-tex">y_1</annotation></semantics></math><span ` +
			`aria-hidden="true">y1</span></span>`, "$x^2$ $y_1$\n"},
		{"readings of characters", "<p><ruby>表<rp>(</rp><rt>ひょう</rt><rp>)</rp></ruby>", "表(ひょう)\n"},
		{"unclosed", "<p>a<div>b<p>c<ul><li>d", "a\n\nb\n\nc\n\n- d\n"},
		{"misnested", "<p><b>a<i>b</b>c</i></p>d", "**ab**c\n\nd\n"},
		{"end tags of nothing", "</div></p></b>a</table></li>", "a\n"},
		{"no content", "<html><body></body></html>", ""},
		{"text only", "just text", "just text\n"},
		{
			"forms keep their text", "<form><p>a</p><input value=x><textarea>t</textarea><button>b</button></form>",
			"a\n",
		},
	} {
		if got := markdownOf(t, x.in, pageOptions{keepAll: true}); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

func TestHTMLTitle(t *testing.T) {
	for _, x := range []struct{ name, in, want string }{
		{"heading", "<title>Pods | Kube</title><h1>Pods</h1>", "Pods"},
		{"no heading", "<title>Pods | Kube</title><p>x", "Pods"},
		{"site", `<title>Pods - Kube</title><meta property="og:site_name" content="Kube"><p>x`, "Pods"},
		{"a dash of its own", "<title>Rust - the book</title><p>x", "Rust - the book"},
		{"several headings", "<title>All news</title><h1>a</h1><h1>b</h1>", "All news"},
		{"second level", "<title>Functions - The Book</title><h2>Functions</h2>", "Functions"},
		{"none", "<p>x", ""},
		{"of a picture", "<svg><title>logo</title></svg><p>x", ""},
		{"front matter", "---\ntitle: \"A page\"\nlayout: x\n---\n<p>x", "A page"},
		{"front matter in a comment", "<!--{\n\t\"Title\": \"A page\",\n\t\"Path\": \"/x\"\n}-->\n<p>x", "A page"},
	} {
		p, err := htmlMarkdown(t.Context(), []byte(x.in), pageOptions{})
		if err != nil || p.title != x.want {
			t.Errorf("%s: %q, %v; want %q", x.name, p.title, err, x.want)
		}
	}
}

// TestHTMLMain finds the main content of pages.
func TestHTMLMain(t *testing.T) {
	text := strings.Repeat("A sentence of the text. ", 20)
	links := strings.Repeat(`<li><a href="/x">Another page</a>`, 12)
	for _, x := range []struct{ name, in, without string }{
		{"main", "<div>Banner</div><main>" + text + "</main><div>Colophon</div>", "Banner Colophon"},
		{"role", `<div>Banner</div><div role="main">` + text + "</div>", "Banner"},
		{"article", "<div>Banner</div><article>" + text + "</article>", "Banner"},
		{"class", `<div>Banner</div><div class="x markdown-body">` + text + "</div>", "Banner"},
		{"no marks", "<div><ul>" + links + "</ul></div><p>" + text, "Another"},
		{"small main", "<main>Search</main><p>" + text, "nothing"},
		{"several articles", "<article>" + text + "</article><article>" + text + " second</article>", "nothing"},
		{"navigation inside", "<main><nav>Crumbs</nav>" + text + "</main>", "Crumbs"},
		{"table of contents", "<main><ul>" + strings.Repeat(`<li><a href="#a">Contents</a>`, 5) + "</ul><p>" +
			text + "</main>", "Contents"},
		{"a page of links", "<h1>Index</h1><ul>" + links + links + "</ul>", "nothing"},
		{"heading in a header", "<header><h1>Head</h1></header><p>" + text, "nothing"},
	} {
		got := markdownOf(t, x.in, pageOptions{})
		for w := range strings.FieldsSeq(x.without) {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q has %q", x.name, got, w)
			}
		}
		if x.without == "nothing" && len(got) < len(text)-1 && !strings.Contains(x.name, "links") ||
			strings.Contains(x.name, "links") && strings.Count(got, "Another") != 24 {
			t.Errorf("%s: %q lacks text", x.name, got)
		}
		if strings.Contains(x.name, "heading") && !strings.Contains(got, "# Head") {
			t.Errorf("%s: %q lacks the heading", x.name, got)
		}
	}
}

// TestHostileHTML converts pages that are expensive for their size. Time and memory stay
// proportional to the size.
func TestHostileHTML(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	r := strings.Repeat
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, x := range []struct{ name, in, reason string }{
		{"deep", r("<div>", 100_000) + "x", ""},
		{"deep, closed", r("<div>", 50_000) + "x" + r("</div>", 50_000) + "<p>y", ""},
		{"unclosed formatting", numbered("<b id=%d>", 5000) + r("<p>x", 20_000), ""},
		{"nested quotations", r("<blockquote>aa ", 20_000), ""},
		{"nested lists", r("<ol><li>a", 20_000), ""},
		{"nested tables", r("<table><tr><td>x", 20_000), ""},
		{"nested links", r("<a href=x>x", 50_000), ""},
		{"wide spans", r("<table><tr><td colspan=1000000 rowspan=1000000>a<td>b</table>", 5000), ""},
		{"tall spans", "<table>" + r("<tr><td rowspan=60000>"+r("a", 70), 20_000) + "</table>", ""},
		{"attributes", "<p " + numbered("a%d=1 ", 300_000) + ">x", ""},
		{"a long attribute", `<p class="` + r("x ", 2_000_000) + `">x`, ""},
		{"a long tag", "<" + r("a", 10<<20), ""},
		{"one tag", "<" + r("!", 10<<20), ""},
		{"open comment", "<!--" + r("-", 5<<20), ""},
		{"less-than signs", r("<", 3<<20), ""},
		{"entities", r("&amp", 1<<20), ""},
		{"entities that multiply", `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">` +
			numbered(`<!ENTITY l%d "&lol;&lol;&lol;&lol;">`, 9) + "]><html><body>&l9;</body></html>", ""},
		{"elements", r("<p>", 1_100_000), "has more than 1048576 elements"},
		{"strong", r("<b>x</b>", 100_000), ""},
		{"code", "<pre>" + r("<span>x</span>\n", 50_000), ""},
		{"fences", "<pre>" + r("`", 1<<20), ""},
		{"one line", r("word ", 1<<19), ""},
		{"breaks", r("a<br>", 100_000), ""},
		{"classes in a tree", r(`<div class="language-x">`, 190) + r("<pre>x</pre>", 50_000), ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		p, err := htmlMarkdown(t.Context(), []byte(x.in), pageOptions{})
		runtime.ReadMemStats(&after)
		switch {
		case x.reason == "" && err != nil, x.reason != "" && (err == nil || !strings.Contains(err.Error(), x.reason)):
			t.Errorf("%s: %v, want %q", x.name, err, x.reason)
		case len(p.markdown) > 64*len(x.in):
			t.Errorf("%s: %d bytes become %d", x.name, len(x.in), len(p.markdown))
		}
		mb := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%s: %d KB, %v, %d MB allocated, %d KB written", x.name, len(x.in)>>10,
			time.Since(start).Round(time.Millisecond), mb, len(p.markdown)>>10)
		if mb > 1000 {
			t.Errorf("%s allocates %d MB", x.name, mb)
		}
	}
}

func TestHTMLCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := htmlMarkdown(ctx, []byte(strings.Repeat("<p>x", 5000)), pageOptions{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := htmlMarkdown(t.Context(), []byte(strings.Repeat("<p>xxxxxxxx", 5000)),
		pageOptions{maxText: 1000}); err == nil {
		t.Error("a page of more text than the limit is read")
	}
}

func FuzzHTML(f *testing.F) {
	f.Add([]byte("<ul><li>a<table><tr><td rowspan=9>b</table><pre>c"), false)
	f.Add([]byte("<dl><dt class=sig>x<dd><a href='https://e.org'>y</a><sup><a href='#1'>1</a></sup>"), true)
	f.Add([]byte("---\ntitle: x\n---\n<h1>a</h1><blockquote><ol><li># b<br>- c"), false)
	f.Add([]byte("<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]><math><annotation encoding=tex>x"), true)
	f.Fuzz(func(t *testing.T, src []byte, whole bool) {
		src = []byte(strings.ToValidUTF8(string(src), ""))
		p, err := htmlMarkdown(t.Context(), src, pageOptions{keepAll: whole, xml: whole, maxText: 1 << 20})
		if err != nil {
			return
		}
		if !utf8.ValidString(p.markdown) || len(p.markdown) > 100*len(src)+200 {
			t.Fatalf("%d bytes become %d: %q", len(src), len(p.markdown), p.markdown)
		}
	})
}

func FuzzMail(f *testing.F) {
	f.Add([]byte("From: a\r\nSubject: =?utf-8?q?x?=\r\nContent-Type: multipart/mixed; " +
		"boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: " +
		"base64\r\n\r\nPHA+\r\n--b--"))
	f.Add([]byte("From x\nFrom: a\n\nb\n\nFrom y\nTo: c\n\nd"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRead(t, File{Name: "x.eml", Data: data})
		checkRead(t, File{Name: "x.mbox", Data: data})
	})
}

func FuzzNotebook(f *testing.F) {
	f.Add([]byte(`{"cells":[{"cell_type":"code","source":["a"],"outputs":[{"text":"b\r\u001b[1mc"},{"data":{"text/plain":["d"]}}]}]}`))
	f.Add([]byte(`{"worksheets":[{"cells":[{"cell_type":"heading","level":2,"source":"x"},{"cell_type":"code","input":"y"}]}]}`))
	f.Add([]byte(`{"metadata":{"authors":["a",{"name":"b"}],"title":[],"language_info":{"name":1}},"cells":[{"source":{"a":[1]},"outputs":[[],{"data":[]}]},[]]}`))
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, File{Name: "x.ipynb", Data: data}) })
}
