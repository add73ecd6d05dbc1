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
)

// conversation draws messages with calls that are answered, late, twice or never.
func conversation(t *rapid.T, name string) []ragctx.Message {
	id := rapid.SampledFrom([]string{"1", "2", "3"})
	said := rapid.SampledFrom([]string{"yes", "go on and never stop", strings.Repeat("a long thing to say ", 12)})
	out := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ragctx.Message {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: id.Draw(t, "id"), Name: "f", Input: []byte(`{}`)}}}
		case 1, 2:
			return ragctx.Message{Role: ragctx.RoleUser, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id.Draw(t, "id"), Content: ragctx.Text(said.Draw(t, "output"))}}}
		case 3:
			return ragctx.TextMessage(ragctx.RoleAssistant, said.Draw(t, "answer"))
		default:
			return ragctx.TextMessage(ragctx.RoleUser, said.Draw(t, "prompt"))
		}
	}), 0, 30).Draw(t, name)
	for i := range out {
		out[i].ID = fmt.Sprintf("%s%d", name, i)
	}
	return out
}

// TestPipelinedViews: after any number of runs the view is sound, keeps the newest instruction, and
// has at most one layer of compression; messages are not changed.
func TestPipelinedViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		notes := &stage.MemoryNotes{}
		observer, err := stage.NewObserver(notes, stage.ObserverOptions{MinMessages: 2, ReflectionThreshold: 3, Generator: noting})
		if err != nil {
			t.Fatal(err)
		}
		p, err := stage.Builtin(stage.Options{Counter: words{}}, stage.BuiltinOptions{
			Observations: &stage.Observation{Notes: notes, KeepMessages: rapid.IntRange(-1, 6).Draw(t, "keep")},
			Compaction:   &compact.Options{KeepLast: rapid.IntRange(1, 8).Draw(t, "last")},
			MaxMessages:  rapid.IntRange(0, 20).Draw(t, "most"),
		})
		if err != nil {
			t.Fatal(err)
		}
		layer := rapid.SampledFrom([]stage.Layer{stage.AnyLayer, stage.LayerObservation}).Draw(t, "layer")
		s := &stage.State{Scope: scope, Layer: layer, Messages: []ragctx.Message{system("You are an agent.")}}
		for i := range rapid.IntRange(1, 4).Draw(t, "turns") {
			turn := conversation(t, fmt.Sprint("turn", i))
			before, _ := json.Marshal(turn)
			s.Persist(append(s.Messages, turn...))
			s.Used = 0
			had := compact.Apply(s.Messages, nil)
			budget := stage.Budget{Window: rapid.IntRange(1, 2000).Draw(t, "window"), Tokens: rapid.IntRange(0, 2000).Draw(t, "tokens")}
			for range 2 {
				res, err := p.Run(context.Background(), s, s.Messages, budget)
				if err != nil {
					t.Fatal(err)
				}
				checkShown(t, had, res.Messages)
			}
			if after, _ := json.Marshal(turn); string(after) != string(before) {
				t.Fatal("the turn was changed")
			}
			if rapid.Bool().Draw(t, "observe") {
				if _, err := observer.Observe(context.Background(), scope, turn); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func checkShown(t *rapid.T, had, shown []ragctx.Message) {
	if err := compact.VerifyContent(had, shown); err != nil {
		t.Fatal(err)
	}
	prefixes, summaries := 0, 0
	for _, m := range shown {
		if strings.HasPrefix(m.Content.String(), stage.PrefixMarker) {
			prefixes++
		}
		if _, ok := compact.SummaryText(m); ok {
			summaries++
		}
	}
	if prefixes+summaries > 1 {
		t.Fatalf("%d prefixes of observations and %d summaries", prefixes, summaries)
	}
	if !slices.ContainsFunc(shown, session.IsSystem) {
		t.Fatal("the system prompt is gone")
	}
}
