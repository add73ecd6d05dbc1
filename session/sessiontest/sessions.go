package sessiontest

import (
	"context"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Create, has, delete.
func testSessions(t *testing.T, w *world) {
	has := func(want bool) {
		t.Helper()
		if got, err := exists(w, one); err != nil || got != want {
			t.Errorf("has: %v, %v; want %v", got, err, want)
		}
	}
	has(false)
	w.must(create(w, one))
	has(true)
	w.wantError(create(w, one), ragctx.ErrConflict, "a second one")
	w.wantLeaf(one, "")
	w.wantStore(one, "")
	w.reopen()
	has(true)
	w.talk(one, "messages:1")
	w.must(remove(w, one))
	has(false)
	w.reopen()
	has(false)
	w.must(create(w, one))
	w.wantStore(one, "")
}

// Unknown sessions are reported as not found, and reading does not create them.
func testUnknown(t *testing.T, w *world) {
	w.talk(session.Key{Namespace: "ns", User: "ada", ID: "other"}, "messages:1")
	ctx := background()
	for name, ask := range map[string]func(session.Key) error{
		"Read":   func(k session.Key) error { _, err := exportOf(w, k); return err },
		"Info":   func(k session.Key) error { _, err := w.Info(ctx, k); return err },
		"Delete": func(k session.Key) error { return remove(w, k) },
		"Append": func(k session.Key) error { _, err := appendTo(w, k, "messages"); return err },
		"Get":    func(k session.Key) error { _, err := get(w, k, "id1"); return err },
		"Section": func(k session.Key) error {
			_, err := sectionOf(w, k, "messages", 0)
			return err
		},
		"Path":   func(k session.Key) error { _, err := pathTo(w, k, ""); return err },
		"Fork":   func(k session.Key) error { return forkTo(w, k, "", "fork") },
		"Update": func(k session.Key) error { return update(w, k, session.Update{}) },
		"Replace": func(k session.Key) error {
			_, err := w.Replace(ctx, k, session.Version{}, session.Archive{})
			return err
		},
	} {
		w.wantError(ask(one), ragctx.ErrNotFound, name)
		for _, k := range []session.Key{one, {Namespace: one.Namespace, User: one.User, ID: "fork"}} {
			if ok, err := exists(w, k); ok || err != nil {
				t.Errorf("%s made %v, %v", name, k, err)
			}
		}
	}
	w.must(create(w, one))
	_, err := get(w, one, "id1")
	w.wantError(err, ragctx.ErrNotFound, "a message of another session")
	_, err = pathTo(w, one, "id1")
	w.wantError(err, ragctx.ErrNotFound, "a path to it")
	w.wantError(navigate(w, one, "id1"), ragctx.ErrNotFound, "to go there")
	w.wantError(label(w, one, "id1", "x"), ragctx.ErrNotFound, "to name it")
	_, err = undoCompaction(w, one)
	w.wantError(err, ragctx.ErrNotFound, "to undo nothing")
}

// Sessions of other namespaces and users are separate.
func testScopes(t *testing.T, w *world) {
	keys := []session.Key{{ID: "s"}, {User: "ada", ID: "s"}, {Namespace: "ns", ID: "s"}, {Namespace: "ns", User: "bob", ID: "s"}, one}
	for i, k := range keys {
		w.talk(k, "messages:"+strings.Repeat("x", i))
	}
	w.must(remove(w, keys[0]))
	for i, k := range keys[1:] {
		w.wantStore(k, "messages:"+strings.Repeat("x", i+1))
	}
	w.must(forkTo(w, one, "", "fork"))
	if ok, err := exists(w, session.Key{Namespace: "ns", User: "bob", ID: "fork"}); ok || err != nil {
		t.Errorf("a fork is another user's: %v", err)
	}
}

func testKeys(t *testing.T, w *world) {
	for _, id := range []string{"", strings.Repeat("x", session.MaxName+1), "\xff"} {
		k := session.Key{ID: id}
		w.wantError(create(w, k), ragctx.ErrInvalid, "to create it")
		_, err := exists(w, k)
		w.wantError(err, ragctx.ErrInvalid, "to ask for it")
		_, err = w.save(k, session.Store{})
		w.wantError(err, ragctx.ErrInvalid, "to save it")
		w.talk(one, "")
		w.wantError(forkTo(w, one, "", id), ragctx.ErrInvalid, "to fork to it")
	}
	odd := session.Key{ID: strings.Repeat("/ü", session.MaxName/3)}
	w.talk(odd, "messages:1")
	w.reopen()
	w.wantStore(odd, "messages:1")
}

func testCanceled(_ *testing.T, w *world) {
	ctx, cancel := context.WithCancel(background())
	cancel()
	w.talk(one, "messages:1")
	_, _, err := session.Export(ctx, w, one)
	w.wantError(err, context.Canceled, "to load")
	_, _, err = w.Append(ctx, one, "messages", []ragctx.Message{text("2")}, always)
	w.wantError(err, context.Canceled, "to append")
	w.wantStore(one, "messages:1")
}
