package api

import (
	"net/url"
	"strings"
)

// members is a list below an id, each of whose entries has a path of its own:
// root/{id}, the suffix and /{name}. The entry's name has no slash. As with a verb, the
// route is registered with the id moved to the end.
type members struct{ root, name, suffix string }

var memberLists = [...]members{
	{"/v1/sessions", "provider", "/providers"},
}

// memberPath returns the path of an entry as it is registered.
func memberPath(root, name string) string { return root + `\:` + name + "/{name}/{id}" }

// publishedMember returns the path of an entry as callers write it.
func publishedMember(path string) (string, bool) {
	for _, m := range memberLists {
		if path == m.root+":"+m.name+"/{name}/{id}" {
			return m.root + "/{id}" + m.suffix + "/{name}", true
		}
	}
	return "", false
}

// routedMember returns the path that echo routes by, of one as it was sent.
func routedMember(sent string) (string, bool) {
	for _, m := range memberLists {
		rest, below := strings.CutPrefix(sent, m.root+"/")
		at := strings.LastIndexByte(rest, '/')
		if !below || at < 0 {
			continue
		}
		id, in := strings.CutSuffix(rest[:at], m.suffix)
		plain, err := url.PathUnescape(id)
		name, nameErr := url.PathUnescape(rest[at+1:])
		if in && id != "" && name != "" && !strings.Contains(name, "/") && err == nil && nameErr == nil {
			return m.root + ":" + m.name + "/" + name + "/" + plain, true
		}
	}
	return "", false
}
