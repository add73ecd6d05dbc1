package eval

import (
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// timeLayouts are the forms in which the sets write times, without a zone: UTC.
var timeLayouts = [...]string{
	"3:04 pm on 2 January, 2006",
	"03:04:05 PM on Monday 02 January, 2006",
	"January-02-2006",
	time.RFC3339,
}

// ParseTime reads a time as the sets write it, such as "1:56 pm on 8 May, 2023",
// "01:56:04 AM on Monday 08 May, 2023" or "March-15-2024".
func ParseTime(s string) (time.Time, bool) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// turn makes a turn of one message of an entry. at is when it happened.
func (e *Entry) turn(namespace string, at time.Time) ragctx.Turn {
	role := ragctx.RoleUser
	if r, err := ragctx.ParseRole(e.field("role")); err == nil {
		role = r
	}
	speaker := e.field("speaker")
	m := ragctx.TextMessage(role, unprefixed(e.Text, speaker, string(role)))
	m.Name = speaker
	return ragctx.Turn{
		ID: e.ID, Namespace: namespace, SessionID: e.session(), Messages: []ragctx.Message{m}, Occurred: at,
	}
}

// unprefixed removes the speaker's name or role at the start of a text, which
// the engine puts there itself.
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
