package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	convo "github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/assemble"
	"github.com/ragctx/ragctx/session/view"
)

// exchange appends a prompt and a response to a session, and completes them as a turn.
func (f *fixture) exchange(k convo.Key, id, prompt, response string) {
	f.t.Helper()
	if _, _, err := f.Sessions().Views().Append(f.t.Context(), k, view.AppendOptions{}, ragctx.TextMessage(ragctx.RoleUser, prompt), ragctx.TextMessage(ragctx.RoleAssistant, response)); err != nil {
		f.t.Fatal(err)
	}
	f.turn(ragctx.Turn{ID: id, UserID: k.User, SessionID: k.ID, Prompt: prompt, Response: response})
	f.settle()
}

// asking returns a request that ends with a question.
func asking(question string, r assemble.Request) engine.SessionRequest {
	r.Messages = []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, question)}
	return engine.SessionRequest{Request: r}
}

// Turns that the model sees as messages are not shown as memories; those of the user's other sessions
// are, and so are explicit memories of this session.
func TestSessionIsNotToldWhatItShows(t *testing.T) {
	f := open(t)
	f.turn(ragctx.Turn{ID: "before", UserID: "ann", SessionID: "other", Prompt: "The berth of the barge is number seven.", Response: "Noted."})
	k := convo.Key{User: "ann", ID: "s"}
	f.converse(t.Context(), k)
	f.exchange(k, "one", "The berth of the tug is\nnumber four.\n\nIts key for the berth is AKIAIOSFODNN7EXAMPLQ.", "Understood:\n\n- the tug, berth four\n- the key")
	f.exchange(k, "two", "The berth of the ferry is number nine.", "The ferry's berth is nine, then.")
	f.remember(ragctx.Memory{ID: "note", UserID: "ann", SessionID: "s", Content: "All berths: number ten is closed."})
	f.remember(ragctx.Memory{ID: "ours", SessionID: "s", Content: "The berth of the ferry is number nine."})
	a, items := f.callOf(k, asking("Which berth number is whose?", assemble.Request{}))
	if inOrder(items) != "before note ours" {
		t.Errorf("shown %q: %s", items, a.Context.Rendered())
	}
	if n := len(a.View.Messages); n != 5 {
		t.Errorf("%d messages", n)
	}
	if _, items := f.callOf(k, asking("Which berth number is whose?", assemble.Request{Context: ragctx.ContextQuery{Exclude: []string{"note"}}})); strings.Contains(items, "note") {
		t.Errorf("shown %q, which the caller excludes", items)
	}
}

// A turn that was edited in the conversation, or that the messages contain only partly, is found.
func TestSessionIsToldWhatItDoesNotShow(t *testing.T) {
	f := open(t)
	k := convo.Key{User: "ann", ID: "s"}
	f.converse(t.Context(), k, ragctx.TextMessage(ragctx.RoleUser, "The berth of the ferry is number nineteen."))
	f.turn(ragctx.Turn{ID: "part", UserID: "ann", SessionID: "s", Prompt: "The berth of the ferry is number nineteen.", Response: "It has berth twenty."})
	f.turn(ragctx.Turn{ID: "word", UserID: "ann", SessionID: "s", Prompt: "The berth of the ferry is number nine"})
	if _, items := f.callOf(k, asking("Which berth number has the ferry?", assemble.Request{})); inOrder(items) != "part word" {
		t.Errorf("shown %q", items)
	}
}

// The early turns of a long conversation that are not visible are found as memories; the late ones are
// not shown twice.
func TestEarlyTurnsOfALongSessionAreFound(t *testing.T) {
	f := open(t)
	k := convo.Key{User: "ann", ID: "s"}
	f.converse(t.Context(), k)
	prompts := make([]string, 12)
	for i := range prompts {
		at := time.Date(2026, 5, 8, 12, i, 0, 0, time.UTC)
		prompt, response := fmt.Sprintf("Barge w%d lies at berth %d. %s", i, i, strings.Repeat("It is slow. ", 60)), fmt.Sprintf("I see, w%d.", i)
		prompts[i] = strings.TrimSpace(prompt)
		if _, _, err := f.Sessions().Views().Append(t.Context(), k, view.AppendOptions{}, ragctx.TextMessage(ragctx.RoleUser, prompt), ragctx.TextMessage(ragctx.RoleAssistant, response)); err != nil {
			t.Fatal(err)
		}
		f.turn(ragctx.Turn{ID: fmt.Sprintf("t%d", i), UserID: "ann", SessionID: "s", Prompt: prompt, Response: response, Occurred: at})
	}
	a, items := f.callOf(k, asking("At which berth lies barge w1?", assemble.Request{Budget: assemble.Budget{Window: 3000, Reserve: 200}}))
	var messages strings.Builder
	for _, m := range a.View.Messages {
		messages.WriteString(m.Content.String() + "\n")
	}
	if items == "" || !strings.Contains(a.Context.Rendered(), "Barge w1 ") {
		t.Fatalf("shown %q of %d messages", items, len(a.View.Messages))
	}
	if strings.Contains(messages.String(), "Barge w1 ") || !strings.Contains(messages.String(), "Barge w11 ") {
		t.Fatalf("the budget of the test is not one that some turns fit into: %s", messages.String())
	}
	for i, prompt := range prompts {
		if slices.Contains(strings.Fields(items), fmt.Sprintf("t%d", i)) && strings.Contains(messages.String(), prompt) {
			t.Errorf("turn %d is shown twice", i)
		}
	}
}

// inOrder returns ids in the order of their names.
func inOrder(ids string) string {
	list := strings.Fields(ids)
	slices.Sort(list)
	return strings.Join(list, " ")
}
