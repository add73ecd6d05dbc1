package api

import (
	"net/url"
	"strings"
)

// members is a list below a session, each of whose entries has a path of its own: the
// session's, the suffix, a slash and the entry's name, and perhaps a tail. As with a verb,
// the route is registered with the session's id moved to the end.
type members struct {
	name, suffix string
	param        string // what the entry's name is called in the path
	tail         string
	// slashes says that the entry's name may have some, as %2F. It is then routed escaped,
	// and for the handler to unescape.
	slashes bool
}

var memberLists = [...]members{
	{name: "label", suffix: "/messages", param: "message_id", tail: "/label", slashes: true},
	{name: "message", suffix: "/messages", param: "message_id", slashes: true},
	{name: "section", suffix: "/sections", param: "section", slashes: true},
	{name: "provider", suffix: "/providers", param: "name"},
}

// memberPath returns the path of an entry as it is registered.
func memberPath(name string) string {
	for _, m := range memberLists {
		if m.name == name {
			return sessionsRoot + `\:` + name + "/{" + m.param + "}/{id}"
		}
	}
	panic("no list of members has the name " + name) // a mistake in this package that no test run can miss
}

// publishedMember returns the path of an entry as callers write it.
func publishedMember(path string) (string, bool) {
	for _, m := range memberLists {
		if path == sessionsRoot+":"+m.name+"/{"+m.param+"}/{id}" {
			return sessionsRoot + "/{id}" + m.suffix + "/{" + m.param + "}" + m.tail, true
		}
	}
	return "", false
}

// routedMember returns the path that echo routes by, of one as it was sent.
func routedMember(sent string) (string, bool) {
	for _, m := range memberLists {
		rest, below := strings.CutPrefix(sent, sessionsRoot+"/")
		rest, ends := strings.CutSuffix(rest, m.tail)
		at := strings.LastIndexByte(rest, '/')
		if !below || !ends || at < 0 {
			continue
		}
		id, in := strings.CutSuffix(rest[:at], m.suffix)
		plain, err := url.PathUnescape(id)
		name, nameErr := url.PathUnescape(rest[at+1:])
		if !in || id == "" || name == "" || err != nil || nameErr != nil {
			continue
		}
		if m.slashes {
			name = url.PathEscape(name)
		}
		if !strings.Contains(name, "/") {
			return sessionsRoot + ":" + m.name + "/" + name + "/" + plain, true
		}
	}
	return "", false
}
