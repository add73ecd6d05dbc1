package sessiontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

func text(s string) ragctx.Message { return ragctx.TextMessage(ragctx.RoleUser, s) }

// Saving replaces everything and reports the outcome.
func testSave(t *testing.T, w *world) {
	first := session.Store{}.Append("summary", text("s")).Append("messages", text("1"), text("2")).
		Append("empty", text("x")).Set(session.Section{Name: "empty"}).
		WithParameters(map[string]any{"p": "v"})
	r, err := w.save(one, first)
	w.must(err)
	if r.SessionID != one.ID || !r.Success || r.SectionsStored != 3 || r.MessagesStored != 3 || r.NewMessages != 3 || r.ErrorMessage != "" {
		t.Errorf("%+v", r)
	}
	if r.StartedAt.Before(start) || r.FinishedAt.Before(r.StartedAt) || r.DurationMs != r.FinishedAt.Sub(r.StartedAt).Milliseconds() {
		t.Errorf("times %+v", r)
	}
	w.wantPath(one, "", "summary:s messages:1 messages:2") // linked in order
	w.reopen()
	loaded, err := load(w, one)
	w.must(err)
	if written(loaded) != "summary:s messages:1:2 empty" || loaded.Parameters()["p"] != "v" {
		t.Errorf("loaded %q with %v", written(loaded), loaded.Parameters())
	}
	r, err = w.save(one, loaded.Append("messages",
		text("3")).Remove("summary").Remove("empty").WithParameters(map[string]any{"p": "w"}))
	w.must(err)
	if r.SectionsStored != 1 || r.MessagesStored != 3 || r.NewMessages != 1 {
		t.Errorf("%+v", r)
	}
	w.reopen()
	w.wantStore(one, "messages:1:2:3")
	if again, err := load(w, one); err != nil || again.Parameters()["p"] != "w" {
		t.Errorf("parameters %v, %v", again.Parameters(), err)
	}
}

// testReplace: a session gets exactly the contents of an archive, unless it has changed, and none is
// created.
func testReplace(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2 buffer:3")
	w.must(label(w, one, "id2", "old"))
	a, at, err := session.Export(background(), w, one)
	w.must(err)
	a.Entries[1].Section, a.Leaf, a.Sections = "buffer", "id1", []string{"buffer", "messages", "empty"}
	a.Labels, a.Parameters = map[string]string{"id1": "new"}, map[string]any{"p": "v"}
	a.Compactions = []session.Compaction{{ID: "c", CreatedAt: start, From: "id1", To: "id1"}}
	_, err = w.Replace(background(), one, at, a)
	w.must(err)
	w.reopen()
	got, err := exportOf(w, one)
	w.must(err)
	if d := diff(a, got); d != "" {
		t.Errorf("(-replaced +stored):\n%s", d)
	}
	_, err = w.Replace(background(), one, at, session.Archive{})
	w.wantError(err, ragctx.ErrConflict, "a version that is over")
	at = w.version()
	for name, c := range badArchives() {
		_, err = w.Replace(background(), one, at, c.a)
		w.wantError(err, c.want, name)
	}
	w.wantStore(one, "buffer:2:3 messages:1 empty")
	w.must(remove(w, one))
	_, err = w.Replace(background(), one, at, a)
	w.wantError(err, ragctx.ErrNotFound, "a session that is gone")
	w.talk(one, "messages:1")
	_, err = w.Replace(background(), one, at, a)
	w.wantError(err, ragctx.ErrConflict, "a session that was made again")
	w.wantStore(one, "messages:1")
}

// Saving keeps the leaf, labels and compactions if their messages still exist.
func testSaveLeaf(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2 messages:3")
	w.must(navigate(w, one, "id2"))
	w.must(label(w, one, "id2", "l"))
	_, err := addCompaction(w, one, session.Compaction{ID: "c", From: "id1", To: "id2"})
	w.must(err)
	s, err := load(w, one)
	w.must(err)
	_, err = w.save(one, s)
	w.must(err)
	w.reopen()
	w.wantLeaf(one, "id2")
	if a := w.export(one); a.Labels["id2"] != "l" || len(a.Compactions) != 1 {
		t.Errorf("%v, %+v", a.Labels, a.Compactions)
	}
	messages := s.Section("messages").Messages
	_, err = w.save(one, s.Set(session.Section{Name: "messages", Messages: []ragctx.Message{messages[0], messages[2]}}))
	w.must(err)
	w.reopen()
	w.wantLeaf(one, "id3")
	if a := w.export(one); len(a.Labels) != 0 || len(a.Compactions) != 0 {
		t.Errorf("%v, %+v", a.Labels, a.Compactions)
	}
}

// A save removes a compaction if its range changes, because its summary would hide unknown
// messages.
func testSaveRanges(t *testing.T, w *world) {
	message := func(id, parent, text string) ragctx.Message {
		return ragctx.Message{ID: id, ParentID: parent, CreatedAt: start, Role: ragctx.RoleUser, Content: ragctx.Text(text)}
	}
	call := message("d", "c", "")
	call.Role, call.Content = ragctx.RoleAssistant,
		ragctx.Content{{Type: ragctx.BlockToolUse, ID: "1", Name: "f", Input: json.RawMessage(`{"x":1}`)}}
	spaced := call
	spaced.Content = ragctx.Content{{Type: ragctx.BlockToolUse, ID: "1", Name: "f", Input: json.RawMessage(`{"x": 1}`)}}
	talk := func(change ...ragctx.Message) []ragctx.Message {
		all := []ragctx.Message{message("a", "", "1"), message("b", "a", "2"), message("c", "b", "3"), call, message("e", "d", "5")}
		for _, m := range change {
			all = append(slices.DeleteFunc(all, func(old ragctx.Message) bool { return old.ID == m.ID }), m)
		}
		return all
	}
	for name, c := range map[string]struct {
		save session.Store
		want string // the remaining compactions
	}{
		"the same":            {session.Store{}.Append("messages", talk()...), "b-d -c e-e"},
		"the same, spaced":    {session.Store{}.Append("messages", talk(spaced)...), "b-d -c e-e"},
		"one more at the end": {session.Store{}.Append("messages", talk(message("f", "e", "6"))...), "b-d -c e-e"},
		"one more between":    {session.Store{}.Append("messages", talk(message("x", "b", "!"), message("c", "x", "3"))...), "e-e"},
		"one more before": {session.Store{}.Append("messages",
			talk(message("x", "", "!"), message("a", "x", "1"))...), "b-d e-e"},
		"another order": {session.Store{}.Append("messages",
			talk(message("c", "a", "3"), message("b", "c", "2"), message("d", "b", "4"))...), "e-e"},
		"one says something else": {session.Store{}.Append("messages", talk(message("c", "b", "!"))...), "e-e"},
		"one is in another section": {session.Store{}.Append("messages",
			slices.DeleteFunc(talk(), func(m ragctx.Message) bool { return m.ID == "c" })...).Append("buffer",
			message("c", "b", "3")), "e-e"},
		"an end is gone": {session.Store{}.Append("messages", talk()[:4]...), "b-d -c"},
	} {
		k := session.Key{Namespace: one.Namespace, ID: name}
		_, err := w.save(k, session.Store{}.Append("messages", talk()...))
		w.must(err)
		for _, r := range [][2]string{{"b", "d"}, {"", "c"}, {"e", "e"}} {
			_, err := addCompaction(w, k, session.Compaction{From: r[0], To: r[1]})
			w.must(err)
		}
		_, err = w.save(k, c.save)
		w.must(err)
		w.reopen()
		list, err := compactionsOf(w, k)
		w.must(err)
		var left []string
		for _, r := range list {
			left = append(left, r.From+"-"+r.To)
		}
		if got := strings.Join(left, " "); got != c.want {
			t.Errorf("%s: %q are left, want %q", name, got, c.want)
		}
	}
}

// A save removes a compaction if it changes or removes a pruned message, which is in no range.
func testSavePruned(t *testing.T, w *world) {
	output := func(id, text string) ragctx.Message {
		return ragctx.Message{
			ID: id, Role: ragctx.RoleTool,
			Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text(text)}},
		}
	}
	for name, c := range map[string]struct {
		save []ragctx.Message
		want int
	}{
		"the same":       {[]ragctx.Message{output("a", "1"), output("b", "2"), output("c", "3")}, 1},
		"another output": {[]ragctx.Message{output("a", "1"), output("b", "2"), output("c", "!")}, 1},
		"it is changed":  {[]ragctx.Message{output("a", "1"), output("b", "!"), output("c", "3")}, 0},
		"it is gone":     {[]ragctx.Message{output("a", "1"), output("c", "3")}, 0},
	} {
		k := session.Key{Namespace: one.Namespace, ID: name}
		_, err := w.save(k, session.Store{}.Append("messages", output("a", "1"), output("b", "2"), output("c", "3")))
		w.must(err)
		_, err = addCompaction(w, k,
			session.Compaction{Record: []byte(`{"pruned":[{"message_id":"a","block":0},{"message_id":"b","block":0}]}`)})
		w.must(err)
		_, err = w.save(k, session.Store{}.Append("messages", c.save...))
		w.must(err)
		w.reopen()
		if list, err := compactionsOf(w, k); err != nil || len(list) != c.want {
			t.Errorf("%s: %+v are left, %v", name, list, err)
		}
	}
}

// A refused save loses nothing.
func testSaveRefused(t *testing.T, w *world) {
	w.talk(one, "messages:1")
	before := w.export(one)
	twice := ragctx.Message{ID: "x", Role: ragctx.RoleUser}
	for name, c := range map[string]struct {
		s    session.Store
		want error
	}{
		"an id in two sections": {session.Store{}.Append("a", twice).Append("b", twice), ragctx.ErrConflict},
		"a role unknown":        {session.Store{}.Append("a", text("1"), ragctx.Message{Role: "pirate"}), ragctx.ErrInvalid},
		"a long name":           {session.Store{}.Append(strings.Repeat("x", session.MaxName+1), text("1")), ragctx.ErrInvalid},
	} {
		r, err := w.save(one, c.s)
		w.wantError(err, c.want, name)
		if r.Success || r.ErrorMessage == "" || r.MessagesStored != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	w.reopen()
	if d := diff(before, w.export(one)); d != "" {
		t.Error(d)
	}
}

func testSaveEmpty(t *testing.T, w *world) {
	w.talk(one, "messages:1")
	_, err := w.save(one, session.Store{})
	w.must(err)
	w.wantStore(one, "")
	w.wantLeaf(one, "")
	if r, err := w.save(session.Key{ID: "new"}, session.Store{}); err != nil || !r.Success || r.MessagesStored != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if ok, err := exists(w, session.Key{ID: "new"}); !ok || err != nil {
		t.Errorf("it was not made: %v", err)
	}
}

// A session is unchanged after export, writing, reading and import.
func testTransfer(t *testing.T, w *world) {
	w.talk(one, "messages:1 buffer:2")
	w.must(navigate(w, one, "id1"))
	w.talk(one, "messages:3")
	w.must(label(w, one, "id2", "l"))
	_, err := addCompaction(w, one, session.Compaction{From: "id1", To: "id1", Record: []byte(`{"a":1}`)})
	w.must(err)
	a, err := exportOf(w, one)
	w.must(err)
	var b bytes.Buffer
	w.must(session.WriteJSONL(&b, a))
	read, bad, err := session.ReadJSONL(&b)
	w.must(err)
	if d := diff(a, read); d != "" || len(bad) > 0 {
		t.Errorf("quarantined %+v, (-written +read):\n%s", bad, d)
	}
	other := session.Key{Namespace: "else", ID: "where"}
	w.must(importTo(w, other, read))
	w.wantError(importTo(w, other, read), ragctx.ErrConflict, "to import it again")
	w.reopen()
	got, err := exportOf(w, other)
	w.must(err)
	a.ID = other.ID
	if d := diff(a, got); d != "" {
		t.Errorf("(-exported +imported):\n%s", d)
	}
}

// badArchive is an archive that cannot be stored.
type badArchive struct {
	a    session.Archive
	want error
}

func badArchives() map[string]badArchive {
	m := func(id string) session.Entry {
		return session.Entry{Section: "messages", Message: ragctx.Message{ID: id, Role: ragctx.RoleUser}}
	}
	return map[string]badArchive{
		"no id":           {session.Archive{Entries: []session.Entry{m("")}}, ragctx.ErrInvalid},
		"an id again":     {session.Archive{Entries: []session.Entry{m("a"), m("a")}}, ragctx.ErrConflict},
		"a leaf unknown":  {session.Archive{Entries: []session.Entry{m("a")}, Leaf: "b"}, ragctx.ErrNotFound},
		"a label of what": {session.Archive{Labels: map[string]string{"a": "l"}}, ragctx.ErrNotFound},
		"a range of what": {session.Archive{Compactions: []session.Compaction{{From: "a"}}}, ragctx.ErrNotFound},
		"a section unnamed": {session.Archive{Entries: []session.Entry{{
			Section: "\xff",
			Message: ragctx.Message{ID: "a"},
		}}}, ragctx.ErrInvalid},
	}
}

func testImportRefused(t *testing.T, w *world) {
	for name, c := range badArchives() {
		w.wantError(importTo(w, one, c.a), c.want, name)
	}
	if ok, err := exists(w, one); ok || err != nil {
		t.Errorf("it is there: %v", err)
	}
}

// Random operations have the same results as on [session.Memory], and the contents survive
// reopening.
func testModel(t *testing.T, w *world) {
	next := 0
	rapid.Check(t, func(t *rapid.T) {
		next++
		k := session.Key{Namespace: "model", ID: fmt.Sprint(next)}
		fork := session.Key{Namespace: "model", ID: k.ID + " fork"}
		model := session.NewMemory(deterministic())
		both := func(what string, f func(s session.Storage) error) {
			a, b := f(w), f(model)
			ca, _ := ragctx.CodeOf(a)
			cb, _ := ragctx.CodeOf(b)
			if (a == nil) != (b == nil) || ca != cb {
				t.Fatalf("%s: %v, in memory %v", what, a, b)
			}
		}
		both("create", func(s session.Storage) error { return create(s, k) })
		id := rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("m%d", rapid.IntRange(0, 12).Draw(t, "id")) })
		name := rapid.SampledFrom([]string{"messages", "buffer", ""})
		for i := range rapid.IntRange(1, 25).Draw(t, "steps") {
			at, section := id.Draw(t, "at"), name.Draw(t, "section")
			other := rapid.SampledFrom([]string{"", at}).Draw(t, "maybe")
			m := ragctx.Message{
				ID:       fmt.Sprintf("m%d", i),
				ParentID: rapid.SampledFrom([]string{"", "", id.Draw(t, "parent")}).Draw(t, "under"), CreatedAt: start,
				Role: ragctx.RoleUser, Content: ragctx.Text(at),
			}
			switch rapid.IntRange(0, 8).Draw(t, "operation") {
			case 0:
				both("navigate", func(s session.Storage) error { return navigate(s, k, other) })
			case 1:
				both("label", func(s session.Storage) error { return label(s, k, at, other) })
			case 2:
				both("compact", func(s session.Storage) error {
					_, err := addCompaction(s, k,
						session.Compaction{ID: fmt.Sprint("c", i), From: at, To: at, CreatedAt: start})
					return err
				})
			case 3:
				both("undo", func(s session.Storage) error { _, err := undoCompaction(s, k); return err })
			case 4:
				both("save", func(s session.Storage) error {
					store, err := load(s, k)
					if err == nil {
						_, err = session.Save(background(), s, k, store.Remove(section), always, session.Options{})
					}
					return err
				})
			case 5:
				both("fork", func(s session.Storage) error { return forkTo(s, k, other, fork.ID) })
			default:
				both("append", func(s session.Storage) error { _, err := appendTo(s, k, section, m); return err })
			}
		}
		w.reopen()
		for _, k := range []session.Key{k, fork} {
			both("path", func(s session.Storage) error { _, err := pathTo(s, k, ""); return err })
			a, errA := exportOf(w, k)
			b, errB := exportOf(model, k)
			a.CreatedAt, b.CreatedAt = start, start
			if d := diff(b, a); (errA == nil) != (errB == nil) || d != "" {
				t.Fatalf("%v, in memory %v (-memory +storage):\n%s", errA, errB, d)
			}
		}
	})
}
