package sessiontest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// testConditions: a change happens only if the session meets the condition of the context.
func testConditions(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2")
	first, err := w.Version(background(), one)
	w.must(err)
	w.talk(one, "messages:3")
	w.reopen()
	now, err := w.Version(background(), one)
	w.must(err)
	if first.Revision() == now.Revision() {
		t.Errorf("two versions have the revision %s", now.Revision())
	}
	stale := session.WithCondition(background(), session.Condition{Revisions: []string{first.Revision(), "other"}})
	loaded, err := w.Load(background(), one)
	w.must(err)
	changes := map[string]func(session.Key) error{
		"Append":         func(k session.Key) error { _, err := w.Append(stale, k, "messages", text("d")); return err },
		"Annotate":       func(k session.Key) error { return w.Annotate(stale, k, map[string]any{"p": "v"}) },
		"Navigate":       func(k session.Key) error { return w.Navigate(stale, k, "") },
		"Label":          func(k session.Key) error { return w.Label(stale, k, "a", "x") },
		"Save":           func(k session.Key) error { _, err := w.Save(stale, k, loaded); return err },
		"Replace":        func(k session.Key) error { _, err := w.Replace(stale, k, now, loaded); return err },
		"UndoCompaction": func(k session.Key) error { _, err := w.UndoCompaction(stale, k); return err },
		"Fork":           func(k session.Key) error { return w.Fork(stale, k, "", "fork") },
		"Delete":         func(k session.Key) error { return w.Delete(stale, k) },
	}
	for name, change := range changes {
		for what, k := range map[string]session.Key{"another version": one, "no session": {Namespace: "n", ID: "none"}} {
			if err := change(k); !errors.Is(err, ragctx.ErrPrecondition) {
				t.Errorf("%s of %s: %v", name, what, err)
			}
		}
	}
	if at, err := w.Version(background(), one); err != nil || at != now {
		t.Errorf("changed to %v from %v: %v", at, now, err)
	}
	for _, c := range []session.Condition{{Revisions: []string{"other", now.Revision()}}, {Any: true}} {
		if err := w.Navigate(session.WithCondition(background(), c), one, ""); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	testRace(t, w)
}

// testRace: of several concurrent changes with one condition exactly one succeeds.
func testRace(t *testing.T, w *world) {
	at, err := w.Version(background(), one)
	w.must(err)
	ctx := session.WithCondition(background(), session.Condition{Revisions: []string{at.Revision()}})
	var done, unmet atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch err := w.Annotate(ctx, one, map[string]any{"p": "v"}); {
			case err == nil:
				done.Add(1)
			case errors.Is(err, ragctx.ErrPrecondition):
				unmet.Add(1)
			}
		})
	}
	all.Wait()
	if done.Load() != 1 || unmet.Load() != 7 {
		t.Errorf("%d done, %d unmet", done.Load(), unmet.Load())
	}
}
