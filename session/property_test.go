package session_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// conversation draws messages with calls that are nested, parallel, answered late, twice,
// by the wrong role, or never, and results that answer nothing. Ids are few, so that they
// come again.
func conversation(t *rapid.T) []ragctx.Message {
	id := rapid.SampledFrom([]string{"1", "2", "3", "4"})
	block := rapid.Custom(func(t *rapid.T) ragctx.Block {
		switch rapid.SampledFrom([]string{"text", "use", "use", "result", "result", "image"}).Draw(t, "kind") {
		case "use":
			return ragctx.Block{Type: ragctx.BlockToolUse, ID: id.Draw(t, "id"), Name: "f", Input: json.RawMessage(`{"a":1}`)}
		case "result":
			return ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: id.Draw(t, "id"), Content: ragctx.Text("done")}
		case "image":
			return ragctx.Block{Type: ragctx.BlockImage, Data: []byte("x")}
		default:
			return ragctx.Block{Type: ragctx.BlockText, Text: rapid.SampledFrom([]string{"", "yes", "go on", "a longer thing to say"}).Draw(t, "text")}
		}
	})
	roles := []ragctx.Role{ragctx.RoleUser, ragctx.RoleUser, ragctx.RoleAssistant, ragctx.RoleAssistant, ragctx.RoleTool, ragctx.RoleSystem}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ragctx.Message {
		m := ragctx.Message{Role: rapid.SampledFrom(roles).Draw(t, "role")}
		if rapid.Bool().Draw(t, "plain") && m.Role != ragctx.RoleTool {
			m.Content = ragctx.Text("word")
			return m
		}
		m.Content = rapid.SliceOfN(block, 0, 3).Draw(t, "content")
		return m
	}), 0, 24).Draw(t, "conversation")
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
					t.Fatalf("message %d calls %s, which nobody answers: %s", i, b.ID, words(view))
				}
				open[b.ID] = i
			case ragctx.BlockToolResult:
				if _, called := open[b.ToolUseID]; !called || m.Role == ragctx.RoleAssistant || session.IsSystem(m) {
					t.Fatalf("message %d answers %s, which nobody called: %s", i, b.ToolUseID, words(view))
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
				t.Fatalf("the call %s was passed over: %s", id, words(view))
			}
		}
	}
}

func TestTruncatedViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := conversation(t)
		before, _ := json.Marshal(messages)
		l := session.Limits{Tokens: rapid.IntRange(0, 400).Draw(t, "budget"), Scale: scale}
		v, sound := session.Truncate(messages, l), session.Sound(messages, l)
		checkPairs(t, v.Messages)
		checkPairs(t, sound.Messages)
		checkAccounts(t, messages, v, l)
		checkStart(t, sound, v)
		if i := session.LastInstruction(messages); i >= 0 && !slices.Contains(v.Indexes, i) {
			t.Fatalf("the newest instruction %d is not in %v", i, v.Indexes)
		}
		if again := session.Truncate(v.Messages, l); words(again.Messages) != words(v.Messages) {
			t.Fatalf("a view is cut again: %s, then %s", words(v.Messages), words(again.Messages))
		}
		l.Tokens += rapid.IntRange(0, 100).Draw(t, "more")
		for _, i := range v.Indexes {
			if more := session.Truncate(messages, l); !slices.Contains(more.Indexes, i) {
				t.Fatalf("with more tokens %d is gone: %v, then %v", i, v.Indexes, more.Indexes)
			}
		}
		if after, _ := json.Marshal(messages); string(after) != string(before) {
			t.Fatal("the conversation was changed")
		}
	})
}

// checkAccounts fails if a message is neither shown nor accounted for, or the figures do
// not add up.
func checkAccounts(t *rapid.T, messages []ragctx.Message, v session.View, l session.Limits) {
	whole, cut := 0, 0
	for _, m := range messages {
		whole += l.Scale.Message(m)
	}
	all := slices.Clone(v.Indexes)
	for _, c := range v.Dropped {
		cut += c.Tokens
		if !c.Partial {
			all = append(all, c.Index)
		} else if !slices.Contains(v.Indexes, c.Index) {
			t.Fatalf("message %d is cut in part and gone: %+v", c.Index, v.Dropped)
		}
	}
	slices.Sort(all)
	for i := range messages {
		if i >= len(all) || all[i] != i {
			t.Fatalf("%d messages, of which %v are shown and %+v cut", len(messages), v.Indexes, v.Dropped)
		}
	}
	tokens := 0
	for _, m := range v.Messages {
		tokens += l.Scale.Message(m)
	}
	if v.Tokens != tokens || v.Over != max(tokens-l.Tokens, 0) || tokens+cut != whole {
		t.Fatalf("%d of %d tokens, %d cut, over %d; the view says %d", tokens, whole, cut, v.Over, v.Tokens)
	}
	if !slices.IsSorted(v.Indexes) || len(v.Indexes) != len(v.Messages) {
		t.Fatalf("kept %v", v.Indexes)
	}
}

// checkStart fails if a view that was cut begins with something that only continues,
// though it need not.
func checkStart(t *rapid.T, sound, v session.View) {
	i := slices.IndexFunc(v.Messages, func(m ragctx.Message) bool { return !session.IsSystem(m) })
	if i < 0 || len(v.Messages) == len(sound.Messages) {
		return
	}
	if len(v.Messages[i].ToolResults()) > 0 {
		t.Fatalf("the view begins with a result: %s", words(v.Messages))
	}
	if v.Messages[i].Role == ragctx.RoleUser {
		return
	}
	last := session.LastInstruction(v.Messages)
	for _, g := range session.Groups(v.Messages) {
		if g.From <= i && last < g.To && (last < 0 || g.From <= last) {
			return // the instruction itself is in its group, or there is no instruction
		}
	}
	t.Fatalf("the view begins with %s: %s", v.Messages[i].Role, words(v.Messages))
}

// A cut between groups separates nothing, and groups cannot be smaller.
func TestGroupsAreTheShortestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sound := session.Sound(conversation(t), session.Limits{Scale: scale}).Messages
		groups := session.Groups(sound)
		at := 0
		for _, g := range groups {
			if g.From != at || g.To <= g.From {
				t.Fatalf("groups %v", groups)
			}
			at = g.To
			for cut := g.From + 1; cut < g.To; cut++ {
				if crossing(sound[cut:]) == "" {
					t.Fatalf("%s could be cut before %d", words(sound[g.From:g.To]), cut-g.From)
				}
			}
			if id := crossing(sound[g.To:]); id != "" {
				t.Fatalf("the cut after %v separates %s: %s", g, id, words(sound))
			}
		}
		if at != len(sound) {
			t.Fatal(cmp.Diff(len(sound), at))
		}
	})
}

// crossing returns the id of a result in the rest of a sound conversation without its call.
func crossing(after []ragctx.Message) string {
	called := make(map[string]bool)
	for _, m := range after {
		for _, b := range m.Content {
			switch b.Type {
			case ragctx.BlockToolUse:
				called[b.ID] = true
			case ragctx.BlockToolResult:
				if !called[b.ToolUseID] {
					return b.ToolUseID
				}
			default:
			}
		}
	}
	return ""
}
