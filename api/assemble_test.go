package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
)

func (f *fixture) library(t *testing.T) {
	t.Helper()
	if _, err := f.eng.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "deploy.md", Text: "Run deploy rollback to return to the release before."}, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.eng.Memories().Put(t.Context(), ragctx.Memory{ID: "pin", Content: "Answer briefly.", Pinned: true}); err != nil {
		t.Fatal(err)
	}
}

// assembled posts a request and reads the answer, which must be of the status 200.
func (f *fixture) assembled(t *testing.T, body string) (AssembleAnswer, string) {
	t.Helper()
	got := f.call(t, "POST", "/v1/assemble", body)
	var a AssembleAnswer
	if err := json.Unmarshal([]byte(got.body), &a); err != nil || got.status != 200 {
		t.Fatalf("status %d, %v: %s", got.status, err, got.body)
	}
	return a, got.body
}

func TestAssembleOverHTTP(t *testing.T) {
	f := start(t, Options{})
	f.library(t)
	body := `{"system_prompt":"You are helpful.","messages":[
		{"role":"user","content":[{"type":"text","text":"how do I roll back a deployment?"}],"metadata":{"n":12345678901234567890}},
		{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"look","input":{"b":1,"a":2}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"nothing"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"2","name":"look","input":{}}]}],
		"tools":[{"name":"look"}],"session_id":"s1"}`
	a, raw := f.assembled(t, body)
	if len(a.Blocks) != 2 || a.Blocks[0].Place != "system_prompt_end" || !strings.Contains(a.Blocks[0].Text, "Answer briefly.") ||
		!strings.Contains(a.Blocks[1].Text, "deploy rollback") || a.SystemPrompt != "You are helpful." {
		t.Errorf("answer %s", raw)
	}
	// What fits goes back as it came: blocks stay blocks, and keys keep their order.
	for _, want := range []string{`"content":[{"type":"text","text":"how do I`, `12345678901234567890`, `{"b":1,"a":2}`} {
		if !strings.Contains(raw, want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
	if a.Budget.Used != a.Budget.System+a.Budget.Tools+a.Budget.Stable+a.Budget.Volatile+a.Budget.Messages || a.Budget.Tools == 0 || a.Budget.Window != 200_000 {
		t.Errorf("budget %+v", a.Budget)
	}
	if a.Context == nil || a.Context.Query != "how do I roll back a deployment?" || len(a.Context.Providers) == 0 || len(a.Items) == 0 {
		t.Errorf("context %+v", a.Context)
	}
	again, _ := f.assembled(t, body)
	if again.Blocks[1].Hash != a.Blocks[1].Hash || again.Blocks[0].Hash != a.Blocks[0].Hash {
		t.Error("an equal request has another context")
	}
	// The client says the same.
	said, err := saidOf([]ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "how do I roll back a deployment?")})
	if err != nil {
		t.Fatal(err)
	}
	most := 500
	r := AssembleRequest{Said: said, AssembleOptions: AssembleOptions{Context: AssembleContext{MaxTokens: &most}}}
	if got, err := f.client.Assemble(t.Context(), r); err != nil || len(got.Messages) != 1 || got.Blocks[0].Hash != a.Blocks[0].Hash {
		t.Errorf("client: %+v, %v", got, err)
	}
}

// The base, a blank line and the context; without a base the context
// alone; without context the base, or nothing.
func TestAssemblePrepends(t *testing.T) {
	f := start(t, Options{})
	f.library(t)
	ask := func(system, namespace string) AssembleAnswer {
		a, _ := f.assembled(t, `{"placement":"prepend","namespace":"`+namespace+`"`+system+`,"query":"roll back a deployment"}`)
		return a
	}
	a := ask(`,"system_prompt":"Base."`, "")
	context := a.Blocks[0].Text + "\n\n" + a.Blocks[1].Text
	if a.SystemPrompt != "Base.\n\n"+context || !strings.HasPrefix(context, "<context source=\"memory\" type=\"Memory\" id=\""+a.Blocks[0].Items[0]+"\">\nAnswer briefly.\n</context>\n\n<context source=") {
		t.Errorf("system prompt %q", a.SystemPrompt)
	}
	if a := ask("", ""); a.SystemPrompt != context {
		t.Errorf("without a base: %q", a.SystemPrompt)
	}
	if a := ask(`,"system_prompt":"Base."`, "empty"); a.SystemPrompt != "Base." || a.Context.Note == "" {
		t.Errorf("without context: %+v", a)
	}
	if _, raw := f.assembled(t, `{"placement":"prepend","namespace":"empty","query":"x"}`); strings.Contains(raw, "system_prompt\":") {
		t.Errorf("with neither: %s", raw)
	}
}

func TestAssembleTruncates(t *testing.T) {
	f := start(t, Options{})
	f.library(t)
	messages := `{"role":"user","content":"old"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"look","input":{}},{"type":"text","text":"` + strings.Repeat("word ", 80) + `"}]},
		{"role":"tool","content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]},{"id":"m3","role":"tool","content":[{"type":"tool_result","tool_use_id":"9","content":"lost"}]},{"role":"user","content":"roll back"}`
	a, raw := f.assembled(t, `{"messages":[`+messages+`],"budget":{"window":120,"reserve_output":-1},"context":{"max_tokens":40,"spotlight":false}}`)
	if len(a.Messages) != 1 || string(a.Messages[0]) != `{"role":"user","content":"roll back"}` || len(a.Dropped) != 4 || a.Budget.Over != 0 {
		t.Errorf("answer %s", raw)
	}
	if d := a.Dropped[3]; d.Index == nil || *d.Index != 3 || d.ID != "m3" || d.Reason != "orphan_result" {
		t.Errorf("dropped %+v", a.Dropped)
	}
	// Further calls of an execution keep their context.
	a, _ = f.assembled(t, `{"messages":[`+messages+`],"context_tokens":77}`)
	if a.Context != nil || len(a.Blocks) != 0 || a.Budget.Volatile != 77 || len(a.Messages) != 4 {
		t.Errorf("kept context: %+v", a)
	}
	// The instruction stays, and the report says what that costs.
	if a, _ = f.assembled(t, `{"messages":[`+messages+`],"budget":{"window":5,"reserve_output":-1}}`); a.Budget.Over == 0 || !strings.Contains(a.Note, "exceed") {
		t.Errorf("a tiny budget: %+v", a.Budget)
	}
}

func TestAssembleFaults(t *testing.T) {
	f := start(t, Options{})
	for body, want := range map[string]string{
		`{"phase":"later"}`:                                        "body.phase",
		`{"messages":"hi"}`:                                        "body.messages",
		`{"messages":[{"role":"judge","content":"x"}]}`:            "body.messages[0].role",
		`{"context":{"query":"x"}}`:                                "body.context.query",
		`{"context":{"depth":"deep"},"query":"x"}`:                 "body.context.depth",
		`{"budget":{"window":10},"system_prompt":"a b c d e f g"}`: "body.budget.window",
	} {
		p := f.call(t, "POST", "/v1/assemble", body).problem(t)
		if p.Status != 422 || len(p.Errors) == 0 || p.Errors[0].Location != want {
			t.Errorf("%s: %+v, want a fault of %s", body, p, want)
		}
	}
}
