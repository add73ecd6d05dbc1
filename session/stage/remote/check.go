package remote

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// check finds what a stage may not have done to messages. What they say it may change, all
// of it: a stage that hides something has to.
func check(before, after []ragctx.Message) error {
	if len(after) > MaxMessages {
		return unusable{fmt.Sprintf("it has %d messages; the limit is %d", len(after), MaxMessages), nil}
	}
	for i, m := range after {
		if m.Role == "" {
			return unusable{fmt.Sprintf("its message %d has no role", i), nil}
		}
	}
	c := comparison{before: before, after: after}
	for _, find := range []func() string{c.claims, c.order, c.systems, c.instruction} {
		if problem := find(); problem != "" {
			return unusable{problem, nil}
		}
	}
	// The newest instruction is there, whatever it says now.
	if err := compact.VerifyCalls(before, after); err != nil {
		return unusable{err.Error(), err}
	}
	return nil
}

// comparison is of messages and what a stage has made of them. Messages with ids are known by
// these, the others by what they say and where they stand.
type comparison struct{ before, after []ragctx.Message }

// claims finds messages of which there are more than before that only ragctx writes.
func (c comparison) claims() string {
	have := make(map[string]int)
	for _, m := range c.before {
		have[claim(m)]++
	}
	for i, m := range c.after {
		if marker := claim(m); marker != "" {
			if have[marker]--; have[marker] < 0 {
				return fmt.Sprintf("its message %d claims to be a summary or an observation", i)
			}
		}
	}
	return ""
}

// claim returns the marker of a message that only ragctx writes; "" is none.
func claim(m ragctx.Message) string {
	text := m.Content.String()
	for _, marker := range []string{compact.Marker, stage.PrefixMarker} {
		if strings.HasPrefix(text, marker) {
			return marker
		}
	}
	return ""
}

// made reports whether a message is one of before, which may say something else now. Without
// ids one that says something else is known by its role alone, if that is enough.
func made(of, m ragctx.Message, byRole bool) bool {
	switch {
	case m.Role != of.Role:
		return false
	case m.ID != "":
		return m.ID == of.ID
	case of.ID == "" && byRole:
		return true
	}
	return reflect.DeepEqual(m.Content, of.Content)
}

// order finds messages that are not where they were among the others, or of another role.
func (c comparison) order() string {
	at := make(map[string]int)
	for i, m := range c.before {
		at[m.ID] = i
	}
	last := -1
	for i, m := range c.after {
		place, known := at[m.ID]
		switch {
		case m.ID == "" || !known:
			continue
		case place <= last:
			return fmt.Sprintf("its message %d is out of order, or there twice", i)
		case m.Role != c.before[place].Role:
			return fmt.Sprintf("its message %d has another role", i)
		}
		last = place
	}
	return ""
}

// systems finds whether messages of operators at the start are missing, or something stands
// before the first one.
func (c comparison) systems() string {
	next := 0
	for i := 0; i < len(c.before) && session.IsSystem(c.before[i]); i++ {
		for next < len(c.after) && !made(c.before[i], c.after[next], true) {
			if next++; i == 0 {
				return "it does not begin with the system prompt; a stage may change its text, and add messages behind it"
			}
		}
		if next++; next > len(c.after) {
			return fmt.Sprintf("it lacks the system message %d", i)
		}
	}
	return ""
}

// instruction finds whether the newest instruction of the user is missing, or says nothing.
func (c comparison) instruction() string {
	const missing = "the newest instruction of the user is not in it, or has no text"
	was := session.LastInstruction(c.before)
	if was < 0 {
		return ""
	}
	instruction := c.before[was]
	for i, m := range c.after {
		if made(instruction, m, false) {
			if session.LastInstruction(c.after[i:i+1]) < 0 {
				return missing
			}
			return ""
		}
	}
	now := session.LastInstruction(c.after)
	if now < 0 || c.after[now].ID != "" {
		return missing
	}
	for i, m := range c.before { // or it is another one, as it was
		if i != was && reflect.DeepEqual(m.Content, c.after[now].Content) {
			return missing
		}
	}
	return ""
}
