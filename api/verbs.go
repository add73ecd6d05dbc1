package api

import (
	"net/http"
	"net/url"
	"strings"
)

// verb is a route in whose path something follows the id. Echo's parameters take the
// rest of a path, slashes included, only at its end, so such a route is registered
// with the id moved there: root:name/{id} for root/{id} and the suffix.
type verb struct{ method, root, name, suffix string }

var verbs = [...]verb{
	{http.MethodGet, "/v1/memories", "history", "/history"},
	{http.MethodPut, "/v1/memories", "tags", "/tags"},
	{http.MethodPost, "/v1/memories", "tags", "/tags"},
	{http.MethodPost, "/v1/memories", "undo", ":undo"},
	{http.MethodPost, "/v1/memories", "release", ":release"},
	{http.MethodPost, "/v1/memories", "discard", ":discard"},
	{http.MethodPost, "/v1/turns", "undo", ":undo"},
	{http.MethodGet, mem0Memories, "history", "/history"},
	{http.MethodGet, "/v1/sessions", "providers", "/providers"},
	{http.MethodGet, "/v1/ledger", "messages", "/messages"},
	{http.MethodPost, "/v1/ledger", "messages", "/messages"},
	{http.MethodGet, "/v1/ledger", "stream", "/stream"},
	{http.MethodGet, "/v1/ledger", "snapshot", "/snapshot"},
	{http.MethodGet, "/v1/ledger", "export", "/export"},
	{http.MethodPost, "/v1/ledger", "import", "/import"},
}

// verbPath returns the path of a verb as it is registered.
func verbPath(root, name string) string { return root + `\:` + name + "/{id}" }

// published returns a path as callers write it.
func published(path string) string {
	path = strings.ReplaceAll(path, `\`, "")
	if public, ok := publishedMember(path); ok {
		return public
	}
	for _, v := range verbs {
		if id, ok := strings.CutPrefix(path, v.root+":"+v.name+"/"); ok {
			return v.root + "/" + id + v.suffix
		}
	}
	return path
}

// routedPath returns the path that echo routes by. Whether something is a verb is told
// by the path as it was sent: an id that ends like one is sent with the colon as %3A or
// the slash as %2F.
func routedPath(method string, u *url.URL) string {
	sent := withoutSlash(u.EscapedPath())
	if routed, ok := routedMember(sent); ok {
		return routed
	}
	for _, v := range verbs {
		id, below := strings.CutPrefix(sent, v.root+"/")
		id, ends := strings.CutSuffix(id, v.suffix)
		if method != v.method || !below || !ends || id == "" {
			continue
		}
		if plain, err := url.PathUnescape(id); err == nil {
			return v.root + ":" + v.name + "/" + plain
		}
	}
	return withoutSlash(u.Path)
}
