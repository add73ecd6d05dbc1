package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// testSessionProviders assigns providers to sessions.
func testSessionProviders(t *testing.T, open Opener) {
	f := fresh(t, open)
	k := store.SessionKey{Namespace: f.ns, User: "ada", Session: "s"}
	other := store.SessionKey{Namespace: f.ns, Session: "s"} // of no user
	names := func(k store.SessionKey) string {
		var out []string
		for _, p := range must(f.SessionProviders(t.Context(), k))(t) {
			if p.Added.IsZero() {
				t.Errorf("%+v has no time", p)
			}
			out = append(out, p.Name)
		}
		return strings.Join(out, " ")
	}
	if must(f.SessionKnown(t.Context(), k))(t) {
		t.Error("a new session is known")
	}
	for _, c := range []struct {
		name  string
		added bool
		err   error
	}{{"docs", true, nil}, {"crm", true, nil}, {"docs", false, nil}, {"mail", false, ragctx.ErrInvalid}} {
		added, err := f.AddSessionProvider(t.Context(), k, c.name, 2)
		if err == nil && added != c.added || !errors.Is(err, c.err) {
			t.Errorf("%s: added %v, %v", c.name, added, err)
		}
	}
	if names(k) != "docs crm" || names(other) != "" {
		t.Errorf("providers %q, of another user %q", names(k), names(other))
	}
	for _, want := range []bool{true, false} {
		if removed := must(f.RemoveSessionProvider(t.Context(), k, "docs"))(t); removed != want {
			t.Errorf("removed %v, want %v", removed, want)
		}
	}
	must(f.AddSessionProvider(t.Context(), k, "docs", 2))(t)
	if names(k) != "crm docs" {
		t.Errorf("providers %q after one was added again", names(k))
	}
	must(f.RemoveSessionProvider(t.Context(), k, "docs"))(t)
	must(f.RemoveSessionProvider(t.Context(), k, "crm"))(t)
	if !must(f.SessionKnown(t.Context(), k))(t) || must(f.SessionKnown(t.Context(), other))(t) {
		t.Error("a session that had providers is unknown, or another one is known")
	}
	if _, _, _, err := f.putTurn(t, ragctx.Turn{ID: "t", SessionID: "s", Prompt: "x"}, false); err != nil {
		t.Fatal(err)
	}
	if !must(f.SessionKnown(t.Context(), other))(t) {
		t.Error("a session that had a turn is unknown")
	}
}
