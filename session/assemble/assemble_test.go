package assemble_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/assemble"
)

type bytesCounter struct{}

func (bytesCounter) Name() string          { return "bytes" }
func (bytesCounter) Count(text string) int { return len(text) }

func user(text string) ragctx.Message { return ragctx.TextMessage(ragctx.RoleUser, text) }

func plan(t testing.TB, r assemble.Request) assemble.Plan {
	t.Helper()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := r.Plan(bytesCounter{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestShares(t *testing.T) {
	long := make([]ragctx.Message, 100)
	for i := range long {
		long[i] = user(strings.Repeat("x", 96)) // 100 tokens each
	}
	for name, c := range map[string]struct {
		r            assemble.Request
		most, stable int
	}{
		"a short conversation leaves all":     {assemble.Request{Messages: []ragctx.Message{user("why")}}, 4000, 1000},
		"a long one leaves context its share": {assemble.Request{Messages: long, Budget: assemble.Budget{Window: 2000, Reserve: -1}}, 992, 250},
		"the share is set":                    {assemble.Request{Messages: long, Budget: assemble.Budget{Window: 2000, Reserve: -1, ContextShare: .1}}, 192, 50},
		"what must stay goes first":           {assemble.Request{Messages: []ragctx.Message{user(strings.Repeat("x", 896))}, Budget: assemble.Budget{Window: 1000, Reserve: -1}}, 92, 92},
		"the stable share is the query's":     {assemble.Request{Messages: long, Context: ragctx.ContextQuery{StableTokens: 7}, Budget: assemble.Budget{Window: 2000, Reserve: -1}}, 992, 7},
	} {
		p := plan(t, c.r)
		if !p.Retrieve || p.Query.MaxTokens != c.most || p.Query.StableBudget() != c.stable {
			t.Errorf("%s: %d tokens, %d stable, want %d and %d", name, p.Query.MaxTokens, p.Query.StableBudget(), c.most, c.stable)
		}
	}
}

func TestWhatIsAsked(t *testing.T) {
	kept := 50
	call := ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: "1", Name: "f"}}}
	result := ragctx.Message{Role: ragctx.RoleUser, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: "1", Content: ragctx.Text("data")}}}
	for name, c := range map[string]struct {
		r    assemble.Request
		want string
	}{
		"the query":                {assemble.Request{Context: ragctx.ContextQuery{Query: "q"}, Messages: []ragctx.Message{user("m")}}, "q"},
		"what the user said last":  {assemble.Request{Messages: []ragctx.Message{user("first"), user("second"), call, result}}, "second"},
		"nobody said anything":     {assemble.Request{Messages: []ragctx.Message{call, result}}, ""}, // unchanged
		"context that was kept":    {assemble.Request{Messages: []ragctx.Message{user("m")}, ContextTokens: &kept}, ""},
		"no room":                  {assemble.Request{Messages: []ragctx.Message{user("m")}, Budget: assemble.Budget{Window: 13, Reserve: -1}}, ""},
		"a document as the prompt": {assemble.Request{Messages: []ragctx.Message{user(strings.Repeat("é", ragctx.MaxQueryBytes))}}, strings.Repeat("é", ragctx.MaxQueryBytes/2)},
	} {
		if p := plan(t, c.r); p.Retrieve != (c.want != "") || p.Query.Query != c.want {
			t.Errorf("%s: ask %v, %d bytes", name, p.Retrieve, len(p.Query.Query))
		}
	}
}

func TestTools(t *testing.T) {
	tools := []json.RawMessage{[]byte(`{"name": "f"}`)} // 12 bytes and the frame
	for phase, want := range map[session.Phase]int{session.PhaseLoop: 12 + session.ToolOverhead, session.PhaseSynthesis: 0} {
		p := plan(t, assemble.Request{Tools: tools, Phase: phase})
		if got := p.Compose(assemble.Part{}, assemble.Part{}).Budget.Tools; got != want {
			t.Errorf("%s: %d tokens, want %d", phase, got, want)
		}
	}
}

func TestFaults(t *testing.T) {
	negative := -1
	for field, r := range map[string]assemble.Request{
		"phase":                 {Phase: "x"},
		"placement":             {Placement: "x"},
		"messages":              {Messages: make([]ragctx.Message, assemble.MaxMessages+1)},
		"tools":                 {Tools: make([]json.RawMessage, assemble.MaxTools+1)},
		"budget.window":         {Budget: assemble.Budget{Window: -1}},
		"budget.reserve_output": {Budget: assemble.Budget{Window: 10, Reserve: 10}},
		"budget.context_share":  {Budget: assemble.Budget{ContextShare: math.NaN()}},
		"tools_tokens":          {ToolsTokens: -1},
		"context_tokens":        {ContextTokens: &negative},
	} {
		var f *ragctx.FieldError
		if err := r.Validate(); !errors.As(err, &f) || f.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	_, err := assemble.Request{SystemPrompt: "much too long", Budget: assemble.Budget{Window: 10}}.Plan(bytesCounter{})
	if !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "the system prompt takes 17") {
		t.Errorf("a system prompt that does not fit: %v", err)
	}
}

// TestBudgetAddsUp: whatever is asked for and found, the parts make the sum, and only
// messages that must stay can exceed the window.
func TestBudgetAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z ]{0,40}`)
		r := assemble.Request{
			SystemPrompt: text.Draw(t, "system"), Phase: rapid.SampledFrom([]session.Phase{session.PhaseLoop, session.PhaseSynthesis}).Draw(t, "phase"),
			ToolsTokens: rapid.IntRange(0, 50).Draw(t, "tools"), Context: ragctx.ContextQuery{Query: "q", Spotlight: rapid.Bool().Draw(t, "spotlight")},
			Budget: assemble.Budget{Window: rapid.IntRange(1, 2000).Draw(t, "window"), Reserve: rapid.IntRange(-1, 100).Draw(t, "reserve"), ContextShare: rapid.Float64Range(0, 1).Draw(t, "share")},
		}
		for range rapid.IntRange(0, 12).Draw(t, "messages") {
			r.Messages = append(r.Messages, ragctx.TextMessage(rapid.SampledFrom([]ragctx.Role{ragctx.RoleUser, ragctx.RoleAssistant}).Draw(t, "role"), text.Draw(t, "text")))
		}
		if r.Validate() != nil {
			return
		}
		p, err := r.Plan(bytesCounter{})
		if err != nil {
			return
		}
		var stable, volatile assemble.Part
		if p.Retrieve {
			n := rapid.IntRange(0, p.Query.StableBudget()).Draw(t, "stable")
			stable = assemble.Part{Text: strings.Repeat("s", n), Tokens: n}
			n = rapid.IntRange(0, p.Query.MaxTokens-n).Draw(t, "volatile")
			volatile = assemble.Part{Text: strings.Repeat("v", n), Tokens: n}
		}
		res := p.Compose(stable, volatile)
		b := res.Budget
		if b.Used != b.System+b.Tools+b.Stable+b.Volatile+b.Messages || b.Over != max(b.Used+b.Reserved-b.Window, 0) || b.Messages != res.View.Tokens {
			t.Fatalf("budget %+v", b)
		}
		if last := session.LastInstruction(r.Messages); last >= 0 && !slices.Contains(res.View.Indexes, last) {
			t.Fatal("the newest instruction is gone")
		}
		if p.Retrieve && b.Over > 0 {
			t.Fatalf("context was looked for, and the call is %d over: %+v", b.Over, b)
		}
		if (b.Over > 0) != strings.Contains(res.Note, "exceed") {
			t.Fatalf("%d over, note %q", b.Over, res.Note)
		}
	})
}
