package sessiontest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// The parent defaults to the leaf, and the leaf moves.
func testAppend(t *testing.T, w *world) {
	w.must(create(w, one))
	at := time.Date(2020, 1, 1, 0, 0, 0, 5, time.UTC)
	got, err := appendTo(w, one, "messages", ragctx.TextMessage(ragctx.RoleUser, "a"),
		ragctx.Message{ID: "mine", CreatedAt: at, Role: ragctx.RoleAssistant, Content: ragctx.Text("b")})
	w.must(err)
	if len(got) != 2 || got[0].ID == "" || got[0].ParentID != "" || got[0].CreatedAt.Before(start) ||
		got[1].ID != "mine" || got[1].ParentID != got[0].ID || !got[1].CreatedAt.Equal(at) {
		t.Fatalf("appended %+v", got)
	}
	w.wantLeaf(one, "mine")
	more, err := appendTo(w, one, "buffer", ragctx.Message{ParentID: got[0].ID, Content: ragctx.Text("c")})
	w.must(err)
	if more[0].ParentID != got[0].ID || more[0].Role != ragctx.RoleUser {
		t.Errorf("appended %+v", more)
	}
	w.wantLeaf(one, more[0].ID)
	w.reopen()
	e, err := get(w, one, "mine")
	w.must(err)
	if d := diff(session.Entry{Section: "messages", Message: got[1]}, e); d != "" {
		t.Errorf("stored (-appended +stored):\n%s", d)
	}
	none, err := appendTo(w, one, "new")
	w.must(err)
	if len(none) != 0 {
		t.Errorf("nothing became %+v", none)
	}
	w.wantStore(one, "messages:a:b buffer:c")
	w.wantLeaf(one, more[0].ID)
}

// A refused append changes nothing; the valid messages before the invalid one are not stored.
func testAppendRefused(_ *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2")
	good := ragctx.TextMessage(ragctx.RoleUser, "x")
	bad := func(change func(*ragctx.Message)) ragctx.Message {
		m := good
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		m    ragctx.Message
		want error
	}{
		"an id again":      {bad(func(m *ragctx.Message) { m.ID = "id1" }), ragctx.ErrConflict},
		"a long id":        {bad(func(m *ragctx.Message) { m.ID = strings.Repeat("x", session.MaxName+1) }), ragctx.ErrInvalid},
		"a parent unknown": {bad(func(m *ragctx.Message) { m.ParentID = "?" }), ragctx.ErrInvalid},
		"its own parent":   {bad(func(m *ragctx.Message) { m.ID, m.ParentID = "x", "x" }), ragctx.ErrInvalid},
		"a role unknown":   {bad(func(m *ragctx.Message) { m.Role = "pirate" }), ragctx.ErrInvalid},
	} {
		_, err := appendTo(w, one, "messages", good, c.m)
		w.wantError(err, c.want, name)
	}
	_, err := appendTo(w, one, strings.Repeat("x", session.MaxName+1), good)
	w.wantError(err, ragctx.ErrInvalid, "a section with a long name")
	w.wantStore(one, "messages:1:2")
	w.wantLeaf(one, "id2")
}

// The limit applies to the newest messages.
func testSection(t *testing.T, w *world) {
	w.talk(one, "messages:1 buffer:2 messages:3 messages:4 :5 0:6")
	for _, c := range []struct {
		name  string
		limit int
		want  string
	}{
		{"messages", 0, "1 3 4"},
		{"messages", 2, "3 4"},
		{"messages", 9, "1 3 4"},
		{"buffer", 1, "2"},
		{"", 0, "5"},
		{"0", 1, "6"},
		{"?", 0, ""},
	} {
		got, err := sectionOf(w, one, c.name, c.limit)
		w.must(err)
		var texts []string
		for _, m := range got {
			texts = append(texts, m.Content.String())
		}
		if strings.Join(texts, " ") != c.want {
			t.Errorf("%d of %q: %v, want %s", c.limit, c.name, texts, c.want)
		}
	}
}

// Continuing from an earlier message keeps the old branch.
func testBranches(_ *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2 buffer:3")
	w.must(navigate(w, one, "id1"))
	w.reopen()
	w.wantLeaf(one, "id1")
	w.talk(one, "messages:4 messages:5")
	w.wantPath(one, "", "messages:1 messages:4 messages:5")
	w.wantPath(one, "id3", "messages:1 messages:2 buffer:3")
	w.wantPath(one, "id1", "messages:1")
	w.must(navigate(w, one, ""))
	w.wantPath(one, "", "")
	w.talk(one, "messages:6")
	w.wantPath(one, "", "messages:6")
	w.wantStore(one, "messages:1:2:4:5:6 buffer:3")
	w.wantGrown(one)
}

// wantGrown grows two interleaved branches, one of them five times as fast, and fails if their
// paths mix.
func (w *world) wantGrown(k session.Key) {
	last, paths := [2]string{"id1", "id1"}, [2]string{"messages:1", "messages:1"}
	for i := range 300 {
		branch := min(i%6, 1)
		id := fmt.Sprintf("grown%d", i)
		_, err := appendTo(w, k, "messages",
			ragctx.Message{ID: id, ParentID: last[branch], Role: ragctx.RoleUser, Content: ragctx.Text(id)})
		w.must(err)
		last[branch], paths[branch] = id, paths[branch]+" messages:"+id
	}
	w.wantPath(k, last[0], paths[0])
	w.wantPath(k, last[1], paths[1])
}

// A path ends where parents form a cycle or are missing.
func testCycles(_ *testing.T, w *world) {
	message := func(id, parent string) ragctx.Message {
		return ragctx.Message{ID: id, ParentID: parent, Role: ragctx.RoleUser, Content: ragctx.Text(id)}
	}
	_, err := w.save(one, session.Store{}.Append("messages", message("a", "b"), message("b", "a"),
		message("c", "b"), message("d", "gone"), message("e", "e")))
	w.must(err)
	w.reopen()
	w.wantPath(one, "c", "messages:a messages:b messages:c")
	w.wantPath(one, "a", "messages:b messages:a")
	w.wantPath(one, "d", "messages:d")
	w.wantPath(one, "e", "messages:e")
	w.must(forkTo(w, one, "c", "fork"))
	w.wantPath(session.Key{Namespace: one.Namespace, User: one.User, ID: "fork"}, "", "messages:a messages:b messages:c")
}

// A fork has the path with its sections; a refused fork leaves nothing.
func testFork(t *testing.T, w *world) {
	w.talk(one, "messages:1 buffer:2 messages:3")
	w.must(navigate(w, one, "id2"))
	w.talk(one, "messages:4")
	w.must(label(w, one, "id1", "first"))
	w.must(label(w, one, "id3", "elsewhere"))
	for _, to := range []string{"id2", "id3"} {
		_, err := addCompaction(w, one, session.Compaction{ID: "to " + to, From: "id1", To: to})
		w.must(err)
	}
	fork := session.Key{Namespace: one.Namespace, User: one.User, ID: "fork"}
	w.wantError(forkTo(w, one, "?", "fork"), ragctx.ErrNotFound, "to fork from nowhere")
	if ok, err := exists(w, fork); ok || err != nil {
		t.Errorf("a fork from nowhere is there: %v", err)
	}
	before := w.export(one)
	w.must(forkTo(w, one, "", "fork"))
	w.wantError(forkTo(w, one, "", "fork"), ragctx.ErrConflict, "to fork again")
	w.reopen()
	w.wantPath(fork, "", "messages:1 buffer:2 messages:4")
	w.wantStore(fork, "messages:1:4 buffer:2")
	a := w.export(fork)
	if d := diff(map[string]string{"id1": "first"}, a.Labels); d != "" || len(a.Compactions) != 1 || a.Compactions[0].ID != "to id2" {
		t.Errorf("labels %s, compactions %+v", d, a.Compactions)
	}
	w.talk(fork, "messages:5")
	if d := diff(before, w.export(one)); d != "" {
		t.Errorf("the fork changed what it was made of:\n%s", d)
	}
}

func testLabels(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2")
	for _, l := range [][2]string{{"id1", "a"}, {"id2", "b"}, {"id1", "c"}, {"id2", ""}} {
		w.must(label(w, one, l[0], l[1]))
	}
	w.reopen()
	got, err := labelsOf(w, one)
	w.must(err)
	if d := diff(map[string]string{"id1": "c"}, got); d != "" {
		t.Error(d)
	}
	w.wantError(label(w, one, "id1", strings.Repeat("x", session.MaxName+1)), ragctx.ErrInvalid, "a long label")
}

func testCompactions(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2 messages:3")
	a, err := addCompaction(w, one, session.Compaction{From: "id1", To: "id2", Record: json.RawMessage(`{"summary":"<x>"}`)})
	w.must(err)
	b, err := addCompaction(w, one, session.Compaction{ID: "b", CreatedAt: start})
	w.must(err)
	for name, c := range map[string]struct {
		c    session.Compaction
		want error
	}{
		"an id again":     {session.Compaction{ID: "b"}, ragctx.ErrConflict},
		"a range of what": {session.Compaction{From: "?", To: "id1"}, ragctx.ErrInvalid},
		"to what":         {session.Compaction{From: "id1", To: "?"}, ragctx.ErrInvalid},
		"no JSON":         {session.Compaction{Record: json.RawMessage(`{`)}, ragctx.ErrInvalid},
		"a long id":       {session.Compaction{ID: strings.Repeat("x", session.MaxName+1)}, ragctx.ErrInvalid},
	} {
		_, err := addCompaction(w, one, c.c)
		w.wantError(err, c.want, name)
	}
	w.wantError(update(w, one, session.Update{AddCompaction: &session.Compaction{}}), ragctx.ErrInvalid, "no id")
	w.reopen()
	list, err := compactionsOf(w, one)
	w.must(err)
	if d := diff([]session.Compaction{a, b}, list); d != "" {
		t.Errorf("(-added +stored):\n%s", d)
	}
	w.wantStore(one, "messages:1:2:3") // messages stay unchanged
	full := session.Compaction{
		ID: "c", CreatedAt: start,
		Record: json.RawMessage(`"` + strings.Repeat("x", session.MaxRecordBytes-2) + `"`),
	}
	_, err = addCompaction(w, one, full, "b")
	w.wantError(err, ragctx.ErrTooLarge, "more than there is room for, although others go")
	_, err = addCompaction(w, one, full, a.ID, "b", "gone already")
	w.must(err)
	w.reopen()
	if list, err = compactionsOf(w, one); err != nil || len(list) != 1 || list[0].ID != "c" {
		t.Errorf("%d records are left, %v", len(list), err)
	}
	for _, c := range []session.Compaction{a, b} {
		_, err = addCompaction(w, one, c, "c")
		w.must(err)
	}
	got, err := undoCompaction(w, one)
	w.must(err)
	list, err = compactionsOf(w, one)
	w.must(err)
	if d := diff([]session.Compaction{b, a}, []session.Compaction{got, list[0]}); d != "" || len(list) != 1 {
		t.Errorf("undone %s, left %+v", d, list)
	}
}

// Returned values belong to the caller, and a loaded store does not change.
func testIsolation(t *testing.T, w *world) {
	in := []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "1")}
	w.must(create(w, one))
	_, err := appendTo(w, one, "messages", in...)
	w.must(err)
	in[0] = ragctx.TextMessage(ragctx.RoleUser, "changed")
	loaded, err := load(w, one)
	w.must(err)
	w.must(label(w, one, "id1", "l"))
	labels, err := labelsOf(w, one)
	w.must(err)
	labels["id1"] = "changed"
	path, err := pathTo(w, one, "")
	w.must(err)
	path[0].Message.Content = ragctx.Text("changed")
	section, err := sectionOf(w, one, "messages", 0)
	w.must(err)
	section[0].ID = "changed"
	a, err := exportOf(w, one)
	w.must(err)
	a.Entries[0].Section, a.Labels["id1"] = "changed", "changed"
	w.talk(one, "messages:2")
	w.wantStore(one, "messages:1:2")
	w.wantPath(one, "", "messages:1 messages:2")
	if labels, err := labelsOf(w, one); err != nil || labels["id1"] != "l" {
		t.Errorf("labels %v, %v", labels, err)
	}
	if written(loaded) != "messages:1" {
		t.Errorf("a loaded store became %q", written(loaded))
	}
}

// All fields of a message are restored.
func testContents(t *testing.T, w *world) {
	w.must(create(w, one))
	appended, err := appendTo(w, one, "messages",
		ragctx.Message{
			Role: ragctx.RoleUser, Name: "ada",
			Content: ragctx.Content{
				{Type: ragctx.BlockText, Text: "look \u0000<&>漢"},
				{Type: ragctx.BlockImage, MediaType: "image/png", Data: []byte("\x89PNG\x00")},
			},
		},
		ragctx.Message{
			Role: ragctx.RoleAssistant, Reasoning: "hm",
			Content: ragctx.Content{{
				Type: ragctx.BlockToolUse, ID: "1", Name: "f",
				Input: json.RawMessage(`{"a":[1,null]}`),
			}},
			Metadata: map[string]any{"is_trace": true, "deep": map[string]any{"x": []any{1.5, "y"}}},
		},
		ragctx.Message{Role: ragctx.RoleUser, Content: ragctx.Content{
			{Type: ragctx.BlockToolResult, ToolUseID: "1", Content: ragctx.Text("one"), IsError: true},
			{
				Type: ragctx.BlockToolResult, ToolUseID: "2",
				Content: ragctx.Content{{Type: ragctx.BlockImage, MediaType: "image/png", Data: []byte("x")}},
			},
		}},
		ragctx.Message{
			Role:    ragctx.RoleTool,
			Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: "3", Content: ragctx.Text("plain")}},
		},
		// White space, characters that JSON may escape, and numbers that a float64 cannot
		// represent.
		ragctx.Message{
			Role: ragctx.RoleAssistant, Metadata: map[string]any{
				"id": json.Number("12345678901234567890"),
				"as": []any{json.Number("1.0"), 2.5},
			},
			Content: ragctx.Content{
				{Type: ragctx.BlockToolUse, ID: "4", Name: "f", Input: json.RawMessage("{ \"a\" :\n 1,\"b\":\"<&>\" }")},
				{Type: ragctx.BlockToolUse, ID: "5", Name: "f", Input: json.RawMessage(`{"a":12345678901234567890}`)},
			},
		},
		// Vendor-specific parts, and inputs that resemble quoted inputs.
		ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{
			{Type: ragctx.BlockVendor, Form: "anthropic", Part: json.RawMessage(`{"type":"document","n":12345678901234567890}`)},
			{Type: ragctx.BlockText, Text: "x", Form: "anthropic", Part: json.RawMessage(`{"citations":[]}`)},
			{
				Type: ragctx.BlockToolUse, ID: "6", Name: "f", Input: json.RawMessage(`"{\"a\": 1}"`), Form: "openai",
				Part: json.RawMessage(`{"type":"custom"}`),
			},
			{Type: ragctx.BlockToolUse, ID: "7", Name: "f", Input: json.RawMessage(`"\"a\""`)},
			{Type: ragctx.BlockToolUse, ID: "8", Name: "f", Input: json.RawMessage(`{"a": [1, 2]}`)},
		}},
		ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{
			Type: ragctx.BlockToolResult, ToolUseID: "8", Form: "anthropic",
			Part:    json.RawMessage(`{"cache_control":{"type":"ephemeral"}}`),
			Content: ragctx.Content{{Type: ragctx.BlockVendor, Form: "anthropic", Part: json.RawMessage(`{"type":"search_result"}`)}},
		}}},
	)
	w.must(err)
	w.reopen()
	got, err := sectionOf(w, one, "messages", 0)
	w.must(err)
	if d := diff(appended, got); d != "" {
		t.Errorf("(-appended +stored):\n%s", d)
	}
}

// Concurrent writers form one conversation.
func testWriters(t *testing.T, w *world) {
	w.must(create(w, one))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 10 {
				if _, err := appendTo(w, one, "messages",
					ragctx.TextMessage(ragctx.RoleUser, fmt.Sprint(i, " ", j))); err != nil {
					t.Error(err)
				}
				if _, err := pathTo(w, one, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if path, err := pathTo(w, one, ""); err != nil || len(path) != 40 {
		t.Errorf("the path has %d of 40 messages, %v", len(path), err)
	}
}
