package events

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

// Filter says which events a reader wants. The zero value lets none through: there is
// nobody to tell.
type Filter struct {
	// Namespace, User and Session are those of the events; empty is any.
	Namespace, User, Session string
	// Types are those of the events; none is any.
	Types []ragctx.EventType
	// For is who reads. A grant that is bound to namespaces or a user gets the events of
	// these alone. Who is neither bound to a user nor admin, and names none, gets those of
	// nobody, as with memories.
	For access.Grant
}

// Check reports what no event can match.
func (f Filter) Check() error {
	for i, t := range f.Types {
		if !slices.Contains(ragctx.EventTypes(), t) {
			return ragctx.Invalid(fmt.Sprintf("types[%d]", i), "%q is no type of event; use %s", ragctx.Clip(string(t)), typeNames())
		}
	}
	return nil
}

func typeNames() string {
	var names []string
	for _, t := range ragctx.EventTypes() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

func (f Filter) matches(ev ragctx.Event) bool {
	if ev.Type == "" {
		return false // it is forgotten
	}
	g := f.For
	mine := cmp.Or(g.User, f.User)
	everyones := g.Role >= access.Admin && mine == ""
	return g.Role >= access.Read && g.Reaches(ev.Namespace) && (everyones || ev.UserID == mine) &&
		(f.User == "" || f.User == mine) && (f.Namespace == "" || f.Namespace == ev.Namespace) && (f.Session == "" || f.Session == ev.SessionID) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, ev.Type))
}
