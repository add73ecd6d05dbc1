package sessiontest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// testConditions: a change happens only if the session meets its condition.
func testConditions(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2")
	first, err := versionOf(w, one)
	w.must(err)
	w.talk(one, "messages:3")
	w.reopen()
	now, err := versionOf(w, one)
	w.must(err)
	if first.Revision() == now.Revision() {
		t.Errorf("two versions have the revision %s", now.Revision())
	}
	stale := session.Condition{Revisions: []string{first.Revision(), "other"}}
	loaded, err := load(w, one)
	w.must(err)
	ctx := background()
	changes := map[string]func(session.Key) error{
		"Append": func(k session.Key) error {
			_, _, err := w.Append(ctx, k, "messages", []ragctx.Message{text("d")}, stale)
			return err
		},
		"Update": func(k session.Key) error {
			_, err := w.Update(ctx, k, session.Update{Parameters: map[string]any{"p": "v"}, Leaf: new("")}, stale)
			return err
		},
		"Save": func(k session.Key) error {
			_, err := session.Save(ctx, w, k, loaded, stale, w.opts)
			return err
		},
		"Fork": func(k session.Key) error {
			_, err := w.Fork(ctx, k, session.Fork{ID: "fork"}, stale)
			return err
		},
		"Delete": func(k session.Key) error { return w.Delete(ctx, k, stale) },
	}
	for name, change := range changes {
		for what, k := range map[string]session.Key{"another version": one, "no session": {Namespace: "n", ID: "none"}} {
			if err := change(k); !errors.Is(err, ragctx.ErrPrecondition) {
				t.Errorf("%s of %s: %v", name, what, err)
			}
		}
	}
	if at, err := versionOf(w, one); err != nil || at != now {
		t.Errorf("changed to %v from %v: %v", at, now, err)
	}
	for _, c := range []session.Condition{{Revisions: []string{"other", now.Revision()}}, {Any: true}} {
		if at, err := w.Update(ctx, one, session.Update{Leaf: new("")}, c); err != nil || at == now {
			t.Errorf("%+v: %v", c, err)
		}
	}
	testRace(t, w)
}

// testRace: of several concurrent changes with one condition exactly one succeeds.
func testRace(t *testing.T, w *world) {
	at, err := versionOf(w, one)
	w.must(err)
	when := session.Condition{Revisions: []string{at.Revision()}}
	var done, unmet atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch _, err := w.Update(background(), one, session.Update{Parameters: map[string]any{"p": "v"}}, when); {
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
