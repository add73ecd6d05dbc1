package compact

import (
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Why a view is no good.
var (
	errNotSmaller  = errors.New("it is not smaller")
	errPairs       = errors.New("a tool call is separated from its result")
	errInstruction = errors.New("the newest instruction of the user is not in it")
	errPending     = errors.New("a tool call that waits for its result is not in it")
)

// Verify checks a view that was made of another one: that it costs less, has neither
// orphan results nor abandoned calls, and keeps the newest instruction of a user and all
// calls that wait for their results. It knows nothing of how the view was made.
func Verify(before, after []ragctx.Message, s session.Scale) error {
	if total(s.Messages(after)) >= total(s.Messages(before)) {
		return errNotSmaller
	}
	return Keeps(before, after)
}

// Keeps is [Verify] without the costs.
func Keeps(before, after []ragctx.Message) error {
	return keeps(session.Sound(before, uncounted(len(before))).Messages, after)
}

// keeps is Keeps for a view that is known to be sound.
func keeps(before, after []ragctx.Message) error {
	if len(session.Sound(after, uncounted(len(after))).Cuts) > 0 {
		return errPairs
	}
	if i := lastInstruction(before); i >= 0 && !slices.ContainsFunc(after, func(m ragctx.Message) bool { return same(m, before[i]) }) {
		return errInstruction
	}
	have := calls(after)
	for id := range maps.Keys(waits(before)) {
		if have[id] == 0 {
			return errPending
		}
	}
	return nil
}

// same reports whether two messages say the same.
func same(a, b ragctx.Message) bool {
	if a.ID != b.ID || a.Role != b.Role || len(a.Content) != len(b.Content) {
		return false
	}
	return len(a.Content) == 0 || &a.Content[0] == &b.Content[0] || reflect.DeepEqual(a.Content, b.Content)
}

// waits returns the ids of the calls of a sound view that wait for their results.
func waits(messages []ragctx.Message) map[string]bool {
	out := make(map[string]bool)
	for _, i := range pending(messages) {
		for _, b := range messages[i].ToolUses() {
			out[b.ID] = true
		}
	}
	for _, m := range messages {
		for _, b := range m.ToolResults() {
			delete(out, b.ToolUseID)
		}
	}
	return out
}

// calls counts the calls of a view by id.
func calls(messages []ragctx.Message) map[string]int {
	out := make(map[string]int)
	for _, m := range messages {
		for _, b := range m.ToolUses() {
			out[b.ID]++
		}
	}
	return out
}

func total(costs []int) int {
	sum := 0
	for _, c := range costs {
		sum += c
	}
	return sum
}
