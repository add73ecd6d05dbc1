package compact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// words counts words, so that costs are easy to see.
type words struct{}

func (words) Name() string       { return "words" }
func (words) Count(s string) int { return len(strings.Fields(s)) }

var scale = session.Scale{Counter: words{}}

// options returns options with a fixed clock and fixed ids.
func options(o compact.Options) compact.Options {
	n := 0
	o.Counter = words{}
	o.Now = func() time.Time { return time.Unix(1e9, 0).UTC() }
	o.NewID = func() string { n++; return fmt.Sprintf("c%d", n) }
	return o
}

func compactor(t testing.TB, o compact.Options) *compact.Compactor {
	t.Helper()
	c, err := compact.New(options(o))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// talk returns n messages, of a user and an assistant in turns.
func talk(n int) []ragctx.Message {
	var out []ragctx.Message
	for i := range n {
		m := ragctx.TextMessage(ragctx.RoleUser, fmt.Sprintf("Please do step %d of the plan for the release that we spoke about yesterday.", i))
		if i%2 == 1 {
			m = ragctx.TextMessage(ragctx.RoleAssistant, fmt.Sprintf("Step %d is done, the tests of it pass and I have written down what changed.", i))
		}
		m.ID = fmt.Sprintf("m%d", i)
		out = append(out, m)
	}
	return out
}

func use(id, tool, input string) ragctx.Message {
	return ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: id, Name: tool, Input: json.RawMessage(input)}}}
}

func result(id, output string) ragctx.Message {
	return ragctx.Message{Role: ragctx.RoleUser, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text(output)}}}
}

// numbered gives messages ids.
func numbered(messages []ragctx.Message) []ragctx.Message {
	for i := range messages {
		messages[i].ID = fmt.Sprintf("m%d", i)
	}
	return messages
}

// model is a generator with a given answer that records its requests.
type model struct {
	says  func(context.Context) (string, error)
	asked []llm.Request
}

func (m *model) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	m.asked = append(m.asked, r)
	text, err := m.says(ctx)
	return llm.Response{Text: text, Usage: llm.Usage{PromptTokens: 7, CompletionTokens: 3}}, err
}

func always(text string) *model {
	return &model{says: func(context.Context) (string, error) { return text, nil }}
}

// conversation draws messages with calls that are nested, parallel, answered late, twice,
// by the wrong role, or never, results that answer nothing, and summaries of before.
func conversation(t *rapid.T) []ragctx.Message {
	id := rapid.SampledFrom([]string{"1", "2", "3", "4"})
	text := rapid.SampledFrom([]string{
		"", "yes", "go on and never touch the database", "We decided to use the second plan.", "error: it failed",
		"A longer thing to say about the plan: " + strings.Repeat("more and more of it ", 12),
	})
	block := rapid.Custom(func(t *rapid.T) ragctx.Block {
		switch rapid.SampledFrom([]string{"text", "use", "use", "result", "result", "image"}).Draw(t, "kind") {
		case "use":
			return ragctx.Block{Type: ragctx.BlockToolUse, ID: id.Draw(t, "id"), Name: "read_file", Input: json.RawMessage(`{"path":"a/b.go"}`)}
		case "result":
			return ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: id.Draw(t, "id"), Content: ragctx.Text(text.Draw(t, "output"))}
		case "image":
			return ragctx.Block{Type: ragctx.BlockImage, Data: []byte("x")}
		default:
			return ragctx.Block{Type: ragctx.BlockText, Text: text.Draw(t, "text")}
		}
	})
	roles := []ragctx.Role{ragctx.RoleUser, ragctx.RoleUser, ragctx.RoleAssistant, ragctx.RoleAssistant, ragctx.RoleTool, ragctx.RoleSystem}
	return numbered(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ragctx.Message {
		m := ragctx.Message{Role: rapid.SampledFrom(roles).Draw(t, "role")}
		switch rapid.IntRange(0, 20).Draw(t, "form") {
		case 0:
			return ragctx.TextMessage(ragctx.RoleUser, compact.Marker+"\n\n## Goal\nan old goal\n## Files\n- old.go")
		case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
			if m.Role != ragctx.RoleTool {
				m.Content = ragctx.Text(text.Draw(t, "plain"))
				return m
			}
		}
		m.Content = rapid.SliceOfN(block, 0, 3).Draw(t, "content")
		return m
	}), 0, 40).Draw(t, "conversation"))
}

// checkPairs fails if a result has no call before it, or a call is neither answered after
// it nor of the assistant's last turn. It knows nothing of how views are made.
func checkPairs(t *rapid.T, view []ragctx.Message) {
	open := make(map[string]int) // calls that are not answered, by id: where
	for i, m := range view {
		for _, b := range m.Content {
			switch b.Type {
			case ragctx.BlockToolUse:
				if _, twice := open[b.ID]; twice || m.Role != ragctx.RoleAssistant {
					t.Fatalf("message %d calls %s, which nobody answers", i, b.ID)
				}
				open[b.ID] = i
			case ragctx.BlockToolResult:
				if _, called := open[b.ToolUseID]; !called || m.Role == ragctx.RoleAssistant {
					t.Fatalf("message %d answers %s, which nobody called", i, b.ToolUseID)
				}
				delete(open, b.ToolUseID)
			default:
			}
		}
	}
	for id, at := range open {
		for _, m := range view[at:] {
			answers := m.Role == ragctx.RoleTool || m.Role == ragctx.RoleUser && strings.TrimSpace(m.Content.String()) == "" && len(m.ToolResults()) > 0
			if m.Role != ragctx.RoleAssistant && !session.IsSystem(m) && !answers {
				t.Fatalf("the call %s was passed over", id)
			}
		}
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
