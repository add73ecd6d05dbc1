package api

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
	"github.com/ragctx/ragctx/session/wire/pairing"
)

// workedOn stores a conversation of so many turns with calls of tools, all of one execution,
// and a last instruction that is about the library.
func (f *fixture) workedOn(t *testing.T, id string, turns int) {
	t.Helper()
	all := f.eng.Sessions().Views()
	k := session.Key{ID: id}
	if _, err := all.Create(t.Context(), k, view.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var messages []ragctx.Message
	for i := range turns {
		call := fmt.Sprint("call ", i) // an id that Anthropic does not take
		messages = append(messages, ragctx.TextMessage(ragctx.RoleUser, fmt.Sprintf("Please look at part %d of the plan.", i)),
			ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: call, Name: "look", Input: json.RawMessage(`{"part":1}`)}}},
			ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: call, Content: ragctx.Text(strings.Repeat("all is well there ", 20))}}},
			ragctx.TextMessage(ragctx.RoleAssistant, "We decided to leave that part as it is."))
	}
	messages = append(messages, ragctx.TextMessage(ragctx.RoleUser, "how do I roll back a deployment?"))
	if _, _, err := all.Append(t.Context(), k, view.AppendOptions{}, messages...); err != nil {
		t.Fatal(err)
	}
}

// assembledSession asks for a call of a session, which must be answered.
func (f *fixture) assembledSession(t *testing.T, id, body string) (SessionAssembleAnswer, string) {
	t.Helper()
	got := f.call(t, "POST", "/v1/sessions/"+id+":assemble", body)
	var a SessionAssembleAnswer
	if err := json.Unmarshal([]byte(got.body), &a); err != nil || got.status != 200 {
		t.Fatalf("status %d, %v: %s", got.status, err, got.body)
	}
	return a, got.body
}

func TestAssembleSessionInEachForm(t *testing.T) {
	f := start(t, Options{})
	f.library(t)
	f.workedOn(t, "s", 3)
	for format, check := range map[string]func([]json.RawMessage) error{
		"openai": pairing.CheckOpenAI, "anthropic": pairing.CheckAnthropic, "gemini": pairing.CheckGemini, "ragctx": func([]json.RawMessage) error { return nil },
	} {
		body := `{"format":"` + format + `","system_prompt":"You are helpful.","placement":"inline"}`
		a, raw := f.assembledSession(t, "s", body)
		if err := check(a.Messages); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		whole := a.SystemPrompt + string(a.System) + fmt.Sprintf("%s", a.Messages)
		for _, want := range []string{"You are helpful.", "Answer briefly.", "deploy rollback", "part 0 of the plan", "how do I roll back a deployment?"} {
			if strings.Count(whole, want) != 1 {
				t.Errorf("%s: %q is there %d times: %s", format, want, strings.Count(whole, want), raw)
			}
		}
		if at := strings.Index(whole, "deploy rollback"); at < strings.Index(whole, "leave that part") || at > strings.Index(whole, "how do I roll back") {
			t.Errorf("%s: the context is not right before the question: %s", format, whole)
		}
		if marks := strings.Count(whole, "cache_control"); marks != 4 && format == "anthropic" || marks > 0 && format != "anthropic" {
			t.Errorf("%s: %d marks of a cache", format, marks)
		}
		if len(a.Pipeline) == 0 || a.Leaf == "" || a.Format != format {
			t.Errorf("%s: %s", format, raw)
		}
		if again, _ := f.assembledSession(t, "s", body); fmt.Sprintf("%s", again.Messages) != fmt.Sprintf("%s", a.Messages) {
			t.Errorf("%s: an equal request has another answer", format)
		}
	}
	// What follows is not stored, and in the form that is asked for.
	a, raw := f.assembledSession(t, "s", `{"format":"openai","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"deep"}],"cache_control":false}`)
	if n := len(a.Messages); n != 16 || !strings.Contains(string(a.Messages[n-1]), "deep") || a.Context.Query != "how do I roll back a deployment?" {
		t.Errorf("%d messages: %s", n, raw)
	}
	if b, _ := f.assembledSession(t, "s", `{}`); len(b.Messages) != 13 || len(b.Blocks) != 2 {
		t.Errorf("%d messages stored", len(b.Messages))
	}
	k := session.Key{ID: "s"}
	if got, err := f.client.AssembleSession(t.Context(), k, SessionAssembleRequest{}); err != nil || len(got.Messages) != 13 {
		t.Errorf("client: %v", err)
	}
}

// A conversation that fills the window is compacted, once, and what is sent fits.
func TestAssembleSessionCompacts(t *testing.T) {
	f := start(t, Options{})
	f.library(t)
	f.workedOn(t, "s", 40)
	body := `{"format":"anthropic","budget":{"window":4000,"reserve_output":200}}`
	a, raw := f.assembledSession(t, "s", body)
	if len(a.Compactions) != 1 || a.Budget.Over != 0 || a.Budget.Used > 3800 || !strings.Contains(raw, "Context Summary") {
		t.Fatalf("%d compactions, budget %+v", len(a.Compactions), a.Budget)
	}
	if err := pairing.CheckAnthropic(a.Messages); err != nil {
		t.Error(err)
	}
	if again, _ := f.assembledSession(t, "s", body); len(again.Compactions) != 0 || fmt.Sprintf("%s", again.Messages) != fmt.Sprintf("%s", a.Messages) {
		t.Errorf("compacted again, or another answer: %+v", again.Pipeline)
	}
}

// TestLeftOutOfSession: compile and assemble of a session say of each message why it is not
// shown, and a list of what nobody stores does.
func TestLeftOutOfSession(t *testing.T) {
	f := start(t, Options{})
	k := session.Key{ID: "s"}
	result := func(of string) ragctx.Message {
		return ragctx.Message{ID: "r-" + of, Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: of, Content: ragctx.Text("so it is")}}}
	}
	trace := ragctx.TextMessage(ragctx.RoleAssistant, "I look.")
	trace.Metadata = map[string]any{ragctx.MetaIsTrace: true, ragctx.MetaExecutionID: "run"}
	messages := []ragctx.Message{
		ragctx.TextMessage(ragctx.RoleUser, "What is it?"), result("nobody"), trace,
		{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockText, Text: "Wait."}, {Type: ragctx.BlockToolUse, ID: "c", Name: "f", Input: []byte(`{}`)}}},
		ragctx.TextMessage(ragctx.RoleUser, ""), ragctx.TextMessage(ragctx.RoleUser, "And now?"),
	}
	if _, err := f.eng.Sessions().Views().Create(t.Context(), k, view.CreateOptions{Messages: messages}); err != nil {
		t.Fatal(err)
	}
	const want = "[orphan_result unanswered_call* empty] [trace 1]"
	left := func(partial []bool, reasons []session.Reason, hidden []HiddenMessages) string {
		var cuts, many []string
		for i, why := range reasons {
			if cuts = append(cuts, string(why)); partial[i] {
				cuts[i] += "*"
			}
		}
		for _, h := range hidden {
			many = append(many, fmt.Sprint(h.Reason, " ", h.Messages))
		}
		return fmt.Sprint(cuts, " ", many)
	}
	cuts := func(a CompileAnswer) string {
		var partial []bool
		var reasons []session.Reason
		for _, d := range a.Dropped {
			partial, reasons = append(partial, d.Partial), append(reasons, d.Reason)
		}
		return left(partial, reasons, a.Hidden)
	}
	if got := cuts(into[CompileAnswer](t, f.call(t, "POST", "/v1/sessions/s:compile", `{}`), 200)); got != want {
		t.Errorf("compile: %s, want %s", got, want)
	}
	body, err := json.Marshal(map[string]any{"messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	if got := cuts(into[CompileAnswer](t, f.call(t, "POST", "/v1/compile", string(body)), 200)); got != want {
		t.Errorf("compile of what is sent: %s, want %s", got, want)
	}
	a, raw := f.assembledSession(t, "s", `{}`)
	var partial []bool
	var reasons []session.Reason
	for _, d := range a.Dropped {
		if partial, reasons = append(partial, d.Partial), append(reasons, d.Reason); d.Index != nil || d.Role == "" || d.Tokens <= 0 {
			t.Errorf("%+v", d)
		}
	}
	if got := left(partial, reasons, a.Hidden); got != want {
		t.Errorf("assemble: %s, want %s: %s", got, want, raw)
	}
}

// TestAssembleSessionDropsOnce: a message of which a call was left out, and then the rest for
// the budget, is told once, with what both saved; one of the request is another one.
func TestAssembleSessionDropsOnce(t *testing.T) {
	f := start(t, Options{})
	k := session.Key{ID: "s"}
	long := strings.Repeat("and so on and on ", 100)
	waits := ragctx.Message{ID: "waits", Role: ragctx.RoleAssistant, Content: append(ragctx.Text(long), ragctx.Block{Type: ragctx.BlockToolUse, ID: "c", Name: "f", Input: []byte(`{}`)})}
	messages := []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "What is it?"), waits, ragctx.TextMessage(ragctx.RoleUser, "Go on.")}
	if _, err := f.eng.Sessions().Views().Create(t.Context(), k, view.CreateOptions{Messages: messages}); err != nil {
		t.Fatal(err)
	}
	waiting := func(body string) (told []DroppedMessage) {
		a, _ := f.assembledSession(t, "s", body)
		for _, d := range a.Dropped {
			if d.ID == "waits" {
				told = append(told, d)
			}
		}
		return told
	}
	cut := waiting(`{"messages":[{"id":"waits","content":"And now?"}]}`)
	if len(cut) != 1 || !cut[0].Partial || cut[0].Reason != session.ReasonUnanswered || cut[0].Index != nil {
		t.Fatalf("of what fits: %+v", cut)
	}
	// What the request says takes the budget, which the stages do not know of.
	const full = `{"budget":{"window":1000,"context_share":-1},"messages":[%s{"content":"%s"}]}`
	gone := waiting(fmt.Sprintf(full, "", long))
	if len(gone) != 1 || gone[0].Partial || gone[0].Reason != session.ReasonBudget || gone[0].Index == nil || gone[0].Tokens <= cut[0].Tokens+300 {
		t.Errorf("of what does not fit: %+v", gone)
	}
	both := waiting(fmt.Sprintf(full, `{"id":"waits","role":"assistant","content":[{"type":"tool_use","id":"d","name":"f","input":{}}]},`, long))
	if len(both) != 2 || both[0].Tokens != gone[0].Tokens || both[1].Reason != session.ReasonUnanswered {
		t.Errorf("of two of one id: %+v", both)
	}
}

// TestDroppedIndexes: a message of the request is named by its place there, with a system
// prompt that stands before it or not; one of the session by its place in what the stages left.
func TestDroppedIndexes(t *testing.T) {
	f := start(t, Options{})
	long := strings.Repeat("and so on and on ", 40)
	messages := []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, long), ragctx.TextMessage(ragctx.RoleAssistant, long)}
	if _, err := f.eng.Sessions().Views().Create(t.Context(), session.Key{ID: "s"}, view.CreateOptions{Messages: messages, Layer: stage.LayerNone}); err != nil {
		t.Fatal(err)
	}
	said := `{"role":"user","content":"` + long + `"},{"role":"assistant","content":"` + long + `"},{"role":"user","content":"Go on."}`
	for body, want := range map[string]string{
		`"messages":[` + said + `]`: "0 1 0 1",
		`"format":"openai","messages":[{"role":"system","content":"You are a pilot."},` + said + `]`:                                            "0 1 1 2",
		`"format":"anthropic","system":"You are a pilot.","messages":[` + said + `]`:                                                            "0 1 0 1",
		`"format":"openai","system_prompt":"You are a pilot.","messages":[` + said + `]`:                                                        "0 1 0 1",
		`"format":"openai","messages":[{"role":"system","content":"You are a pilot."},{"role":"developer","content":"Be brief."},` + said + `]`: "0 1 2 3",
	} {
		a, raw := f.assembledSession(t, "s", `{"budget":{"window":100,"reserve_output":-1,"context_share":-1},`+body+`}`)
		var at []string
		for _, d := range a.Dropped {
			if at = append(at, "?"); d.Index != nil {
				at[len(at)-1] = strconv.Itoa(*d.Index)
			}
		}
		if got := strings.Join(at, " "); got != want {
			t.Errorf("%.120s: %s, want %s: %s", body, got, want, raw)
		}
	}
}

func TestAssembleSessionFaults(t *testing.T) {
	f := start(t, Options{})
	f.workedOn(t, "s", 1)
	if got := f.call(t, "POST", "/v1/sessions/none:assemble", `{}`); got.status != 404 {
		t.Errorf("a session that is not there: %d %s", got.status, got.body)
	}
	for body, want := range map[string]string{
		`{"format":"cohere"}`:             "body.format",
		`{"used_tokens":-1}`:              "body.used_tokens",
		`{"placement":"end"}`:             "body.placement",
		`{"messages":[{"role":"judge"}]}`: "body.messages[0].role",
		`{"context":{"session_id":"x"}}`:  "body.context.session_id",

		`{"format":"openai","messages":[{"role":"user","content":5}]}`: "body.messages",
	} {
		p := f.call(t, "POST", "/v1/sessions/s:assemble", body).problem(t)
		if p.Status != 422 || len(p.Errors) == 0 || p.Errors[0].Location != want {
			t.Errorf("%s: %+v, want a fault of %s", body, p, want)
		}
	}
}

// TestLayerDecides: compacting follows the session's layer, and assemble says which it is.
func TestLayerDecides(t *testing.T) {
	f := start(t, Options{})
	long := strings.Repeat("The keys rotate at midnight. ", 200)
	body := `{"id":"%s","layer":"%s","messages":[{"role":"user","content":"Begin."},{"role":"assistant","content":"` + long + `"},
		{"role":"user","content":"Which?"},{"role":"assistant","content":"` + long + `"},{"role":"user","content":"Why?"}]}`
	for _, layer := range []string{"any", "compaction", "buffer"} {
		into[Session](t, f.call(t, "POST", "/v1/sessions", fmt.Sprintf(body, layer, layer)), 201)
		if a := into[SessionAssembleAnswer](t, f.call(t, "POST", "/v1/sessions/"+layer+":assemble", `{}`), 200); string(a.Layer) != layer {
			t.Errorf("assemble says %q of %s", a.Layer, layer)
		}
		rules := `{"window":2000,"keep_last":1}`
		if layer == "buffer" { // to which they mean nothing
			if p := f.call(t, "POST", "/v1/sessions/buffer:compact", rules).problem(t); p.Status != 422 || p.Errors[0].Location != "body.window" {
				t.Errorf("%+v", p)
			}
			rules = `{"strategy":"extractive","if_due":true}`
		}
		a := into[CompactAnswer](t, f.call(t, "POST", "/v1/sessions/"+layer+":compact", rules), 200)
		if strings.Contains(a.Reason, "buffer") != (layer == "buffer") { // whose limits this is below
			t.Errorf("%s: %+v", layer, a)
		}
	}
}
