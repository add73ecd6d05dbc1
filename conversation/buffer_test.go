package conversation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/conversation"
	"github.com/ragctx/ragctx/pipeline"
	"github.com/ragctx/ragctx/session"
)

// With the layer buffer the question and the newest exchange are always shown, whatever they
// cost, and every message is shown, in a section, or behind the summary that counts it.
func TestBufferShowsTheNewestExchange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, conversation.Options{})
		w.must(w.SetLayer(t.Context(), key, pipeline.LayerBuffer))
		words := rapid.SampledFrom([]int{3, 300, 3000, 5000, 12_000})
		text := func(name string) string { return name + strings.Repeat(" word", words.Draw(rt, "words")) }
		said, question := 0, ""
		for i := range rapid.IntRange(1, 5).Draw(rt, "turns") {
			question = fmt.Sprintf("question%d", i)
			turn := []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, text(question))}
			var newest []string
			for j := range rapid.IntRange(0, 2).Draw(rt, "calls") {
				id := fmt.Sprintf("%d-%d", i, j)
				newest = []string{id}
				turn = append(turn,
					ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: id, Name: "look"}}},
					ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text(text("result"))}}})
			}
			if rapid.Bool().Draw(rt, "answered") {
				turn, newest = append(turn, ragctx.TextMessage(ragctx.RoleAssistant, text("answer"))), nil
			}
			w.append(turn...)
			said += len(turn)
			v := w.view(conversation.ViewOptions{})
			shown := texts(v.Messages)
			if !strings.Contains(shown, question) {
				rt.Fatalf("%s is lost: %.500s", question, shown)
			}
			for _, id := range newest {
				if !slices.ContainsFunc(v.Messages, func(m ragctx.Message) bool {
					return slices.ContainsFunc(m.ToolResults(), func(b ragctx.Block) bool { return b.ToolUseID == id })
				}) {
					rt.Fatalf("the result %s is lost: %.500s", id, shown)
				}
			}
			if !session.IsSound(v.Messages) {
				rt.Fatalf("no provider takes %.500s", shown)
			}
			there := len(v.Cuts)
			for _, m := range v.Messages {
				if m.Metadata[conversation.MetaThrough] == nil {
					there++
				}
			}
			for _, h := range v.Hidden {
				there += h.Messages
			}
			if there != said {
				rt.Fatalf("%d of %d messages are in a list: %+v, %+v", there, said, v.Cuts, v.Hidden)
			}
			raw := w.compiled(conversation.CompileOptions{Raw: true})
			if len(raw) != said {
				rt.Fatalf("%d of %d messages were said", len(raw), said)
			}
		}
	})
}
