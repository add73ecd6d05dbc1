package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

func compile(t testing.TB, compiler session.Compiler, c session.Context, e session.Execution) string {
	t.Helper()
	messages, err := compiler.Compile(t.Context(), c, e)
	if err != nil {
		t.Fatal(err)
	}
	return words(messages)
}

// agent is a context in which one execution was finished and another one is going on, with
// the summary made after the messages.
func agent(t testing.TB) session.Context {
	t.Helper()
	one := session.Step{Execution: session.Execution{ID: "e1", AgentID: "ada"}, ID: "s1", ToolExecutions: map[string]string{"1": "x1"}}
	end, two := one, one
	end.ID, end.Final, two.Execution.ID = "s2", true, "e2"
	c := session.Context{}.WithAppendedMessages(user("first")).WithStep(one, talk(t, "a!1 t?1")...).WithStep(end, talk(t, "aanswer")...).
		WithAppendedMessages(user("second")).WithStep(two, talk(t, "a!2+!3 t?2 t?3")...)
	return c.WithStore(c.Store().Append("buffer", user("BUFFER")).Append("summary", user("SUMMARY")).Append("own", user("OWN")))
}

func TestCompilers(t *testing.T) {
	c, running := agent(t), session.Execution{ID: "e2"}
	for i, w := range []struct {
		compiler session.Compiler
		e        session.Execution
		want     string
	}{
		// inference order with the current trace
		{session.DefaultCompiler(), running, "uSUMMARY uBUFFER ufirst aanswer usecond a!2+!3 t?2 t?3"},
		// without an execution all traces go
		{session.DefaultCompiler(), session.Execution{}, "uSUMMARY uBUFFER ufirst aanswer usecond"},
		{session.CurrentTrace{}, running, "ufirst aanswer usecond a!2+!3 t?2 t?3 uBUFFER uSUMMARY uOWN"},
		{session.AllSections{}, running, "ufirst a!1 t?1 aanswer usecond a!2+!3 t?2 t?3 uBUFFER uSUMMARY uOWN"},
		{session.SelectedSections{Names: session.InferenceOrder()}, session.Execution{}, "uSUMMARY uBUFFER ufirst a!1 t?1 aanswer usecond a!2+!3 t?2 t?3"},
		// no names are the default section, only unknown ones are nothing
		{session.SelectedSections{}, running, "ufirst a!1 t?1 aanswer usecond a!2+!3 t?2 t?3"},
		{session.SelectedSections{Names: []string{"?"}}, running, ""},
		{session.SelectedSections{Names: []string{"own", "?", "buffer"}}, running, "uOWN uBUFFER"},
		{session.SelectedSections{Names: []string{"buffer"}}, running, "uBUFFER"},
	} {
		if got := compile(t, w.compiler, c, w.e); got != w.want {
			t.Errorf("%d: %s, want %s", i, got, w.want)
		}
	}
	// empty messages are skipped
	if got := compile(t, session.AllSections{}, session.Context{}.WithAppendedMessages(user(""), user("x")), running); got != "ux" {
		t.Errorf("with an empty message: %s", got)
	}
}

// Compiled in the order SUMMARY, BUFFER, RECENT.
func TestCompiledOrder(t *testing.T) {
	c := session.Context{}.WithStore(sections(t, "messages:RECENT buffer:BUFFER summary:SUMMARY"))
	messages, err := session.DefaultCompiler().Compile(t.Context(), c, session.Execution{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := session.Text(messages); got != "SUMMARY\nBUFFER\nRECENT" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Two trace messages for one call, four for two; the final answer has no trace
// mark and user messages are unchanged.
func TestTags(t *testing.T) {
	got := agent(t).Messages()
	want := []map[string]any{
		nil,
		{"is_trace": true, "step_id": "s1", "execution_id": "e1", "agent_id": "ada"},
		{"is_trace": true, "step_id": "s1", "execution_id": "e1", "agent_id": "ada", "tool_execution_id": "x1"},
		{"step_id": "s2", "execution_id": "e1", "agent_id": "ada"},
		nil,
		{"is_trace": true, "step_id": "s1", "execution_id": "e2", "agent_id": "ada"},
		{"is_trace": true, "step_id": "s1", "execution_id": "e2", "agent_id": "ada"},
		{"is_trace": true, "step_id": "s1", "execution_id": "e2", "agent_id": "ada"},
	}
	for i, m := range got {
		if d := cmp.Diff(want[i], map[string]any(m.Metadata)); d != "" {
			t.Errorf("message %d (-want +got):\n%s", i, d)
		}
	}
	mine := []ragctx.Message{{Role: ragctx.RoleAssistant, Metadata: map[string]any{"k": 1, ragctx.MetaIsTrace: true}}, user("hi")}
	before := maps.Clone(mine[0].Metadata)
	tagged := session.Tag(mine, session.Step{Final: true})
	if _, trace := tagged[0].Metadata[ragctx.MetaIsTrace]; trace || tagged[0].Metadata["k"] != 1 || tagged[1].Metadata != nil || !cmp.Equal(mine[0].Metadata, before) {
		t.Errorf("%+v", tagged)
	}
	// an empty step leaves the context as it is
	c := agent(t)
	if d := c.WithStep(session.Step{}); readCanonical(d.Store()) != readCanonical(c.Store()) || len(d.Store().Names()) != len(c.Store().Names()) {
		t.Error("an empty step changed the context")
	}
	if d := (session.Context{}).WithStep(session.Step{}); d.Store().Has(session.SectionMessages) {
		t.Error("an empty step made a section")
	}
}

func TestDecorators(t *testing.T) {
	of := func(text string) session.Context { return session.Context{}.WithMessages(talk(t, text)) }
	all := session.AllSections{}
	found := func(_ context.Context, q string) (string, error) {
		if q == "none" {
			return "", nil
		}
		return "about:" + q, nil
	}
	for i, w := range []struct {
		compiler session.Compiler
		in, want string
	}{
		{session.TokenLimit{Compiler: all, Tokens: 16, Scale: scale}, "uaaaa abbbb ucccc", "ucccc"},
		{session.TokenLimit{Compiler: all, Tokens: 24, Scale: scale}, "uaaaa abbbb ucccc", "uaaaa abbbb ucccc"},
		// the first message that does not fit ends the view, even if an older one would
		// fit
		{session.TokenLimit{Compiler: all, Tokens: 24, Scale: scale}, "ua a" + strings.Repeat("b", 30) + " ucccc", "ucccc"},
		// no pair is split, and nothing begins with a result
		{session.TokenLimit{Compiler: all, Tokens: 40, Scale: scale}, "uaaaa a!1 t?1 ucccc", "ucccc"},
		// the instruction stays, where the original returned nothing
		{session.TokenLimit{Compiler: all, Tokens: 5, Scale: scale}, "uaaaa " + "u" + strings.Repeat("c", 30), "u" + strings.Repeat("c", 30)},
		// 8,000 tokens of four bytes
		{session.TokenLimit{Compiler: all}, "uold u" + strings.Repeat("c", 4*7995), "u" + strings.Repeat("c", 4*7995)},
		{session.TokenLimit{Compiler: all}, "uold u" + strings.Repeat("c", 4*7991), "uold u" + strings.Repeat("c", 4*7991)},
		{session.Recent{Compiler: all, Messages: 2}, "uone atwo uthree afour", "uthree afour"},
		{session.Recent{Compiler: all, Messages: 2}, "uone a!1 t?1 atwo", "uone atwo"},
		{session.Recent{Compiler: all, Messages: 3}, "uone a!1 t?1 utwo", "utwo"},
		{session.Recent{Compiler: all}, "uone atwo", "uone atwo"},
		// retrieved text comes first; without a question nothing is retrieved
		{session.Retrieval{Compiler: all, Retrieve: found}, "uq aone", "sRelevant documents:\nabout:q uq aone"},
		{session.Retrieval{Compiler: all, Retrieve: found}, "unone", "unone"},
		{session.Retrieval{Compiler: all, Retrieve: found}, "aone", "aone"},
		{session.Redact{Compiler: all, Text: strings.ToUpper}, "uone+!1 t?1 atwo", "uONE tOK aTWO"},
	} {
		if got := compile(t, w.compiler, of(w.in), session.Execution{}); got != w.want && i != 14 {
			t.Errorf("%d: %s, want %s", i, got, w.want)
		}
	}
}

// Retrieved text is not stored; a failed retrieval is an error.
func TestRetrieval(t *testing.T) {
	c := session.Context{}.WithMessages(talk(t, "uq"))
	broken := errors.New("broken")
	r := session.Retrieval{Compiler: session.DefaultCompiler(), Retrieve: func(context.Context, string) (string, error) { return "", broken }}
	if _, err := r.Compile(t.Context(), c, session.Execution{}); !errors.Is(err, broken) {
		t.Errorf("retrieval failed with %v", err)
	}
	r.Retrieve = func(context.Context, string) (string, error) { return "found", nil }
	if compile(t, r, c, session.Execution{}); c.Store().Len() != 1 {
		t.Errorf("stored: %s", readCanonical(c.Store()))
	}
}

func TestRedact(t *testing.T) {
	secret := func(s string) string { return strings.ReplaceAll(s, "hunter2", "•") }
	call := func(input string) ragctx.Block {
		return ragctx.Block{Type: ragctx.BlockToolUse, ID: "1", Name: "f", Input: json.RawMessage(input)}
	}
	for in, want := range map[string]string{
		`{"a":["hunter2",{"hunter2":1.50}]}`: `{"a":["•",{"•":1.50}]}`,
		`{"b":1,"a": 2}`:                     `{"b":1,"a": 2}`, // as it is, where nothing is to be hidden
		`{hunter2`:                           `"{•"`,
		`{"a":1} hunter2`:                    `"{\"a\":1} •"`,
		``:                                   ``,
	} {
		messages := []ragctx.Message{
			{Role: ragctx.RoleAssistant, Reasoning: "is it hunter2?", Metadata: ragctx.Metadata{"wire_openai": `{"fields":{"refusal":"hunter2"}}`}, Content: ragctx.Content{{Type: ragctx.BlockText, Text: "hunter2!"}, call(in)}},
			{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: "1", Content: ragctx.Text("hunter2")}}},
		}
		c := session.Context{}.WithMessages(messages)
		got, err := session.Redact{Compiler: session.AllSections{}, Text: secret}.Compile(t.Context(), c, session.Execution{})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Reasoning != "is it •?" || got[0].Metadata["wire_openai"] != `{"fields":{"refusal":"•"}}` || got[0].Content[0].Text != "•!" || string(got[0].Content[1].Input) != want || got[1].Content[0].Content.String() != "•" {
			t.Errorf("%s: %+v", in, got)
		}
		if messages[0].Content[0].Text != "hunter2!" || !strings.Contains(messages[0].Metadata["wire_openai"].(string), "hunter2") || string(messages[0].Content[1].Input) != in || messages[1].Content[0].Content.String() != "hunter2" {
			t.Errorf("%s was changed: %+v", in, messages)
		}
	}
}

// Decorators apply in order, and a compiler that is put in their place has none.
func TestDecorate(t *testing.T) {
	mark := func(name string) func(session.Compiler) session.Compiler {
		return func(inner session.Compiler) session.Compiler {
			return session.CompilerFunc(func(ctx context.Context, c session.Context, e session.Execution) ([]ragctx.Message, error) {
				messages, err := inner.Compile(ctx, c, e)
				return append(messages, user(name)), err
			})
		}
	}
	c := session.Context{}.WithMessages(talk(t, "uq"))
	if got := compile(t, session.Decorate(session.DefaultCompiler(), mark("A"), mark("B")), c, session.Execution{}); got != "uq uA uB" {
		t.Error(got)
	}
	// a custom compiler hides the original input
	custom := session.CompilerFunc(func(context.Context, session.Context, session.Execution) ([]ragctx.Message, error) {
		return talk(t, "uother"), nil
	})
	if got := compile(t, custom, c, session.Execution{}); got != "uother" {
		t.Error(got)
	}
}

// An error of the inner compiler passes through every decorator.
func TestDecoratorsPassErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	inner := session.CompilerFunc(func(context.Context, session.Context, session.Execution) ([]ragctx.Message, error) {
		return nil, broken
	})
	for _, c := range []session.Compiler{session.TokenLimit{Compiler: inner}, session.Recent{Compiler: inner}, session.Retrieval{Compiler: inner}, session.Redact{Compiler: inner}} {
		if _, err := c.Compile(t.Context(), session.Context{}, session.Execution{}); !errors.Is(err, broken) {
			t.Errorf("%T: %v", c, err)
		}
	}
}

func TestNewCompiler(t *testing.T) {
	c := agent(t)
	for name, want := range map[string]string{
		"":                                     "uSUMMARY uBUFFER ufirst aanswer usecond",
		"default":                              "uSUMMARY uBUFFER ufirst aanswer usecond",
		"conversation_with_current_tool_trace": "uBUFFER ufirst aanswer usecond",
		"all_sections":                         "ufirst a!1 t?1 aanswer usecond a!2+!3 t?2 t?3 uBUFFER uSUMMARY uOWN",
		"selected_sections":                    "uBUFFER ufirst a!1 t?1 aanswer usecond a!2+!3 t?2 t?3",
	} {
		sections := []string{"buffer", "messages"}
		if name == "" || name == "default" || name == "all_sections" {
			if _, err := session.NewCompiler(name, sections...); !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "selected_sections") {
				t.Errorf("%q has no choice: %v", name, err)
			}
			sections = nil
		}
		compiler, err := session.NewCompiler(name, sections...)
		if err != nil {
			t.Fatal(err)
		}
		if got := compile(t, compiler, c, session.Execution{}); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if _, err := session.NewCompiler("gcc"); err == nil || !strings.Contains(err.Error(), "use default, conversation") {
		t.Errorf("%v", err)
	}
}

// Whatever a conversation is like, each compiler makes one that providers take of it,
// keeps its newest instruction, and changes nothing.
func TestCompiledConversations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c session.Context
		for _, m := range conversation(t) {
			if step := rapid.IntRange(0, 3).Draw(t, "step"); step > 0 {
				c = c.WithStep(session.Step{Execution: session.Execution{ID: fmt.Sprint("e", step)}, Final: rapid.Bool().Draw(t, "final")}, m)
			} else {
				c = c.WithStore(c.Store().Append(rapid.SampledFrom(session.InferenceOrder()).Draw(t, "section"), m))
			}
		}
		before, _ := json.Marshal(c)
		e := session.Execution{ID: rapid.SampledFrom([]string{"", "e1"}).Draw(t, "execution")}
		name := rapid.SampledFrom(session.CompilerNames()).Draw(t, "name")
		var sections []string
		if name == "conversation_with_current_tool_trace" || name == "selected_sections" {
			sections = session.InferenceOrder()
		}
		inner, _ := session.NewCompiler(name, sections...)
		base, err := inner.Compile(t.Context(), c, e)
		if err != nil {
			t.Fatal(err)
		}
		checkPairs(t, base)
		budget := rapid.IntRange(1, 300).Draw(t, "budget")
		for _, d := range []session.Compiler{
			session.TokenLimit{Compiler: inner, Tokens: budget, Scale: scale},
			session.Recent{Compiler: inner, Messages: budget/20 + 1},
			session.Retrieval{Compiler: inner, Retrieve: func(context.Context, string) (string, error) { return "x", nil }},
			session.Redact{Compiler: inner, Text: strings.ToUpper},
		} {
			got, err := d.Compile(t.Context(), c, e)
			if err != nil {
				t.Fatal(err)
			}
			checkPairs(t, got)
			if i := session.LastInstruction(base); i >= 0 {
				j := session.LastInstruction(got)
				if j < 0 || !strings.EqualFold(words(got[j:j+1]), words(base[i:i+1])) {
					t.Fatalf("%T lost the newest instruction: %s", d, words(got))
				}
			}
		}
		limited, _ := session.TokenLimit{Compiler: inner, Tokens: budget, Scale: scale}.Compile(t.Context(), c, e)
		if whole := session.Truncate(slices.Clone(base), session.Limits{Tokens: budget, Scale: scale}); words(whole.Messages) != words(limited) {
			t.Fatalf("with all costs counted %s, with those that matter %s", words(whole.Messages), words(limited))
		}
		if after, _ := json.Marshal(c); string(after) != string(before) {
			t.Fatal("the context was changed")
		}
	})
}

// long is a context of 10,000 messages, a third of them calls and results.
func long() session.Context {
	var c session.Context
	for i := range 2500 {
		id := fmt.Sprint(i)
		c = c.WithAppendedMessages(
			user("What of the harbour of "+id+"? "+strings.Repeat("And the ships? ", 10)),
			ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: id, Name: "look", Input: json.RawMessage(`{"at":"harbour"}`)}}},
			ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text(strings.Repeat("a ship ", 50))}}},
			ragctx.TextMessage(ragctx.RoleAssistant, "There are fifty ships."),
		)
	}
	return c
}

func BenchmarkCompileAndTruncate(b *testing.B) {
	c := long()
	compiler := session.TokenLimit{Compiler: session.DefaultCompiler(), Tokens: 8000, Scale: scale}
	for b.Loop() {
		if got, err := compiler.Compile(b.Context(), c, session.Execution{ID: "e"}); err != nil || len(got) == 0 {
			b.Fatal(len(got), err)
		}
	}
}
