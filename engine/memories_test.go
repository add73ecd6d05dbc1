package engine_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

func (f *fixture) remember(m ragctx.Memory) (ragctx.Memory, store.Status) {
	f.t.Helper()
	m, st, err := f.Memories().Put(f.t.Context(), m)
	if err != nil {
		f.t.Fatal(err)
	}
	return m, st
}

// TestRecallHeedsTheQuery: without a text a query narrows as it does with one.
func TestRecallHeedsTheQuery(t *testing.T) {
	f := open(t)
	f.remember(ragctx.Memory{ID: "a", Content: "walrus one", Importance: .5, Tags: []string{"k"}, Metadata: map[string]any{"n": 1234567.}})
	first, _ := f.remember(ragctx.Memory{ID: "b", Content: "walrus two", Importance: .9})
	f.clock.set(t0.Add(time.Hour))
	f.remember(ragctx.Memory{ID: "c", Content: "walrus three", Importance: 1})
	if err := f.Memories().Delete(t.Context(), "", "a", "", true); err != nil {
		t.Fatal(err)
	}
	then := first.Recorded
	for _, c := range []struct {
		change func(*ragctx.ContextQuery)
		want   []string
	}{
		{func(*ragctx.ContextQuery) {}, []string{"b", "c"}},
		{func(q *ragctx.ContextQuery) { q.AsOf = then }, []string{"a", "b"}},
		{func(q *ragctx.ContextQuery) { q.AsOf = then.Add(-time.Hour) }, nil},
		{func(q *ragctx.ContextQuery) { q.AsOf, q.Filter.Tags = then, []string{"k"} }, []string{"a"}},
		{func(q *ragctx.ContextQuery) { q.AsOf, q.Filter.Metadata = then, map[string]string{"n": "1234567"} }, []string{"a"}},
		{func(q *ragctx.ContextQuery) { q.Filter.Sources = []string{"file:*"} }, nil},
		{func(q *ragctx.ContextQuery) { q.Filter.OccurredAfter = t0.Add(time.Hour) }, []string{"c"}},
		{func(q *ragctx.ContextQuery) { q.Exclude, q.MaxResults = []string{"c"}, 1 }, []string{"b"}},
	} {
		for _, text := range []string{"", "walrus"} {
			q := query(text)
			c.change(&q)
			if got := f.found(q); !slices.Equal(got, c.want) {
				t.Errorf("query %q, %+v: %v, want %v", text, q, got, c.want)
			}
		}
	}
	q := query("")
	q.Explain = true
	for _, it := range f.ask(q).Items {
		if it.Signals["importance_recency"] != it.Relevance || it.Relevance == 0 {
			t.Errorf("%s: signals %v, relevance %v", it.ID, it.Signals, it.Relevance)
		}
	}
}

func TestFilterByANumber(t *testing.T) {
	f := open(t)
	if _, err := f.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "d", Text: "walrus", Metadata: map[string]any{"n": 1234567.}}, ""); err != nil {
		t.Fatal(err)
	}
	q := query("walrus")
	q.Filter.Metadata = map[string]string{"n": "1234567"}
	if got := f.found(q); !slices.Equal(got, []string{"d@1#0"}) {
		t.Errorf("found %v", got)
	}
}

func TestTheSameMemoryTwice(t *testing.T) {
	f := open(t)
	first, _ := f.remember(ragctx.Memory{ID: "m", Content: "x"})
	again, st := f.remember(ragctx.Memory{ID: "m", Content: "x"})
	if st != store.Unchanged || again.Version != 1 || first.Occurred.IsZero() || !again.Occurred.Equal(first.Occurred) {
		t.Errorf("%s: %+v, first %+v", st, again, first)
	}
}

func TestMemoryThatHasExpired(t *testing.T) {
	f := open(t)
	for _, expires := range []time.Time{t0, t0.AddDate(-20, 0, 0)} {
		_, _, err := f.Memories().Put(t.Context(), ragctx.Memory{Namespace: "n", Content: "x", Expires: expires})
		if fe, ok := errors.AsType[*ragctx.FieldError](err); !ok || fe.Field != "expires" {
			t.Errorf("expires %v: %v", expires, err)
		}
	}
	if names, err := f.Admin().NamespaceNames(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("something was stored: %v, %v", names, err)
	}
	f.remember(ragctx.Memory{Content: "x", Expires: t0.Add(time.Hour)})
}

// TestTurnOfToolsAlone: a turn without user or assistant text is stored, but becomes no memory.
func TestTurnOfToolsAlone(t *testing.T) {
	f := open(t)
	turn := ragctx.Turn{ID: "t", SessionID: "s", Messages: []ragctx.Message{
		{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: "1", Name: "find"}}},
		{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: "1", Content: ragctx.Text("walrus")}}},
	}}
	for _, want := range []store.Status{store.Created, store.Unchanged} {
		if r := f.turn(turn); r.Status != want || r.MemoryID != "" {
			t.Errorf("%+v, want %s", r, want)
		}
	}
	if got := f.found(query("walrus")); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	turn.Messages = turn.Messages[:1]
	if _, err := f.CompleteTurn(t.Context(), turn); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("another turn of that id: %v", err)
	}
}

func TestDeletedTurnSentAgain(t *testing.T) {
	f := open(t)
	turn := ragctx.Turn{ID: "t", SessionID: "s", Prompt: "walrus"}
	f.turn(turn)
	if err := f.Memories().Delete(t.Context(), "", "t", "", true); err != nil {
		t.Fatal(err)
	}
	if r, err := f.CompleteTurn(t.Context(), turn); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestMemoryPages(t *testing.T) {
	f := open(t)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		f.remember(ragctx.Memory{ID: id, Content: "x", Importance: .5, Occurred: t0})
	}
	var ids []string
	mf := store.MemoryFilter{Limit: 2}
	for page := 0; page == 0 || mf.After.ID != ""; page++ {
		found, next, err := f.Memories().List(t.Context(), "", mf)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			ids = append(ids, m.ID)
			if err := f.Memories().Delete(t.Context(), "", m.ID, "", true); err != nil {
				t.Fatal(err)
			}
		}
		f.clock.set(t0.AddDate(0, 0, 10*page)) // scores fall, and ages differ
		mf.After = next
	}
	if !slices.Equal(ids, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("listed %v", ids)
	}
}
