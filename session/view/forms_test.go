package view_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/assemble"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
	"github.com/ragctx/ragctx/session/wire"
)

// anyTalk draws messages with calls that are nested, parallel, answered late, twice, by the
// wrong role, or never, and results that answer nothing; some are traces of an execution.
func anyTalk(t *rapid.T, name string) []ragctx.Message {
	id := rapid.SampledFrom([]string{"1", "2", "3", "call 4"})
	block := rapid.Custom(func(t *rapid.T) ragctx.Block {
		switch rapid.SampledFrom([]string{"text", "use", "use", "result", "result"}).Draw(t, "kind") {
		case "use":
			return ragctx.Block{Type: ragctx.BlockToolUse, ID: id.Draw(t, "id"), Name: "f", Input: json.RawMessage(`{"a":1}`)}
		case "result":
			return ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: id.Draw(t, "id"), Content: ragctx.Text(strings.Repeat("done ", rapid.IntRange(1, 60).Draw(t, "size")))}
		default:
			return ragctx.Block{Type: ragctx.BlockText, Text: rapid.SampledFrom([]string{"yes", "go on with it", "We decided to leave it as it is, and to look again later."}).Draw(t, "text")}
		}
	})
	roles := []ragctx.Role{ragctx.RoleUser, ragctx.RoleUser, ragctx.RoleAssistant, ragctx.RoleAssistant, ragctx.RoleTool}
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ragctx.Message {
		m := ragctx.Message{Role: rapid.SampledFrom(roles).Draw(t, "role"), Content: rapid.SliceOfN(block, 1, 3).Draw(t, "content")}
		if m.Role == ragctx.RoleAssistant && rapid.Bool().Draw(t, "trace") {
			m.Metadata = map[string]any{ragctx.MetaIsTrace: true, ragctx.MetaExecutionID: rapid.SampledFrom([]string{"e1", "e2"}).Draw(t, "execution")}
		}
		return m
	}), 1, 30).Draw(t, name)
	for i := range list {
		list[i].ID = fmt.Sprint(name, i)
	}
	return list
}

// taken fails if a vendor would refuse a list, in its own form, with or without marks of a
// cache.
func taken(t *rapid.T, what string, messages []ragctx.Message) {
	for v, check := range vendorChecks {
		c, _, err := wire.Write(v, messages)
		if err != nil {
			t.Fatal(what, v, err)
		}
		if v == wire.Anthropic {
			c = wire.WithCacheMarks(c, true, nil)
		}
		if err := check(c.Messages); err != nil {
			b, _ := json.Marshal(messages)
			t.Fatalf("%s refuses %s: %v\nof %s\nsent %s", v, what, err, b, c.Messages)
		}
	}
}

// instructed fails if the newest instruction is not shown. A summary is no instruction; without any
// instruction another message may be last.
func instructed(t *rapid.T, what string, whole, shown []ragctx.Message) {
	i := session.LastInstruction(whole)
	if i < 0 {
		return
	}
	if _, ok := compact.SummaryText(whole[i]); ok {
		return
	}
	words := whole[i].Content.String()
	if at := session.LastInstruction(shown); at < 0 || !strings.HasSuffix(shown[at].Content.String(), words) {
		t.Fatalf("%s: %q is not what is said last", what, words)
	}
}

// For any conversation each vendor accepts the view, it is within the budget unless essential
// messages exceed it, and it has the newest instruction. The conversation is stored as JSON in
// between.
func TestVendorsTakeWhatIsShown(t *testing.T) {
	counter, err := tokens.New(view.DefaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s, err := view.New(view.Options{Storage: session.NewMemory(session.Options{}), Notes: &stage.MemoryNotes{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, k := t.Context(), session.Key{ID: "s"}
		layer := rapid.SampledFrom([]stage.Layer{stage.AnyLayer, stage.LayerCompaction, stage.LayerObservation, stage.LayerBuffer, stage.LayerNone}).Draw(t, "layer")
		if _, err := s.Create(ctx, k, view.CreateOptions{Layer: layer}); err != nil {
			t.Fatal(err)
		}
		execution := session.Execution{ID: rapid.SampledFrom([]string{"", "e1"}).Draw(t, "execution")}
		for i := range rapid.IntRange(1, 3).Draw(t, "times") {
			if _, _, err := s.Append(ctx, k, view.AppendOptions{}, anyTalk(t, fmt.Sprint("m", i, "-"))...); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "observed") {
				if _, err := s.Observe(ctx, k); err != nil {
					t.Fatal(err)
				}
			}
			checkCompiled(t, s, k, execution)
			checkAssembled(t, s, k, counter, execution)
			if layer == stage.LayerCompaction && rapid.Bool().Draw(t, "compacted") {
				if _, err := s.Compact(ctx, k, view.CompactOptions{Window: rapid.IntRange(50, 2000).Draw(t, "window"), Policy: rapid.SampledFrom([]compact.Policy{compact.Adaptive, compact.A3S}).Draw(t, "policy")}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// checkCompiled checks the views of each compiler, with and without limits.
func checkCompiled(t *rapid.T, s *view.Service, k session.Key, e session.Execution) {
	for _, name := range session.CompilerNames() {
		o := view.CompileOptions{Compiler: name, Execution: e}
		whole, err := s.Compile(t.Context(), k, o)
		if err != nil {
			t.Fatal(err)
		}
		taken(t, name, whole.Messages)
		o.MaxTokens, o.MaxMessages = rapid.IntRange(0, 400).Draw(t, "tokens"), rapid.IntRange(0, 20).Draw(t, "messages")
		part, err := s.Compile(t.Context(), k, o)
		if err != nil {
			t.Fatal(err)
		}
		taken(t, name+" with limits", part.Messages)
		instructed(t, name, whole.Messages, part.Messages)
		if o.MaxTokens > 0 && part.Over == 0 && part.Tokens > o.MaxTokens {
			t.Fatalf("%s: %d tokens of %d", name, part.Tokens, o.MaxTokens)
		}
	}
}

// checkAssembled checks a call assembled from the output of the stages.
func checkAssembled(t *rapid.T, s *view.Service, k session.Key, counter ragctx.Counter, e session.Execution) {
	r := assemble.Request{
		SystemPrompt: "You are an agent.", Placement: rapid.SampledFrom([]assemble.Placement{assemble.Blocks, assemble.Prepend, assemble.Inline}).Draw(t, "placement"),
		Budget: assemble.Budget{Window: rapid.IntRange(60, 3000).Draw(t, "window"), Reserve: -1},
	}
	window, fixed := r.Fixed(counter)
	whole, err := s.Compile(t.Context(), k, view.CompileOptions{Execution: e})
	if err != nil {
		t.Fatal(err)
	}
	view, err := s.View(t.Context(), k, view.ViewOptions{Budget: stage.Budget{Window: window, Fixed: fixed}, Compile: view.CompileOptions{Execution: e}})
	if err != nil {
		t.Fatal(err)
	}
	taken(t, "what the stages leave", view.Messages)
	r.Messages, r.Costs = view.Messages, view.Costs
	plan, err := r.Plan(counter)
	if err != nil {
		return // the window has no room at all
	}
	var stable, volatile assemble.Part
	if plan.Retrieve {
		stable, volatile = part(counter, "always ", plan.Query.StableBudget()), part(counter, "found ", max(plan.Query.MaxTokens-plan.Query.StableBudget(), 0))
	}
	res := plan.Compose(stable, volatile)
	taken(t, "the call", slices.Concat([]ragctx.Message{ragctx.TextMessage(ragctx.RoleSystem, res.SystemPrompt)}, res.View.Messages))
	instructed(t, "the call", whole.Messages, res.View.Messages)
	cost := session.Scale{Counter: counter}
	sent := session.MessageOverhead + counter.Count(res.SystemPrompt)
	for _, m := range res.View.Messages {
		sent += cost.Message(m)
	}
	if r.Placement == assemble.Blocks {
		sent += stable.Tokens + volatile.Tokens
	}
	if b := res.Budget; sent > b.Used+8 || b.Over == 0 && b.Used > b.Window {
		t.Fatalf("%d tokens are sent; the budget says %+v", sent, b)
	}
}

// part is a context of at most so many tokens.
func part(c ragctx.Counter, word string, most int) assemble.Part {
	text := strings.TrimSpace(strings.Repeat(word, most/2))
	return assemble.Part{Text: text, Tokens: c.Count(text)}
}
