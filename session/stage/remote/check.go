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

// checkAnswer checks the changes that a stage made to messages. It may change all texts, because a
// redacting stage has to.
func checkAnswer(before, after []ragctx.Message) error {
	if len(after) > MaxMessages {
		return rejectedAnswer{fmt.Sprintf("the answer has %d messages; the limit is %d", len(after), MaxMessages), nil}
	}
	for i, m := range after {
		if m.Role == "" {
			return rejectedAnswer{fmt.Sprintf("message %d has no role", i), nil}
		}
	}
	c := comparison{before: before, after: after}
	for _, find := range []func() string{c.forgeries, c.order, c.systems, c.instruction} {
		if problem := find(); problem != "" {
			return rejectedAnswer{problem, nil}
		}
	}
	// The newest instruction is present, possibly with another text.
	if err := compact.VerifyCalls(before, after); err != nil {
		return rejectedAnswer{err.Error(), err}
	}
	return nil
}

// comparison compares messages with a stage's answer. Messages are matched by id, and messages
// without ids by content and position.
type comparison struct{ before, after []ragctx.Message }

// forgeries finds added messages with a marker that only ragctx may write.
func (c comparison) forgeries() string {
	have := make(map[string]int)
	for _, m := range c.before {
		have[markerOf(m)]++
	}
	for i, m := range c.after {
		if marker := markerOf(m); marker != "" {
			if have[marker]--; have[marker] < 0 {
				return fmt.Sprintf("message %d claims to be a summary or an observation", i)
			}
		}
	}
	return ""
}

// markerOf returns the marker of a message that only ragctx may write, or "".
func markerOf(m ragctx.Message) string {
	text := m.Content.String()
	for _, marker := range []string{compact.Marker, stage.PrefixMarker} {
		if strings.HasPrefix(text, marker) {
			return marker
		}
	}
	return ""
}

// isVersionOf reports whether m is a version of original, possibly with another text. Without ids,
// a changed message is matched by its role alone if byRole is set.
func isVersionOf(original, m ragctx.Message, byRole bool) bool {
	switch {
	case m.Role != original.Role:
		return false
	case m.ID != "":
		return m.ID == original.ID
	case original.ID == "" && byRole:
		return true
	}
	return reflect.DeepEqual(m.Content, original.Content)
}

// order finds messages that moved, or have another role.
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
			return fmt.Sprintf("message %d is out of order or duplicated", i)
		case m.Role != c.before[place].Role:
			return fmt.Sprintf("message %d has another role", i)
		}
		last = place
	}
	return ""
}

// systems finds missing leading system messages, and messages added before the first one.
func (c comparison) systems() string {
	next := 0
	for i := 0; i < len(c.before) && session.IsSystem(c.before[i]); i++ {
		for next < len(c.after) && !isVersionOf(c.before[i], c.after[next], true) {
			if next++; i == 0 {
				return "the messages do not begin with the system prompt; a stage may change its text and add messages after it"
			}
		}
		if next++; next > len(c.after) {
			return fmt.Sprintf("the system message %d is missing", i)
		}
	}
	return ""
}

// instruction finds whether the newest instruction of the user is missing or empty.
func (c comparison) instruction() string {
	const missing = "the newest instruction of the user is missing or has no text"
	was := session.LastInstruction(c.before)
	if was < 0 {
		return ""
	}
	instruction := c.before[was]
	for i, m := range c.after {
		if isVersionOf(instruction, m, false) {
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
	for i, m := range c.before { // an existing message with the same content is not the instruction
		if i != was && reflect.DeepEqual(m.Content, c.after[now].Content) {
			return missing
		}
	}
	return ""
}
