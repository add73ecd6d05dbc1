package api

import (
	"net/url"
	"strings"
)

// members is a list below a session whose entries have paths of their own: the session's path, the
// suffix, a slash, the entry's name, and possibly a tail. As with a verb, the registered route has
// the session id at the end.
type members struct {
	name, suffix string
	param        string // parameter with the entry's name
	tail         string
	// slashes says that the entry's name may contain slashes, sent as %2F. The route then matches
	// the escaped name, and the handler unescapes it.
	slashes bool
}

var memberLists = [...]members{
	{name: "label", suffix: "/messages", param: "message_id", tail: "/label", slashes: true},
	{name: "message", suffix: "/messages", param: "message_id", slashes: true},
	{name: "section", suffix: "/sections", param: "section", slashes: true},
	{name: "provider", suffix: "/providers", param: "name"},
}

// memberPath returns the registered path of an entry.
func memberPath(name string) string {
	for _, m := range memberLists {
		if m.name == name {
			return sessionsRoot + `\:` + name + "/{" + m.param + "}/{id}"
		}
	}
	panic("no list of members has the name " + name) // a programming error that any test run finds
}

// publishedMember returns the documented path of an entry.
func publishedMember(path string) (string, bool) {
	for _, m := range memberLists {
		if path == sessionsRoot+":"+m.name+"/{"+m.param+"}/{id}" {
			return sessionsRoot + "/{id}" + m.suffix + "/{" + m.param + "}" + m.tail, true
		}
	}
	return "", false
}

// routedMember converts a requested path into the one that echo routes by.
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
