package sessiontest

import (
	"context"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// spec 3.7: create, has, delete.
func testSessions(t *testing.T, w *world) {
	has := func(want bool) {
		t.Helper()
		if got, err := w.Has(background(), one); err != nil || got != want {
			t.Errorf("has: %v, %v; want %v", got, err, want)
		}
	}
	has(false)
	w.must(w.Create(background(), one))
	has(true)
	w.wantError(w.Create(background(), one), ragctx.ErrConflict, "a second one")
	w.wantLeaf(one, "")
	w.wantStore(one, "")
	w.reopen()
	has(true)
	w.talk(one, "messages:1")
	w.must(w.Delete(background(), one))
	has(false)
	w.reopen()
	has(false)
	w.must(w.Create(background(), one))
	w.wantStore(one, "")
}

// Unknown sessions are reported as not found, and reading does not create them.
func testUnknown(t *testing.T, w *world) {
	w.talk(session.Key{Namespace: "ns", User: "ada", ID: "other"}, "messages:1")
	for name, ask := range map[string]func(context.Context, session.Key) error{
		"Load":     func(ctx context.Context, k session.Key) error { _, err := w.Load(ctx, k); return err },
		"Delete":   w.Delete,
		"Append":   func(ctx context.Context, k session.Key) error { _, err := w.Append(ctx, k, "messages"); return err },
		"Get":      func(ctx context.Context, k session.Key) error { _, err := w.Get(ctx, k, "id1"); return err },
		"Section":  func(ctx context.Context, k session.Key) error { _, err := w.Section(ctx, k, "messages", 0); return err },
		"Leaf":     func(ctx context.Context, k session.Key) error { _, err := w.Leaf(ctx, k); return err },
		"Navigate": func(ctx context.Context, k session.Key) error { return w.Navigate(ctx, k, "") },
		"Path":     func(ctx context.Context, k session.Key) error { _, err := w.Path(ctx, k, ""); return err },
		"Fork":     func(ctx context.Context, k session.Key) error { return w.Fork(ctx, k, "", "fork") },
		"Label":    func(ctx context.Context, k session.Key) error { return w.Label(ctx, k, "id1", "x") },
		"Labels":   func(ctx context.Context, k session.Key) error { _, err := w.Labels(ctx, k); return err },
		"AddCompaction": func(ctx context.Context, k session.Key) error {
			_, err := w.AddCompaction(ctx, k, session.Compaction{})
			return err
		},
		"Compactions":    func(ctx context.Context, k session.Key) error { _, err := w.Compactions(ctx, k); return err },
		"UndoCompaction": func(ctx context.Context, k session.Key) error { _, err := w.UndoCompaction(ctx, k); return err },
		"Export":         func(ctx context.Context, k session.Key) error { _, err := w.Export(ctx, k); return err },
	} {
		w.wantError(ask(background(), one), ragctx.ErrNotFound, name)
		for _, k := range []session.Key{one, {Namespace: one.Namespace, User: one.User, ID: "fork"}} {
			if ok, err := w.Has(background(), k); ok || err != nil {
				t.Errorf("%s made %v, %v", name, k, err)
			}
		}
	}
	w.must(w.Create(background(), one))
	_, err := w.Get(background(), one, "id1")
	w.wantError(err, ragctx.ErrNotFound, "a message of another session")
	_, err = w.Path(background(), one, "id1")
	w.wantError(err, ragctx.ErrNotFound, "a path to it")
	w.wantError(w.Navigate(background(), one, "id1"), ragctx.ErrNotFound, "to go there")
	w.wantError(w.Label(background(), one, "id1", "x"), ragctx.ErrNotFound, "to name it")
	_, err = w.UndoCompaction(background(), one)
	w.wantError(err, ragctx.ErrNotFound, "to undo nothing")
}

// Sessions of other namespaces and users are separate.
func testScopes(t *testing.T, w *world) {
	keys := []session.Key{{ID: "s"}, {User: "ada", ID: "s"}, {Namespace: "ns", ID: "s"}, {Namespace: "ns", User: "bob", ID: "s"}, one}
	for i, k := range keys {
		w.talk(k, "messages:"+strings.Repeat("x", i))
	}
	w.must(w.Delete(background(), keys[0]))
	for i, k := range keys[1:] {
		w.wantStore(k, "messages:"+strings.Repeat("x", i+1))
	}
	w.must(w.Fork(background(), one, "", "fork"))
	if ok, err := w.Has(background(), session.Key{Namespace: "ns", User: "bob", ID: "fork"}); ok || err != nil {
		t.Errorf("a fork is another user's: %v", err)
	}
}

func testKeys(t *testing.T, w *world) {
	for _, id := range []string{"", strings.Repeat("x", session.MaxName+1), "\xff"} {
		k := session.Key{ID: id}
		w.wantError(w.Create(background(), k), ragctx.ErrInvalid, "to create it")
		_, err := w.Has(background(), k)
		w.wantError(err, ragctx.ErrInvalid, "to ask for it")
		_, err = w.Save(background(), k, session.Store{})
		w.wantError(err, ragctx.ErrInvalid, "to save it")
		w.talk(one, "")
		w.wantError(w.Fork(background(), one, "", id), ragctx.ErrInvalid, "to fork to it")
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
	_, err := w.Load(ctx, one)
	w.wantError(err, context.Canceled, "to load")
	_, err = w.Append(ctx, one, "messages", ragctx.TextMessage(ragctx.RoleUser, "2"))
	w.wantError(err, context.Canceled, "to append")
	w.wantStore(one, "messages:1")
}
