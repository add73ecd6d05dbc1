package compact

import (
	"errors"
	"reflect"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Reasons to reject a view.
var (
	errNotSmaller  = errors.New("the view is not smaller")
	errPairs       = errors.New("a tool call is separated from its result")
	errInstruction = errors.New("the newest instruction of the user is missing")
	errCall        = errors.New("a pending tool call, or a call of the newest exchange, is missing")
)

// Verify checks a view against the one that it was made of. It must cost less, have no orphan
// results and no abandoned calls, and keep the newest instruction of a user, all pending calls and
// all calls of the newest exchange. Verify is independent of how the view was made.
func Verify(before, after []ragctx.Message, s session.Scale) error {
	if total(s.Messages(after)) >= total(s.Messages(before)) {
		return errNotSmaller
	}
	return VerifyContent(before, after)
}

// VerifyContent is [Verify] without costs.
func VerifyContent(before, after []ragctx.Message) error {
	return verifyContent(session.Sound(before, session.Limits{}).Messages, after)
}

// VerifyCalls is [VerifyContent] without the check of the newest instruction, for views with
// changed texts.
func VerifyCalls(before, after []ragctx.Message) error {
	k := requirementsOf(session.Sound(before, session.Limits{}).Messages)
	k.instruction = nil
	return k.check(after)
}

// verifyContent is VerifyContent for a view known to be sound.
func verifyContent(before, after []ragctx.Message) error { return requirementsOf(before).check(after) }

// requirements lists the parts of a view that must be kept.
type requirements struct {
	instruction *ragctx.Message // nil if there is no instruction
	calls       map[string]bool // ids of calls that are pending or in the newest exchange
}

func requirementsOf(sound []ragctx.Message) requirements {
	k := requirements{calls: make(map[string]bool)}
	for id := range unanswered(sound) {
		k.calls[id] = true
	}
	for _, i := range session.NewestExchange(sound) {
		for _, b := range sound[i].ToolUses() {
			k.calls[b.ID] = true
		}
	}
	if i := session.LastInstruction(sound); i >= 0 {
		k.instruction = &sound[i]
	}
	return k
}

// check returns the first violation of a view.
func (k requirements) check(after []ragctx.Message) error {
	if !session.IsSound(after) {
		return errPairs
	}
	if k.instruction != nil && !slices.ContainsFunc(after, func(m ragctx.Message) bool { return same(m, *k.instruction) }) {
		return errInstruction
	}
	have := calls(after)
	for id := range k.calls {
		if !have[id] {
			return errCall
		}
	}
	return nil
}

// same reports whether two messages have the same content.
func same(a, b ragctx.Message) bool {
	if a.ID != b.ID || a.Role != b.Role || len(a.Content) != len(b.Content) {
		return false
	}
	return len(a.Content) == 0 || &a.Content[0] == &b.Content[0] || reflect.DeepEqual(a.Content, b.Content)
}

// calls returns the ids of the calls in a view.
func calls(messages []ragctx.Message) map[string]bool {
	out := make(map[string]bool)
	for i := range messages {
		for j := range messages[i].Content {
			if b := &messages[i].Content[j]; b.Type == ragctx.BlockToolUse {
				out[b.ID] = true
			}
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
