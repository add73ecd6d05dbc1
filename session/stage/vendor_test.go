package stage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/wire"
	"github.com/ragctx/ragctx/session/wire/pairing"
)

// wellFormed draws turns as the providers of models document them: a user speaks, an
// assistant calls some tools, all of them are answered right after that, in one message of
// the user or in one of a tool each, and at last the assistant speaks.
func wellFormed(t *rapid.T, name string) []ragctx.Message {
	long := strings.Repeat("a long thing to say about it ", 10)
	var out []ragctx.Message
	calls := 0
	for range rapid.IntRange(1, 5).Draw(t, name) {
		out = append(out, user(rapid.SampledFrom([]string{"go on", long}).Draw(t, "prompt")))
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			call, answers := ragctx.Message{Role: ragctx.RoleAssistant}, ragctx.Message{Role: ragctx.RoleUser}
			var each []ragctx.Message
			for range rapid.IntRange(1, 3).Draw(t, "parallel") {
				calls++
				id := fmt.Sprintf("%s-%d", name, calls)
				call.Content = append(call.Content, ragctx.Block{Type: ragctx.BlockToolUse, ID: id, Name: "f", Input: []byte(`{"path":"x.go"}`)})
				result := ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text(rapid.SampledFrom([]string{"ok", long}).Draw(t, "output"))}
				answers.Content = append(answers.Content, result)
				each = append(each, ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{result}})
			}
			out = append(out, call)
			if rapid.Bool().Draw(t, "form") {
				each = []ragctx.Message{answers}
			}
			out = append(out, each...)
		}
		out = append(out, ragctx.TextMessage(ragctx.RoleAssistant, long))
	}
	out = out[:len(out)-rapid.IntRange(0, 1).Draw(t, "open")]
	for i := range out {
		out[i].ID = fmt.Sprintf("%s%d", name, i)
	}
	return out
}

// vendorChecks are the rules of vendors, which share no code with the writers.
var vendorChecks = map[wire.Vendor]func([]json.RawMessage) error{
	wire.OpenAI: pairing.CheckOpenAI, wire.Anthropic: pairing.CheckAnthropic, wire.Gemini: pairing.CheckGemini,
}

// accepted fails if a list is not as the vendors document it.
func accepted(t *rapid.T, messages []ragctx.Message) {
	first := slices.IndexFunc(messages, func(m ragctx.Message) bool { return !session.IsSystem(m) })
	if first >= 0 && (messages[first].Role != ragctx.RoleUser || len(messages[first].ToolResults()) > 0) {
		t.Fatalf("the conversation begins with a message of %s: %s", messages[first].Role, texts(messages))
	}
	for vendor, check := range vendorChecks {
		c, _, err := wire.Write(vendor, messages)
		if err == nil {
			err = check(c.Messages)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", vendor, err, texts(messages))
		}
	}
}

func TestProvidersAcceptViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		notes := &stage.MemoryNotes{}
		observer, err := stage.NewObserver(notes, stage.ObserverOptions{MinMessages: 2, ReflectionThreshold: 3})
		if err != nil {
			t.Fatal(err)
		}
		p, err := stage.Builtin(stage.Options{Counter: words{}}, stage.BuiltinOptions{
			Observations: &stage.Observation{Notes: notes, KeepMessages: rapid.IntRange(-1, 6).Draw(t, "keep")},
			Compaction:   &compact.Options{Policy: rapid.SampledFrom([]compact.Policy{compact.Adaptive, compact.A3S}).Draw(t, "policy"), MinMessages: 1, KeepFirst: rapid.IntRange(-1, 4).Draw(t, "first"), KeepLast: rapid.IntRange(1, 8).Draw(t, "last")},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := &stage.State{Scope: scope, Messages: []ragctx.Message{system("You are an agent.")}}
		observed := rapid.Bool().Draw(t, "observed")
		for i := range rapid.IntRange(1, 4).Draw(t, "turns") {
			turn := wellFormed(t, fmt.Sprint("t", i))
			s.Persist(append(s.Messages, turn...))
			s.Used = 0
			res, err := p.Run(context.Background(), s, s.Messages, stage.Budget{Window: rapid.IntRange(1, 3000).Draw(t, "window"), Tokens: rapid.IntRange(0, 3000).Draw(t, "tokens")})
			if err != nil {
				t.Fatal(err)
			}
			accepted(t, res.Messages)
			if observed {
				if _, err := observer.Observe(context.Background(), scope, turn); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestProvidersAcceptBuffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := compact.NewBuffering(compact.BufferOptions{
			MessageTokens: rapid.IntRange(1, 400).Draw(t, "messages"), BufferTokens: rapid.IntRange(1, 400).Draw(t, "buffer"), Options: compact.Options{Counter: words{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var s compact.Sections
		for i := range rapid.IntRange(1, 4).Draw(t, "turns") {
			turn := wellFormed(t, fmt.Sprint("t", i))
			s.Messages = slices.Concat(s.Messages, turn)
			all := compact.Apply(slices.Concat(s.Summary, s.Buffer, s.Messages), nil)
			out, err := b.After(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			s = out.Sections
			view := compact.Apply(slices.Concat(s.Summary, s.Buffer, s.Messages), nil)
			accepted(t, view)
			if err := compact.VerifyContent(all, view); err != nil {
				t.Fatal(err)
			}
		}
	})
}
