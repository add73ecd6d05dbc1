package engine_test

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	convo "github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/assemble"
	"github.com/ragctx/ragctx/session/view"
)

// callOf asks for a call of a session and returns it with the ids of its volatile block.
func (f *fixture) callOf(k convo.Key, r engine.SessionRequest) (engine.AssembledSession, string) {
	f.t.Helper()
	a, err := f.Sessions().Assemble(f.t.Context(), k, r)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, b := range a.Context.Blocks {
		if b.Name == resolve.Volatile {
			return a, strings.Join(b.Items, " ")
		}
	}
	return a, ""
}

// Items shown to the calls of one question keep their places under concurrent writes. The next
// question has its own, and an erasure clears them.
func TestCallsOfAQuestionKeepTheirContext(t *testing.T) {
	f := open(t)
	f.put("a", "The harbour opens at six in the morning.")
	k := convo.Key{ID: "s"}
	f.converse(t.Context(), k, ragctx.TextMessage(ragctx.RoleUser, "when does the harbour open?"))
	inline := engine.SessionRequest{Request: assemble.Request{Placement: assemble.Inline}}
	first, items := f.callOf(k, inline)
	if items != "a@1#0" {
		t.Fatalf("shown %q", items)
	}
	f.put("b", "When does the harbour open? The harbour does open at six.")
	again, items := f.callOf(k, inline)
	if items != "a@1#0 b@1#0" {
		t.Errorf("shown %q: what was shown is not first any more", items)
	}
	words := func(a engine.AssembledSession) string { return a.View.Messages[a.Carrier].Content[0].Text }
	if !strings.HasPrefix(words(again), words(first)) {
		t.Errorf("%q does not begin with %q", words(again), words(first))
	}
	if _, items := f.callOf(k, engine.SessionRequest{Request: assemble.Request{Context: ragctx.ContextQuery{Query: "does the harbour open?"}}}); items != "b@1#0 a@1#0" {
		t.Errorf("another question is shown %q", items)
	}
	if _, items = f.callOf(k, inline); items != "b@1#0 a@1#0" {
		t.Errorf("the first question asked again later is shown %q", items)
	}
	f.callOf(k, engine.SessionRequest{Request: assemble.Request{Context: ragctx.ContextQuery{Shown: []string{"a@1#0"}}}})
	if _, items := f.callOf(k, inline); items != "a@1#0 b@1#0" {
		t.Errorf("what the caller says was shown is not remembered: %q", items)
	}
	if _, err := f.Admin().EraseUser(t.Context(), "", "somebody"); err != nil {
		t.Fatal(err)
	}
	f.turn(ragctx.Turn{UserID: "ann", SessionID: "x", Prompt: "hello", Response: "hello"})
	if _, err := f.Admin().EraseUser(t.Context(), "", "ann"); err != nil {
		t.Fatal(err)
	}
	if _, items := f.callOf(k, inline); items != "b@1#0 a@1#0" {
		t.Errorf("after an erasure it is remembered that %q", items)
	}
}

// A session's call is for its user, finds memories of all their sessions, and what follows
// the stored messages is not stored.
func TestCallOfASession(t *testing.T) {
	f := open(t)
	f.turn(ragctx.Turn{UserID: "ann", SessionID: "before", Prompt: "My berth is number seven.", Response: "Noted."})
	f.turn(ragctx.Turn{UserID: "ben", SessionID: "before", Prompt: "My berth is number nine.", Response: "Noted."})
	k := convo.Key{User: "ann", ID: "s"}
	f.converse(t.Context(), k, ragctx.TextMessage(ragctx.RoleUser, "hello"), ragctx.TextMessage(ragctx.RoleAssistant, "hello"))
	a, _ := f.callOf(k, engine.SessionRequest{Request: assemble.Request{Messages: []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "which berth is mine?")}}})
	text := a.Context.Rendered()
	if !strings.Contains(text, "number seven") || strings.Contains(text, "number nine") || a.Query != "which berth is mine?" || len(a.View.Messages) != 3 {
		t.Errorf("asked %q of %d messages: %s", a.Query, len(a.View.Messages), text)
	}
	if c, err := f.Sessions().Views().Compile(t.Context(), k, view.CompileOptions{}); err != nil || len(c.Messages) != 2 {
		t.Errorf("%d messages are stored, %v", len(c.Messages), err)
	}
}

// Events published while a session's call is assembled belong to the session and are erased with it,
// because they contain its words.
func TestEventsOfASessionsCall(t *testing.T) {
	f := open(t)
	f.turn(ragctx.Turn{UserID: "ada", SessionID: "before", Prompt: "The narwhal is in the harbour.", Response: "Noted."})
	k := convo.Key{User: "ada", ID: "s"}
	f.converse(t.Context(), k, ragctx.TextMessage(ragctx.RoleUser, "where is the narwhal?"))
	heard := f.listen(t.Context())
	f.callOf(k, engine.SessionRequest{})
	told := make(map[ragctx.EventType]bool)
	for _, ev := range heard() {
		if told[ev.Type] = true; ev.SessionID != "s" || ev.UserID != "ada" {
			t.Errorf("told of session %q and user %q: %+v", ev.SessionID, ev.UserID, ev)
		}
	}
	if !told[ragctx.EventMemoriesSearched] || !told[ragctx.EventContextResolved] {
		t.Errorf("told are %v", told)
	}
}
