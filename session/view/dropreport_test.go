package view_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

func call(id string, ids ...string) ragctx.Message {
	m := ragctx.Message{ID: id, Role: ragctx.RoleAssistant}
	for _, one := range ids {
		m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockToolUse, ID: one, Name: "f", Input: []byte(`{}`)})
	}
	return m
}

func answer(id, of string) ragctx.Message {
	return ragctx.Message{ID: id, Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: of, Content: ragctx.Text("so it is")}}}
}

func named(id string, m ragctx.Message) ragctx.Message {
	m.ID = id
	return m
}

// TestWhatIsLeftOut: each message that is not shown has a reason.
func TestWhatIsLeftOut(t *testing.T) {
	w := newWorld(t, view.Options{})
	user := func(id, text string) ragctx.Message { return named(id, ragctx.TextMessage(ragctx.RoleUser, text)) }
	appended := func(section string, step session.Step, messages ...ragctx.Message) {
		t.Helper()
		_, _, err := w.Append(t.Context(), key, view.AppendOptions{Section: section, Step: step}, messages...)
		w.must(err)
	}
	appended("notes", session.Step{}, user("n1", "A note."))
	appended("", session.Step{}, user("u1", "What is it?"), user("e1", ""), answer("o1", "nobody"))
	appended("", session.Step{ID: "1", Execution: session.Execution{ID: "run"}}, call("t1", "c1"), answer("t2", "c1"))
	appended("", session.Step{}, call("a1", "c2", "c3"), answer("a2", "c2"), user("u2", "Go on."), user("u3", "And now?"))
	type cut struct {
		id      string
		partial bool
		reason  session.Reason
	}
	cuts := func(list []view.Drop) (out []cut) {
		for _, c := range list {
			if c.Tokens <= 0 {
				t.Errorf("%s saves %d tokens", c.ID, c.Tokens)
			}
			out = append(out, cut{c.ID, c.Partial, c.Reason})
		}
		return out
	}
	hidden := func(list []view.DropTotal) map[session.Reason]int {
		out := make(map[session.Reason]int)
		for _, h := range list {
			if out[h.Reason] = h.Messages; h.Tokens <= 0 {
				t.Errorf("%s saves %d tokens", h.Reason, h.Tokens)
			}
		}
		return out
	}
	c, err := w.Compile(t.Context(), key, view.CompileOptions{})
	w.must(err)
	unsound := []cut{{"e1", false, session.ReasonEmpty}, {"o1", false, session.ReasonOrphanResult}, {"a1", true, session.ReasonUnanswered}}
	if got := cuts(c.Dropped); !slices.Equal(got, unsound) {
		t.Errorf("cut: %v", got)
	}
	if d := cmp.Diff(map[session.Reason]int{view.ReasonSection: 1, view.ReasonTrace: 2}, hidden(c.DropTotals)); d != "" {
		t.Errorf("hidden (-want +got):\n%s", d)
	}

	c, err = w.Compile(t.Context(), key, view.CompileOptions{MaxMessages: 1})
	w.must(err)
	if got := cuts(c.Dropped); !slices.Equal(got, []cut{
		{"u1", false, session.ReasonBudget},
		{"e1", false, session.ReasonEmpty},
		{"o1", false, session.ReasonOrphanResult},
		{"a1", false, session.ReasonBudget},
		{"a2", false, session.ReasonBudget},
		{"u2", false, session.ReasonBudget},
	}) {
		t.Errorf("limited, cut: %v", got)
	}

	v := w.view(view.ViewOptions{})
	if got := cuts(v.Dropped); !slices.Equal(got, unsound) || hidden(v.DropTotals)[view.ReasonTrace] != 2 {
		t.Errorf("viewed, cut: %v, %v", got, v.DropTotals)
	}

	store := session.Store{}.Append(session.SectionMessages, user("u1", "What is it?"), answer("o1", "nobody")).Append("notes", user("n1", "A note."))
	c, err = w.CompileStore(t.Context(), store, nil, view.CompileOptions{})
	w.must(err)
	if got := cuts(c.Dropped); !slices.Equal(got, []cut{{"o1", false, session.ReasonOrphanResult}}) || hidden(c.DropTotals)[view.ReasonSection] != 1 {
		t.Errorf("of a store, cut: %v, %v", got, c.DropTotals)
	}
}

// TestNothingIsLeftOfAPart: a message dropped in part, and then completely by a stage, is not
// listed as partial.
func TestNothingIsLeftOfAPart(t *testing.T) {
	w := newWorld(t, view.Options{Settings: view.Settings{Compaction: view.CompactionSettings{Disabled: true}}})
	waits := call("a1", "c1")
	waits.Content = append(ragctx.Text("Wait."), waits.Content...)
	_, _, err := w.Append(t.Context(), key, view.AppendOptions{}, named("u1", ragctx.TextMessage(ragctx.RoleUser, "What is it?")), waits,
		named("u2", ragctx.TextMessage(ragctx.RoleUser, "Go on.")))
	w.must(err)
	before := w.view(view.ViewOptions{}).Dropped
	if len(before) != 1 || before[0].ID != "a1" || !before[0].Partial || before[0].Reason != session.ReasonUnanswered {
		t.Errorf("shown in part: %+v", before)
	}
	v := w.view(view.ViewOptions{Compile: view.CompileOptions{MaxMessages: 1}})
	if len(v.Messages) != 1 || len(v.Dropped) != 1 || v.Dropped[0].ID != "a1" || v.Dropped[0].Partial || v.Dropped[0].Tokens <= before[0].Tokens {
		t.Errorf("truncated to %d: %+v", len(v.Messages), v.Dropped)
	}
}

// TestManyCalls: the rest of a message is found in one pass over its blocks, of which there may be
// many.
func TestManyCalls(t *testing.T) {
	w := newWorld(t, view.Options{})
	const n = 20_000
	calls, results := call("", ""), ragctx.Message{Role: ragctx.RoleTool}
	calls.Content = slices.Repeat(calls.Content, n)
	for i := range calls.Content {
		if calls.Content[i].ID = fmt.Sprint(i); i > 0 {
			results.Content = append(results.Content, answer("", calls.Content[i].ID).Content...)
		}
	}
	store := session.Store{}.Append(session.SectionMessages, ragctx.TextMessage(ragctx.RoleUser, "Go."), calls, results, ragctx.TextMessage(ragctx.RoleUser, "And?"))
	c, err := w.CompileStore(t.Context(), store, nil, view.CompileOptions{})
	w.must(err)
	if len(c.Dropped) != 1 || !c.Dropped[0].Partial || c.Dropped[0].Reason != session.ReasonUnanswered {
		t.Errorf("cut: %+v", c.Dropped)
	}
}

// sent draws a message that a client may send: blocks of all kinds, some of them empty, and calls
// with the same id.
func sent(t *rapid.T, n int) ragctx.Message {
	m := ragctx.Message{Role: rapid.SampledFrom([]ragctx.Role{ragctx.RoleUser, ragctx.RoleAssistant, ragctx.RoleTool, ragctx.RoleSystem}).Draw(t, "role")}
	for range rapid.IntRange(0, 4).Draw(t, "blocks") {
		b := ragctx.Block{Type: rapid.SampledFrom([]ragctx.BlockType{ragctx.BlockText, ragctx.BlockImage, ragctx.BlockToolUse, ragctx.BlockToolResult, ragctx.BlockVendor}).Draw(t, "type")}
		id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "call")
		switch b.Type {
		case ragctx.BlockText:
			b.Text = rapid.SampledFrom([]string{"", "so it is", fmt.Sprint("words ", n)}).Draw(t, "text")
		case ragctx.BlockImage:
			b.MediaType, b.Data = "image/png", make([]byte, n)
		case ragctx.BlockVendor:
			b.Form, b.Part = "anthropic", []byte(`{"type":"document"}`)
		case ragctx.BlockToolUse:
			b.ID, b.Name, b.Input = id, "f", []byte(`{}`)
		case ragctx.BlockToolResult:
			b.ToolUseID, b.Content = id, ragctx.Text(strings.Repeat("it failed. ", 20+n)) // to prune it saves something
		}
		m.Content = append(m.Content, b)
	}
	m.Reasoning = rapid.SampledFrom([]string{"", "hm"}).Draw(t, "reasoning")
	if rapid.Bool().Draw(t, "trace") {
		m.Metadata = map[string]any{ragctx.MetaIsTrace: true, ragctx.MetaExecutionID: "run"}
	}
	return m
}

// TestAllThatIsSentIsAccountedFor: each message of a store is shown, listed as dropped, or counted,
// and the costs add up, whatever the ids.
func TestAllThatIsSentIsAccountedFor(t *testing.T) {
	counter, err := tokens.New(view.DefaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	scale := session.Scale{Counter: counter}
	w := newWorld(t, view.Options{})
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SampledFrom([]string{"own", "shared", "none"}).Draw(t, "ids")
		var store session.Store
		n, left := 0, 0
		said := make(map[string]int) // how often, by id
		for _, name := range []string{session.SectionMessages, "notes"} {
			for range rapid.IntRange(0, 7).Draw(t, "messages") {
				m := sent(t, n)
				switch n++; ids {
				case "own":
					m.ID = fmt.Sprint("m", n)
				case "shared":
					m.ID = fmt.Sprint("m", n/3)
				}
				said[m.ID]++
				left += scale.Message(m)
				store = store.Append(name, m)
			}
		}
		var made []compact.Record
		if list := store.Section(session.SectionMessages).Messages; len(list) > 1 && rapid.Bool().Draw(t, "compacted") {
			r := compact.Record{ID: "r", Pruned: []compact.Pruned{{MessageID: list[1].ID}}}
			if ids == "own" {
				r.Summary, r.From, r.To = "It was said.", list[0].ID, list[len(list)/2].ID
			}
			made = append(made, r)
		}
		o := view.CompileOptions{
			Compiler:    rapid.SampledFrom(session.CompilerNames()).Draw(t, "compiler"),
			MaxMessages: rapid.IntRange(0, 4).Draw(t, "most messages"), MaxTokens: rapid.IntRange(0, 60).Draw(t, "most tokens"),
		}
		c, err := w.CompileStore(context.Background(), store, made, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Messages {
			if said[m.ID] > 0 {
				left -= scale.Message(m)
			} else if m.ID != "r" {
				t.Fatalf("%q is shown", m.ID)
			}
		}
		for _, cut := range c.Dropped {
			if cut.Reason == "" || said[cut.ID] == 0 && cut.ID != "r" {
				t.Fatalf("%+v", cut)
			}
			if cut.ID != "r" {
				left -= cut.Tokens
			}
		}
		for _, h := range c.DropTotals {
			left -= h.Tokens
		}
		if left != 0 {
			t.Fatalf("%d tokens are not accounted for: %+v, %+v", left, c.Dropped, c.DropTotals)
		}
	})
}

// TestRecordNamedAsAMessage: a record with the id of a message does not hide the message silently.
func TestRecordNamedAsAMessage(t *testing.T) {
	w := newWorld(t, view.Options{})
	long := named("m1", ragctx.TextMessage(ragctx.RoleUser, "What is it?"))
	long.Content = append(long.Content, ragctx.Text("And since when, and what does it do for anybody who has read this far?")...)
	store := session.Store{}.Append(session.SectionMessages, long, named("m2", ragctx.TextMessage(ragctx.RoleAssistant, "It is.")), named("m3", ragctx.TextMessage(ragctx.RoleUser, "Go on.")))
	c, err := w.CompileStore(t.Context(), store, []compact.Record{{ID: "m1", From: "m1", To: "m2", Summary: "So."}}, view.CompileOptions{})
	w.must(err)
	if len(c.Dropped) > 0 || len(c.DropTotals) != 1 && len(c.DropTotals) != 2 {
		t.Errorf("cut: %+v, hidden: %+v", c.Dropped, c.DropTotals)
	}
}

// TestAllIsAccountedFor: each message of a branch is shown, listed as dropped, or counted, and the
// costs add up, after compactions, stages and limits.
func TestAllIsAccountedFor(t *testing.T) {
	counter, err := tokens.New(view.DefaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	scale := session.Scale{Counter: counter}
	rapid.Check(t, func(t *rapid.T) {
		storage := session.NewMemory(session.Options{})
		o := view.Options{Storage: storage}
		if rapid.Bool().Draw(t, "stage") {
			o.Stages = []stage.Stage{noting{rapid.Bool().Draw(t, "ids")}}
		}
		s, err := view.New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err = storage.Create(ctx, key, session.Archive{}, "")
		must(err)
		runs := rapid.SampledFrom([]string{"", "a", "b"})
		for n := range rapid.IntRange(1, mostOperations()).Draw(t, "operations") {
			switch rapid.SampledFrom([]string{"say", "say", "empty", "note", "compact", "view"}).Draw(t, "operation") {
			case "say":
				_, _, err := s.Append(ctx, key, view.AppendOptions{Step: session.Step{Execution: session.Execution{ID: runs.Draw(t, "run")}}}, said(t, n)...)
				must(err)
			case "empty":
				_, _, err := s.Append(ctx, key, view.AppendOptions{}, ragctx.Message{Role: ragctx.RoleUser})
				must(err)
			case "note":
				_, _, err := s.Append(ctx, key, view.AppendOptions{Section: "notes"}, said(t, n)...)
				must(err)
			case "compact":
				_, err := s.Compact(ctx, key, view.CompactOptions{Window: rapid.IntRange(100, 2000).Draw(t, "window"), Execution: session.Execution{ID: runs.Draw(t, "run")}})
				must(err)
			case "view":
				_, err := s.View(ctx, key, view.ViewOptions{Budget: stage.Budget{Window: rapid.IntRange(200, 4000).Draw(t, "window")}})
				must(err)
			}
		}
		c, err := s.Compile(ctx, key, view.CompileOptions{
			Compiler: rapid.SampledFrom(session.CompilerNames()).Draw(t, "compiler"), Execution: session.Execution{ID: runs.Draw(t, "run")},
			MaxTokens: rapid.IntRange(0, 1000).Draw(t, "tokens"), MaxMessages: rapid.IntRange(0, 20).Draw(t, "messages"), Raw: rapid.Bool().Draw(t, "raw"),
		})
		must(err)
		branch, err := s.Branch(ctx, key, "")
		must(err)
		said, left := make(map[string]int), 0
		for _, e := range branch {
			said[e.Message.ID] = scale.Message(e.Message)
			left += said[e.Message.ID]
		}
		for _, m := range c.Messages {
			if _, ok := said[m.ID]; ok {
				left -= scale.Message(m)
				delete(said, m.ID)
			}
		}
		last := -1
		for _, cut := range c.Dropped {
			at := slices.IndexFunc(branch, func(e session.Entry) bool { return e.Message.ID == cut.ID })
			if at < 0 {
				continue // a summary, or a message added by a stage
			}
			if left -= cut.Tokens; cut.Reason == "" || at <= last {
				t.Fatalf("%+v at %d, after %d", cut, at, last)
			}
			if _, missing := said[cut.ID]; missing == cut.Partial {
				t.Fatalf("%+v", cut)
			}
			last = at
			delete(said, cut.ID)
		}
		many := 0
		for _, h := range c.DropTotals {
			left -= h.Tokens
			many += h.Messages
		}
		if left != 0 || len(said) > many {
			t.Fatalf("%d tokens and %d messages are not accounted for: %+v, %+v", left, len(said)-many, c.Dropped, c.DropTotals)
		}
	})
}

// A record names messages of the conversation: a copy of one in another section, or an equal
// id there, does not keep it from being applied.
func TestRecordBesideACopy(t *testing.T) {
	w := newWorld(t, view.Options{})
	said := func(id string, r ragctx.Role) ragctx.Message { return named(id, ragctx.TextMessage(r, "About "+id)) }
	talked := []ragctx.Message{said("m1", ragctx.RoleUser), said("m2", ragctx.RoleAssistant), said("m3", ragctx.RoleUser), said("m4", ragctx.RoleAssistant), said("m5", ragctx.RoleUser)}
	made := []compact.Record{{ID: "r", From: "m1", To: "m4", Summary: "So."}}
	for name, store := range map[string]session.Store{
		"Alone":  session.Store{}.Append(session.SectionMessages, talked...),
		"After":  session.Store{}.Append(session.SectionMessages, talked...).Append("pinned", talked[0]),
		"Before": session.Store{}.Append("pinned", talked[0], talked[3]).Append(session.SectionMessages, talked...),
	} {
		c, err := w.CompileStore(t.Context(), store, made, view.CompileOptions{})
		w.must(err)
		if got := texts(c.Messages); !strings.Contains(got, "So.") || strings.Contains(got, "m2") || !strings.Contains(got, "m5") {
			t.Errorf("%s: shown is %s", name, got)
		}
	}
}

// TestPrunedIsNoStage: an output that compaction has pruned is counted as that, in the call
// that prunes it and in the next ones.
func TestPrunedIsNoStage(t *testing.T) {
	w := newWorld(t, view.Options{})
	long := answer("t1", "c1")
	long.Content[0].Content = ragctx.Text(strings.Repeat("a line of the log\n", 4000))
	_, _, err := w.Append(t.Context(), key, view.AppendOptions{}, named("u1", ragctx.TextMessage(ragctx.RoleUser, "Why?")), call("a1", "c1"), long)
	w.must(err)
	for range 2 {
		v, err := w.View(t.Context(), key, view.ViewOptions{Budget: stage.Budget{Window: 8000}})
		w.must(err)
		if len(v.DropTotals) != 1 || v.DropTotals[0].Reason != view.ReasonPruned || v.DropTotals[0].Messages != 1 {
			t.Errorf("%+v", v.DropTotals)
		}
	}
}
