package api

import (
	"net/url"
	"strings"
)

// verb is what may follow the id in a path. Echo's parameters take the rest of a path,
// slashes included, only at its end, so a route of a verb is registered with the id moved
// there: root:name/{id} for root/{id} and the suffix.
type verb struct{ root, name, suffix string }

var verbs = [...]verb{
	{"/v1/memories", "history", "/history"},
	{"/v1/memories", "tags", "/tags"},
	{"/v1/memories", "undo", ":undo"},
	{"/v1/memories", "release", ":release"},
	{"/v1/memories", "discard", ":discard"},
	{"/v1/turns", "undo", ":undo"},
	{mem0Memories, "history", "/history"},
	{sessionsRoot, "providers", "/providers"},
	{sessionsRoot, "messages", "/messages"},
	{sessionsRoot, "assemble", "/assemble"},
	{sessionsRoot, "compile", "/compile"},
	{sessionsRoot, "compact", "/compact"},
	{sessionsRoot, "undo-compaction", "/undo-compaction"},
	{sessionsRoot, "fork", "/fork"},
	{sessionsRoot, "navigate", "/navigate"},
	{sessionsRoot, "compactions", "/compactions"},
	{sessionsRoot, "observations", "/observations"},
	{sessionsRoot, "labels", "/labels"},
	{sessionsRoot, "export", "/export"},
	{sessionsRoot, "import", "/import"},
	{"/v1/ledger", "messages", "/messages"},
	{"/v1/ledger", "stream", "/stream"},
	{"/v1/ledger", "snapshot", "/snapshot"},
	{"/v1/ledger", "export", "/export"},
	{"/v1/ledger", "import", "/import"},
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
// by the path as it was sent, whatever the method: an id that ends like one is sent with
// the colon as %3A or the slash as %2F. Deleting the messages of a cluster, which nobody
// can, must not delete a cluster of a longer name.
func routedPath(u *url.URL) string {
	sent := withoutSlash(u.EscapedPath())
	if routed, ok := routedMember(sent); ok {
		return routed
	}
	for _, v := range verbs {
		id, below := strings.CutPrefix(sent, v.root+"/")
		id, ends := strings.CutSuffix(id, v.suffix)
		if !below || !ends || id == "" {
			continue
		}
		if plain, err := url.PathUnescape(id); err == nil {
			return v.root + ":" + v.name + "/" + plain
		}
	}
	return withoutSlash(u.Path)
}
