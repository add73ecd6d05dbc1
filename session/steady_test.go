package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

func TestSteadyViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := conversation(t)
		l := session.Limits{Tokens: rapid.IntRange(0, 400).Draw(t, "budget"), Scale: scale}
		exact := session.Truncate(messages, l)
		l.Steady = true
		v := session.Truncate(messages, l)
		checkPairs(t, v.Messages)
		checkAccounts(t, messages, v, l)
		checkStart(t, session.Sound(messages, l), v)
		for _, i := range v.Indexes {
			if !slices.Contains(exact.Indexes, i) {
				t.Fatalf("%d is shown that does not fit: %v, exactly %v", i, v.Indexes, exact.Indexes)
			}
		}
		if i := session.LastInstruction(messages); i >= 0 && !slices.Contains(v.Indexes, i) {
			t.Fatalf("the newest instruction %d is not in %v", i, v.Indexes)
		}
		if again := session.Truncate(v.Messages, l); words(again.Messages) != words(v.Messages) {
			t.Fatalf("a view is cut again: %s, then %s", words(v.Messages), words(again.Messages))
		}
	})
}

// A conversation that grows by a turn at a time begins with the same message for many
// turns, also where the budget is a little different each time.
func TestSteadyViewsBeginAlike(t *testing.T) {
	const budget, turns = 4000, 200
	var messages []ragctx.Message
	begins := map[bool]map[string]bool{true: {}, false: {}}
	for i := range turns {
		id := fmt.Sprint("c", i)
		messages = append(messages, ragctx.TextMessage(ragctx.RoleUser, fmt.Sprintf("question %d?", i)),
			ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: id, Name: "look"}}},
			ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text(strings.Repeat("x", i%7*20))}}},
			ragctx.TextMessage(ragctx.RoleAssistant, "So it is."))
		for _, steady := range []bool{true, false} {
			v := session.Truncate(messages, session.Limits{Tokens: budget + i%3*100, Scale: scale, Steady: steady})
			if v.Over > 0 || len(v.Dropped) > 0 && v.Tokens < budget/2 {
				t.Fatalf("turn %d: %d of %d tokens, over by %d", i, v.Tokens, budget, v.Over)
			}
			begins[steady][v.Messages[0].Content.String()] = true
		}
	}
	total := 0
	for _, n := range scale.Messages(messages) {
		total += n
	}
	if most := total/(budget/8) + 1; len(begins[true]) > most || len(begins[false]) < 2*len(begins[true]) {
		t.Errorf("%d steps, at most %d are wanted; cut exactly they are %d", len(begins[true]), most, len(begins[false]))
	}
}
