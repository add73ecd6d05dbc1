package view_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// With the layer buffer the question and the newest exchange are always shown, whatever they
// cost, and every message is shown, in a section, or behind the summary that counts it.
func TestBufferShowsTheNewestExchange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, view.Options{})
		w.setLayer(stage.LayerBuffer)
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
			v := w.view(view.ViewOptions{})
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
			there := len(v.Dropped)
			for _, m := range v.Messages {
				if m.Metadata[view.MetaThrough] == nil {
					there++
				}
			}
			for _, h := range v.DropTotals {
				there += h.Messages
			}
			if there != said {
				rt.Fatalf("%d of %d messages are in a list: %+v, %+v", there, said, v.Dropped, v.DropTotals)
			}
			raw := w.compiled(view.CompileOptions{Raw: true})
			if len(raw) != said {
				rt.Fatalf("%d of %d messages were said", len(raw), said)
			}
		}
	})
}

// Changes of the buffer policy are undone one by one, also after later messages.
func TestBufferIsUndone(t *testing.T) {
	for name, storage := range map[string]func() session.Storage{
		"memory": func() session.Storage { return nil }, "sqlite": func() session.Storage { return onDisk(t).Sessions(session.Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, view.Options{Storage: storage()})
			w.setLayer(stage.LayerBuffer)
			type state struct{ shown, sections string }
			now := func() state {
				d, err := w.Describe(t.Context(), key)
				w.must(err)
				counts := make(map[string]int)
				for _, one := range d.Sections {
					if one.Messages > 0 {
						counts[one.Name] = one.Messages
					}
				}
				return state{texts(w.compiled(view.CompileOptions{})), fmt.Sprint(counts)}
			}
			var before []state
			for i := range 6 {
				w.append(talk(i*20, 20, 60)...)
				was := now()
				v := w.view(view.ViewOptions{})
				if len(v.Records) > 0 {
					before = append(before, was)
				}
			}
			if len(before) < 4 {
				t.Fatalf("only %d changes", len(before))
			}
			whole := texts(w.compiled(view.CompileOptions{Raw: true}))
			w.append(ragctx.TextMessage(ragctx.RoleUser, "said since"))
			since := 1
			for i, want := range slices.Backward(before) {
				undone, _, err := w.Undo(t.Context(), key, session.Condition{})
				w.must(err)
				if !strings.Contains(string(undone.Record), `"buffer"`) {
					t.Errorf("%d: undone %s", i, undone.Record)
				}
				got := now()
				if got.shown[:len(want.shown)] != want.shown {
					t.Fatalf("%d: %d messages' texts differ: %.300s, want %.300s", i, since, got.shown, want.shown)
				}
				if got := texts(w.compiled(view.CompileOptions{Raw: true})); got != whole+"|said since" {
					t.Fatalf("%d: raw is not what was said", i)
				}
			}
			if got := now(); got.shown != whole+"|said since" || strings.Contains(got.sections, "summar") || strings.Contains(got.sections, "buffer") {
				t.Errorf("%s", got.sections)
			}
			if _, _, err := w.Undo(t.Context(), key, session.Condition{}); !errors.Is(err, ragctx.ErrNotFound) {
				t.Errorf("nothing to undo: %v", err)
			}
		})
	}
}

// Messages moved on another branch, or removed since, are not restored.
func TestBufferOfAnotherBranchIsNotUndone(t *testing.T) {
	w := newWorld(t, view.Options{})
	w.setLayer(stage.LayerBuffer)
	first := w.say("a", "b")
	w.append(talk(0, 60, 60)...)
	w.view(view.ViewOptions{})
	w.must(navigate(w.storage, key, first[0].ID))
	w.say("elsewhere")
	before := texts(w.compiled(view.CompileOptions{}))
	if _, _, err := w.Undo(t.Context(), key, session.Condition{}); !errors.Is(err, ragctx.ErrConflict) || !strings.Contains(err.Error(), "another branch") {
		t.Errorf("undone: %v", err)
	}
	w.setLayer(stage.AnyLayer) // and then the record is no hindrance to older ones
	if _, _, err := w.Undo(t.Context(), key, session.Condition{}); err != nil {
		t.Error(err)
	}
	if got := texts(w.compiled(view.CompileOptions{})); got != before {
		t.Errorf("%.300s", got)
	}
}
