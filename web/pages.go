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
	"github.com/ragctx/ragctx/web/internal/html"
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
func (v *visit) layout(content html.Part) html.Part {
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
	return html.F(`<!DOCTYPE html><html lang="en" data-theme={}><head><meta charset="utf-8">
			<meta name="viewport" content="width=device-width, initial-scale=1">
			<meta name="color-scheme" content="light dark"><meta name="htmx-config" content={}><title>{}</title>
			<link rel="icon" href={}><link rel="stylesheet" href={}><script src={} defer></script>
			<script src={} defer></script></head><body hx-headers={}><a class="skip" href="#main">Skip to the content</a>{}
			<main id="main" tabindex="-1">{}</main><div class="offline" id="offline" role="status" data-url={} hidden>The
			server does not answer. The page goes on as soon as it does.</div></body></html>`,
		html.When(theme != "", theme), htmxConfig, name+" · ragctx", assetPath("icon.svg"), assetPath("console.css"),
		assetPath("htmx.min.js"), assetPath("console.js"), fmt.Sprintf(`{%q: %q}`, csrfHeader, csrfToken(v.cookie)),
		html.If(v.page != "", v.head()), content, root+"/alive")
}

// htmxConfig switches off everything that would need an inline script or style, and shows the text of errors.
const htmxConfig = `{"includeIndicatorStyles": false, "allowEval": false, "allowScriptTags": false, "selfRequestsOnly": true,
"historyCacheSize": 0, "refreshOnHistoryMiss": true, "responseHandling": [{"code": "204", "swap": false}, {"code": "...", "swap": true}]}`

// head returns the name of the console, its navigation and the namespace.
func (v *visit) head() html.Part {
	var links html.List
	for _, p := range pages() {
		links = append(links, html.F(`<li><a href={} aria-current={}>{}</a></li>`,
			v.link(p.path), html.When(p.path == v.page, "page"), p.name))
	}
	return html.F(`<header class="head"><a class="brand" href={}>ragctx</a><nav aria-label="Pages"><ul>{}</ul></nav>
			<div class="tools">{}<button class="plain" type="button" data-theme-switch>Light or dark</button>{}</div></header>`,
		v.link(root), links, v.namespaceForm(),
		html.If(v.signed, html.F(`<form method="post" action={}>{}<button class="plain">Sign out</button></form>`,
			root+"/sign-out", v.tokenField())))
}

// namespaceForm chooses the namespace of the page.
func (v *visit) namespaceForm() html.Part {
	now := v.namespace()
	field := html.F(`<input name="namespace" value={} placeholder={} maxlength="512" autocomplete="off">`,
		now, ragctx.DefaultNamespace)
	if n := len(v.namespaces); n < maxNamespaces {
		names, shown := v.namespaces, cmp.Or(now, ragctx.DefaultNamespace)
		if !slices.Contains(names, shown) && (now != "" || n == 0) {
			names = append([]string{shown}, names...)
		}
		var options html.List
		for _, name := range names {
			options = append(options, html.F(`<option value={} selected={}>{}</option>`, name, name == shown, name))
		}
		field = html.F(`<select name="namespace" data-submit>{}</select>`, options)
	}
	return html.F(`<form class="namespace" method="get" action={}><label><span>Namespace</span>{}</label><noscript>
			<button>Show</button></noscript></form>`,
		v.page, field)
}

// tokenField is the CSRF token of a form.
func (v *visit) tokenField() html.Part { return hidden("csrf", csrfToken(v.cookie)) }

// namespaceField keeps the namespace of the page in a form that is sent by GET.
func (v *visit) namespaceField() html.Part {
	return html.If(v.namespace() != "", hidden("namespace", v.namespace()))
}

// hidden is a field that a form sends and a visitor does not see.
func hidden(name, value string) html.Part {
	return html.F(`<input type="hidden" name={} value={}>`, name, value)
}

// heading begins a page. The parts after the name are shown at its right.
func heading(name string, parts ...html.Part) html.Part {
	return html.F(`<div class="heading"><h1>{}</h1>{}</div>`, name, html.List(parts))
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
