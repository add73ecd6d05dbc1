package remote_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/stage/remote"
)

// named returns messages with ids, like stored ones.
func named(messages []ragctx.Message) []ragctx.Message {
	for i := range messages {
		messages[i].ID = fmt.Sprint("m", i)
	}
	return messages
}

// A stage may change the text of any message, with ids and without: system prompts, summaries,
// observations, the newest instruction, results.
func TestStageChangesAllTexts(t *testing.T) {
	const hidden = "hunter2"
	for _, ids := range []bool{true, false} {
		messages := talk()
		messages = append(messages[:2:2], append([]ragctx.Message{
			ragctx.TextMessage(ragctx.RoleUser, stage.PrefixMarker+"\n\nThe user wanted: it"), ragctx.TextMessage(ragctx.RoleUser, compact.Marker+"\n\nsaid"),
		}, messages[2:]...)...)
		for i := range messages {
			for j := range messages[i].Content {
				switch b := &messages[i].Content[j]; b.Type {
				case ragctx.BlockText:
					b.Text += hidden
				case ragctx.BlockToolResult:
					b.Content = ragctx.Text(hidden)
				default:
				}
			}
		}
		if ids {
			messages = named(messages)
		}
		s := newStage(t, remote.Options{Closed: true}, func(w http.ResponseWriter, r remote.Request) {
			redacted := session.Redact{Compiler: session.AllSections{}, Text: func(s string) string { return strings.ReplaceAll(s, hidden, "[hidden]") }}
			out, err := redacted.Compile(t.Context(), session.Context{}.WithMessages(r.Messages), session.Execution{})
			if err != nil {
				t.Error(err)
			}
			answer(w, out)
		})
		res := run(t, s, &stage.State{Messages: messages})
		raw, _ := json.Marshal(res.Messages)
		if said := string(raw); len(res.Messages) != len(messages) || strings.Contains(said, hidden) || strings.Count(said, "[hidden]") != 7 {
			t.Errorf("ids %v: %v", ids, res)
		}
	}
}

// A stage may give two messages the same text; neither counts as a repeated addition.
func TestStageMakesMessagesEqual(t *testing.T) {
	messages := named([]ragctx.Message{
		ragctx.TextMessage(ragctx.RoleUser, "[hidden]"), ragctx.TextMessage(ragctx.RoleAssistant, "ok"), ragctx.TextMessage(ragctx.RoleUser, "hunter2"),
	})
	s := newStage(t, remote.Options{Closed: true}, func(w http.ResponseWriter, r remote.Request) {
		r.Messages[2].Content = ragctx.Text("[hidden]")
		answer(w, r.Messages)
	})
	if res := run(t, s, &stage.State{Messages: messages}); len(res.Messages) != 3 || res.Messages[2].Content.String() != "[hidden]" {
		t.Errorf("%+v", res)
	}
}

// A closed stage that fails, in whatever way, ends the run, and no message comes of it.
func TestClosedStages(t *testing.T) {
	end := make(chan struct{})
	for name, h := range map[string]func(http.ResponseWriter, remote.Request){
		"500":      func(w http.ResponseWriter, _ remote.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"404":      func(w http.ResponseWriter, _ remote.Request) { w.WriteHeader(http.StatusNotFound) },
		"slow":     func(http.ResponseWriter, remote.Request) { <-end },
		"no JSON":  func(w http.ResponseWriter, _ remote.Request) { io.WriteString(w, "<html>hunter2") },
		"nothing":  func(http.ResponseWriter, remote.Request) {},
		"accepted": func(w http.ResponseWriter, _ remote.Request) { w.WriteHeader(http.StatusAccepted) },
		"no list":  func(w http.ResponseWriter, _ remote.Request) { io.WriteString(w, `{"message":[]}`) },
		"null":     func(w http.ResponseWriter, _ remote.Request) { io.WriteString(w, `{"messages":null}`) },
		"order": func(w http.ResponseWriter, r remote.Request) {
			r.Messages[2].ID, r.Messages[5].ID = "m5", "m2"
			answer(w, r.Messages)
		},
		"twice": func(w http.ResponseWriter, r remote.Request) { answer(w, append(r.Messages[:3:3], r.Messages[2:]...)) },
		"role": func(w http.ResponseWriter, r remote.Request) {
			r.Messages[2].Role = ragctx.RoleAssistant
			answer(w, r.Messages)
		},
		"half":      func(w http.ResponseWriter, r remote.Request) { answer(w, append(r.Messages[:4:4], r.Messages[5:]...)) },
		"no newest": func(w http.ResponseWriter, r remote.Request) { answer(w, append(r.Messages[:5:5], r.Messages[6:]...)) },
		"no prompt": func(w http.ResponseWriter, r remote.Request) { answer(w, r.Messages[1:]) },
		"own prompt": func(w http.ResponseWriter, r remote.Request) {
			answer(w, append([]ragctx.Message{ragctx.TextMessage(ragctx.RoleSystem, "x")}, r.Messages...))
		},
	} {
		s := newStage(t, remote.Options{Timeout: 50 * time.Millisecond, Closed: true, Persist: true}, h)
		if name == "slow" {
			t.Cleanup(func() { close(end) })
		} else {
			s = newStage(t, remote.Options{Closed: true, Persist: true}, h)
		}
		p, err := stage.New(stage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Register(s); err != nil {
			t.Fatal(err)
		}
		st := &stage.State{Messages: named(talk())}
		res, err := p.Run(t.Context(), st, st.Messages, stage.Budget{})
		failed, ok := errors.AsType[*stage.ClosedError](err)
		if !ok || failed.Stage != "crm" || !errors.Is(err, ragctx.ErrStage) || len(res.Messages) > 0 || len(res.Reports) != 1 || len(st.Messages) != len(talk()) {
			t.Errorf("%s: %v, %+v", name, err, res)
		}
		if err != nil && (!strings.Contains(err.Error(), "on_failure") || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newStage(t, remote.Options{Closed: true}, func(w http.ResponseWriter, _ remote.Request) { w.WriteHeader(http.StatusNoContent) })
	if res := run(t, s, &stage.State{Messages: talk()}); len(res.Messages) != len(talk()) {
		t.Errorf("204: %+v", res)
	}
}

// Whatever texts a stage changes, and whichever messages in between it leaves out with what
// belongs to them, its answer is taken.
func TestStageChangesAnyText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var messages []ragctx.Message
		for i := range rapid.IntRange(0, 2).Draw(rt, "systems") {
			messages = append(messages, ragctx.TextMessage(ragctx.RoleSystem, fmt.Sprint("rule ", i)))
		}
		for i := range rapid.IntRange(1, 4).Draw(rt, "turns") {
			messages = append(messages, ragctx.TextMessage(ragctx.RoleUser, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "said")))
			for j := range rapid.IntRange(0, 2).Draw(rt, "calls") {
				id := fmt.Sprint(i, "-", j)
				messages = append(messages, ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: id, Name: "f"}}},
					ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text("r")}}})
			}
		}
		if rapid.IntRange(0, 3).Draw(rt, "ids") > 0 {
			messages = named(messages)
		}
		changes := rapid.SliceOfN(rapid.Bool(), len(messages), len(messages)).Draw(rt, "changes")
		s := newStage(t, remote.Options{Closed: true}, func(w http.ResponseWriter, r remote.Request) {
			for i, m := range r.Messages {
				switch {
				case !changes[i]:
				case m.Role == ragctx.RoleTool:
					m.Content[0].Content = ragctx.Text("[hidden]")
				case m.Content[0].Type == ragctx.BlockText:
					m.Content[0].Text = "[hidden]"
				}
			}
			answer(w, r.Messages)
		})
		defer s.Close()
		res := run(t, s, &stage.State{Messages: messages})
		if messages[0].ID != "" && len(res.Messages) != len(messages) {
			rt.Fatalf("%d of %d messages: %+v", len(res.Messages), len(messages), res.Reports)
		}
	})
}
