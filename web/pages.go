package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/html"
)

// page is a page of the navigation.
type page struct {
	path, name string
	view       view
	also       map[string]view // further routes of the page, by pattern
}

// pages returns the pages in the order of the navigation.
func pages() []page {
	return []page{
		playgroundPage(), documentsPage(), memoryPage(), conversationsPage(), mapPage(), teamsPage(), healthPage(),
	}
}

// layout puts content into the frame of all pages.
func (v *visit) layout(content html.Part) *html.Element {
	name := v.title
	for _, p := range pages() {
		if p.path == v.page {
			name = cmp.Or(name, p.name)
		}
	}
	theme := ""
	if c, err := v.r.Cookie("ragctx-theme"); err == nil && (c.Value == "dark" || c.Value == "light") {
		theme = c.Value
	}
	return html.E("html", html.A("lang", "en"), html.If(theme != "", html.A("data-theme", theme)),
		html.E("head",
			html.E("meta", html.A("charset", "utf-8")),
			html.E("meta", html.A("name", "viewport"), html.A("content", "width=device-width, initial-scale=1")),
			html.E("meta", html.A("name", "color-scheme"), html.A("content", "light dark")),
			html.E("meta", html.A("name", "htmx-config"), html.A("content", htmxConfig)),
			html.T("title", name+" · ragctx"),
			html.E("link", html.A("rel", "icon"), html.A("href", assetPath("icon.svg"))),
			html.E("link", html.A("rel", "stylesheet"), html.A("href", assetPath("console.css"))),
			html.E("script", html.A("src", assetPath("htmx.min.js")), html.Flag("defer", true)),
			html.E("script", html.A("src", assetPath("console.js")), html.Flag("defer", true)),
		),
		html.E("body", html.A("hx-headers", fmt.Sprintf(`{%q: %q}`, csrfHeader, csrfToken(v.cookie))),
			html.E("a.skip", html.A("href", "#main"), html.Text("Skip to the content")),
			html.If(v.page != "", v.head()),
			html.E("main#main", html.A("tabindex", "-1"), content),
			html.E("div.offline#offline", html.A("role", "status"), html.A("data-url", root+"/alive"), html.Flag("hidden", true),
				html.Text("The server does not answer. The page goes on as soon as it does.")),
		))
}

// htmxConfig switches off everything that would need an inline script or style, and shows the text of errors.
const htmxConfig = `{"includeIndicatorStyles": false, "allowEval": false, "allowScriptTags": false, "selfRequestsOnly": true,
"historyCacheSize": 0, "refreshOnHistoryMiss": true, "responseHandling": [{"code": "204", "swap": false}, {"code": "...", "swap": true}]}`

// head returns the name of the console, its navigation and the namespace.
func (v *visit) head() html.Part {
	var links html.List
	for _, p := range pages() {
		links = append(links, html.E("li", html.E("a", html.A("href", v.link(p.path)),
			html.If(p.path == v.page, html.A("aria-current", "page")), html.Text(p.name))))
	}
	return html.E("header.head",
		html.E("a.brand", html.A("href", v.link(root)), html.Text("ragctx")),
		html.E("nav", html.A("aria-label", "Pages"), html.E("ul", links)),
		html.E("div.tools", v.namespaceForm(),
			html.E("button.plain", html.A("type", "button"), html.A("data-theme-switch", ""), html.Text("Light or dark")),
			html.If(v.signed, html.E("form", html.A("method", "post"), html.A("action", root+"/sign-out"), v.tokenField(),
				html.T("button.plain", "Sign out"))),
		))
}

// namespaceForm chooses the namespace of the page.
func (v *visit) namespaceForm() html.Part {
	now := v.namespace()
	field := html.Part(html.E("input", html.A("name", "namespace"), html.A("value", now), html.A("placeholder", ragctx.DefaultNamespace),
		html.A("maxlength", "512"), html.A("autocomplete", "off")))
	if n := len(v.namespaces); n < maxNamespaces {
		names, shown := v.namespaces, cmp.Or(now, ragctx.DefaultNamespace)
		if !slices.Contains(names, shown) && (now != "" || n == 0) {
			names = append([]string{shown}, names...)
		}
		var options html.List
		for _, name := range names {
			options = append(options, html.E("option", html.A("value", name), html.Flag("selected", name == shown), html.Text(name)))
		}
		field = html.E("select", html.A("name", "namespace"), html.A("data-submit", ""), options)
	}
	return html.E("form.namespace", html.A("method", "get"), html.A("action", v.page),
		html.E("label", html.T("span", "Namespace"), field),
		html.E("noscript", html.T("button", "Show")))
}

// tokenField is the CSRF token of a form.
func (v *visit) tokenField() html.Part { return hidden("csrf", csrfToken(v.cookie)) }

// namespaceField keeps the namespace of the page in a form that is sent by GET.
func (v *visit) namespaceField() html.Part {
	return html.If(v.namespace() != "", hidden("namespace", v.namespace()))
}

// hidden is a field that a form sends and a visitor does not see.
func hidden(name, value string) html.Part {
	return html.E("input", html.A("type", "hidden"), html.A("name", name), html.A("value", value))
}

// heading begins a page. The parts after the name are shown at its right.
func heading(name string, parts ...html.Part) html.Part {
	return html.E("div.heading", html.T("h1", name), html.List(parts))
}

func noPage(v *visit) (html.Part, error) {
	return nil, fmt.Errorf("%w: the console has no page at this address", ragctx.ErrNotFound)
}

// alive answers the page that waits for the server.
func alive(v *visit) (html.Part, error) {
	v.w.WriteHeader(http.StatusNoContent)
	return nil, nil
}

// sentence returns text with a capital and a full stop. The name of a field stays as it is.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	if word, _, _ := strings.Cut(text, " "); !strings.Contains(word, "_") {
		text = string(unicode.ToUpper(first)) + text[n:]
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
