package view_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// hiding is a stage that replaces a name in all that is said, in each call anew.
type hiding struct{ name string }

func (hiding) Name() string                                     { return "hiding" }
func (hiding) Priority() int                                    { return 15 }
func (hiding) EstimateTokens(context.Context, *stage.State) int { return 0 }

func (h hiding) Apply(ctx context.Context, _ *stage.State, messages []ragctx.Message, _ stage.Budget) ([]ragctx.Message, error) {
	redact := session.Redact{Compiler: session.AllSections{}, Text: func(s string) string { return strings.ReplaceAll(s, h.name, "[hidden]") }}
	return redact.Compile(ctx, session.Context{}.WithMessages(messages), session.Execution{})
}

// TestSummariesOfWhatStagesLeave: a pruned output is summarized later. Text hidden by a stage is in
// no summary, even if it is in the part of the output that no stage is shown.
func TestSummariesOfWhatStagesLeave(t *testing.T) {
	const name = "Wilhelmina"
	w := newWorld(t, view.Options{Stages: []stage.Stage{hiding{name}}})
	said := strings.Repeat(" Some more words of what is wanted here.", 12)
	output := "error: customer " + name + " was refused\n" + strings.Repeat("a line of the log\n", 80)
	summaries := 0
	for turn := range 40 {
		messages := []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, fmt.Sprint("Do step ", turn, said))}
		for call := range 3 {
			id := fmt.Sprint(turn, "-", call)
			messages = append(messages,
				ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: id, Name: "run", Input: []byte(`{}`)}}},
				ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, IsError: true, Content: ragctx.Text(output)}}})
		}
		for _, m := range append(messages, ragctx.TextMessage(ragctx.RoleAssistant, "Done."+said)) {
			_, _, err := w.Append(t.Context(), key, view.AppendOptions{}, m)
			w.must(err)
			v, err := w.View(t.Context(), key, view.ViewOptions{Budget: stage.Budget{Window: 9000}})
			w.must(err)
			for _, shown := range v.Messages {
				if _, ok := compact.SummaryText(shown); ok {
					summaries++
				}
				if text := fmt.Sprint(shown.Content); strings.Contains(text, name) {
					t.Fatalf("turn %d: what is hidden is shown: %s", turn, text)
				}
			}
		}
	}
	if summaries == 0 {
		t.Error("nothing was summarised")
	}
}
