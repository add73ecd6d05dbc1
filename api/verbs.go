package api

import (
	"net/url"
	"strings"

	"github.com/ragctx/ragctx/api/internal/compat/mem0"
)

// verb is a suffix after the id in a path. Echo's parameters match slashes only at the end of a
// path, so the registered route has the id moved to the end: root:name/{id} for root/{id} and the
// suffix.
type verb struct{ root, name, suffix string }

var verbs = [...]verb{
	{"/v1/memories", "history", "/history"},
	{"/v1/memories", "tags", "/tags"},
	{"/v1/memories", "undo", ":undo"},
	{"/v1/memories", "release", ":release"},
	{"/v1/memories", "discard", ":discard"},
	{"/v1/turns", "undo", ":undo"},
	{mem0.Memories, "history", "/history"},
	{"/v1/jobs", "cancel", ":cancel"},
	{"/v1/jobs", "retry", ":retry"},
	{keysPath, "revoke", ":revoke"},
	{namespacesPath, "quotas", "/quotas"},
	{proceduresPath, "publish", ":publish"},
	{proceduresPath, "unpublish", ":unpublish"},
	{proceduresPath, "rollback", ":rollback"},
	{sessionsRoot, "providers", "/providers"},
	{sessionsRoot, "messages", "/messages"},
	{sessionsRoot, "assemble", ":assemble"},
	{sessionsRoot, "compile", ":compile"},
	{sessionsRoot, "compact", ":compact"},
	{sessionsRoot, "undo-compaction", ":undo-compaction"},
	{sessionsRoot, "fork", ":fork"},
	{sessionsRoot, "navigate", ":navigate"},
	{sessionsRoot, "compactions", "/compactions"},
	{sessionsRoot, "observations", "/observations"},
	{sessionsRoot, "labels", "/labels"},
	{sessionsRoot, "export", ":export"},
	{sessionsRoot, "import", ":import"},
	{clustersPath, "messages", "/messages"},
	{clustersPath, "stream", "/stream"},
	{clustersPath, "state", "/state"},
	{clustersPath, "export", ":export"},
	{clustersPath, "import", ":import"},
}

// verbPath returns the registered path of a verb.
func verbPath(root, name string) string { return root + `\:` + name + "/{id}" }

// verbPathOf is verbPath with another name of the parameter.
func verbPathOf(root, name, param string) string { return root + `\:` + name + "/{" + param + "}" }

// published converts a registered path into the documented one.
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

// routedPath returns the path that echo routes by. The path as sent decides whether it ends in a
// verb, whatever the method; an id with such an ending is sent with the colon as %3A or the slash
// as %2F. Otherwise deleting a cluster's messages, which no route does, could delete a cluster with
// a longer name.
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

// withoutSlash removes the trailing slash of a mem0 path.
func withoutSlash(path string) string {
	if strings.HasPrefix(path, mem0.Prefix+"/") {
		return strings.TrimRight(path, "/")
	}
	return path
}
