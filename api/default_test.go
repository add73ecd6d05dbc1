package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/view"
)

// loop appends turns of an agent to a session, each with five calls of tools, and asks for the
// next call of the model after each of them.
func (f *fixture) loop(t *testing.T, turns, window int, request func(turn int) string, look func(int, map[string]any, string)) {
	t.Helper()
	k := session.Key{ID: "s"}
	if _, err := f.eng.Sessions().Views().Create(t.Context(), k, view.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	forms := []string{"openai", "anthropic", "gemini", "ragctx"}
	for n := range turns {
		messages := []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, request(n))}
		for i := range 5 {
			id := fmt.Sprintf("c%d-%d", n, i)
			use := ragctx.Block{Type: ragctx.BlockToolUse, ID: id, Name: "read", Input: fmt.Appendf(nil, `{"path":"p%d"}`, i)}
			output := ragctx.Text("The administrator requires it, xyzzy. " + strings.Repeat("more ", n%3))
			messages = append(messages, ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{use}},
				ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: output}}})
		}
		messages = append(messages, ragctx.TextMessage(ragctx.RoleAssistant, "Done."))
		if _, _, err := f.eng.Sessions().Views().Append(t.Context(), k, view.AppendOptions{}, messages...); err != nil {
			t.Fatal(err)
		}
		turn := fmt.Sprintf(`{"id":"t%d","session_id":"s","prompt":%q,"response":"Done."}`, n, request(n))
		if got := f.call(t, "POST", "/v1/turns", turn); got.status >= 300 {
			t.Fatal(got.body)
		}
		form, next := forms[n%len(forms)], `{"role":"user","content":"go on"}`
		if form == "gemini" {
			next = `{"role":"user","parts":[{"text":"go on"}]}`
		}
		body := fmt.Sprintf(`{"format":%q,"system_prompt":"You are an agent.","budget":{"window":%d},"messages":[%s]}`, form, window, next)
		got := f.call(t, "POST", "/v1/sessions/s:assemble", body)
		var a map[string]any
		if err := json.Unmarshal([]byte(got.body), &a); err != nil || got.status != 200 {
			t.Fatalf("turn %d: %d %s", n, got.status, got.body)
		}
		system := map[string]any{"role": "system", "content": fmt.Sprint(a["system"], a["system_prompt"])}
		for _, m := range append(a["messages"].([]any), system) {
			if m, _ := m.(map[string]any); m["role"] == "system" && strings.Contains(fmt.Sprint(m), "xyzzy") {
				t.Fatalf("turn %d: a tool speaks as the system: %v", n, m)
			}
		}
		look(n, a, got.body)
	}
}

// TestDefaultConversation: with default settings and no model, in a loop of 100 turns that takes
// a twentieth of the window, each message of the user is in the next call byte for byte.
func TestDefaultConversation(t *testing.T) {
	f := start(t, Options{})
	request := func(n int) string {
		switch n {
		case 3:
			return "  You must never touch payments/legacy.\n\n\tNot even its tests — ever. "
		case 60:
			return "Überprüfe \"alles\" bis Freitag & melde <dich>."
		}
		return fmt.Sprintf("Please look at part %d of the plan.", n)
	}
	f.loop(t, 100, 400_000, request, func(turn int, a map[string]any, raw string) {
		said := make(map[string]bool)
		for _, m := range a["messages"].([]any) {
			texts(m, said)
		}
		for n := range turn + 1 {
			if !said[request(n)] {
				t.Fatalf("turn %d: %q is not in the call: %.2000s", turn, request(n), raw)
			}
		}
		for _, list := range []string{"dropped", "hidden"} {
			if got, _ := a[list].([]any); len(got) > 0 {
				t.Fatalf("turn %d: %s is %v", turn, list, got)
			}
		}
		if used := a["budget"].(map[string]any)["messages"].(float64); turn == 99 && (used < 15_000 || used > 25_000) {
			t.Errorf("the conversation has %v tokens", used)
		}
	})
}

// texts notes the strings in a JSON value.
func texts(v any, into map[string]bool) {
	switch v := v.(type) {
	case string:
		into[v] = true
	case []any:
		for _, one := range v {
			texts(one, into)
		}
	case map[string]any:
		for _, one := range v {
			texts(one, into)
		}
	}
}

// TestCompactedConversationSaysSo: where a conversation does not fit, the call says which rules
// of the user it keeps, and how many messages are not shown; it names few of them.
func TestCompactedConversationSaysSo(t *testing.T) {
	f := start(t, Options{})
	request := func(n int) string {
		if n == 3 {
			return "You must never touch payments/legacy."
		}
		return fmt.Sprintf("Please look at part %d of the plan.", n)
	}
	f.loop(t, 60, 8000, request, func(turn int, a map[string]any, raw string) {
		if !strings.Contains(raw, request(3)) && turn >= 3 {
			t.Fatalf("turn %d: the rule is gone: %s", turn, raw)
		}
		if turn < 59 {
			return
		}
		var hidden, dropped float64
		for _, h := range a["hidden"].([]any) {
			hidden += h.(map[string]any)["messages"].(float64)
		}
		for _, d := range a["dropped_totals"].([]any) {
			dropped += d.(map[string]any)["messages"].(float64)
		}
		shown := 0
		for _, m := range a["messages"].([]any) {
			if text := fmt.Sprint(m); !strings.Contains(text, session.SummaryMarker) && !strings.Contains(text, "go on") {
				shown++
			}
		}
		if int(hidden+dropped)+shown != 60*12 || hidden < 60*6 {
			t.Errorf("%d shown, %v hidden, %v dropped of %d", shown, hidden, dropped, 60*12)
		}
		if rules := fmt.Sprint(a["rules"]); !strings.Contains(rules, request(3)) || strings.Contains(rules, "xyzzy") {
			t.Errorf("rules: %s", rules)
		}
	})
	long := into[CompileAnswer](t, f.call(t, "POST", "/v1/sessions/s:compile", `{"raw":true,"max_messages":1}`), 200)
	total := 0
	for _, d := range long.DroppedTotals {
		total += d.Messages
	}
	if len(long.Dropped) != 100 || total != 60*12-len(long.Messages) {
		t.Errorf("%d are named, %d counted, %d shown", len(long.Dropped), total, len(long.Messages))
	}
}
