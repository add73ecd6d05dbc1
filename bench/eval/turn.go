package eval

import (
	"cmp"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// turn returns a turn of one message with the entry's text; at is its time.
func (e *entry) turn(namespace string, at time.Time) ragctx.Turn {
	role := ragctx.RoleUser
	if r, err := ragctx.ParseRole(e.field("role")); err == nil {
		role = r
	}
	speaker := e.field("speaker")
	m := ragctx.TextMessage(role, unprefixed(cmp.Or(e.Text, e.Title), speaker, string(role)))
	m.Name = speaker
	return ragctx.Turn{
		ID: e.ID, Namespace: namespace, SessionID: e.session(), Messages: []ragctx.Message{m}, Occurred: at,
	}
}

// unprefixed removes the speaker's name or role from the start of a text, because the engine adds
// it.
func unprefixed(text string, names ...string) string {
	before, after, found := strings.Cut(text, ": ")
	if !found {
		return text
	}
	for _, n := range names {
		if n != "" && strings.EqualFold(before, n) {
			return after
		}
	}
	return text
}
