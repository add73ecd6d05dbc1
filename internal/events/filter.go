package events

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

// Filter selects the events of a reader. The zero value matches nothing, because its grant has no
// role.
type Filter struct {
	// Namespace, User and Session restrict the events; empty means any.
	Namespace, User, Session string
	// Types restricts the types of events; empty means any.
	Types []ragctx.EventType
	// Reader is the grant of the reader. A grant that is bound to namespaces or a user gets only their
	// events. A reader that is neither bound to a user nor admin, and names no user, gets the
	// events that belong to no user, as with memories.
	Reader access.Grant
}

// Check returns an error if the filter names an unknown type.
func (f Filter) Check() error {
	for i, t := range f.Types {
		if !slices.Contains(ragctx.EventTypes(), t) {
			return ragctx.Invalid(fmt.Sprintf("types[%d]", i), "%q is not an event type; use %s", ragctx.Clip(string(t)), typeNames())
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
		return false // dropped by Forget
	}
	g := f.Reader
	user := cmp.Or(g.User, f.User)
	allUsers := g.Role >= access.Admin && user == ""
	return g.Role >= access.Read && g.Includes(ev.Namespace) && (allUsers || ev.UserID == user) &&
		(f.User == "" || f.User == user) && (f.Namespace == "" || f.Namespace == ev.Namespace) &&
		(f.Session == "" || f.Session == ev.SessionID) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, ev.Type))
}
