package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
)

// TestKeysLast checks what of keys is there after a restart: themselves, their ends,
// and when they were used.
func TestKeysLast(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := engine.Options{Dir: t.TempDir(), PauseJobs: true, Now: func() time.Time { return now }}
	open := func() *engine.Engine {
		t.Helper()
		e, err := engine.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	if e.Keys().Needed() {
		t.Error("keys are asked for though there are none")
	}
	made, err := e.Keys().Create(t.Context(), access.Key{Name: "k", Role: access.Write, Namespaces: []string{"a"}, User: "u", Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := e.Keys().Create(t.Context(), access.Key{Name: "gone", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Keys().Revoke(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Keys().Authenticate(made.Text); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open()
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	g, err := e.Keys().Authenticate(made.Text)
	if err != nil || g.Role != access.Write || g.User != "u" || !g.Includes("a") || g.Includes("b") || g.Key != made.ID {
		t.Errorf("the grant is %+v, %v", g, err)
	}
	if _, err := e.Keys().Authenticate(gone.Text); !errors.Is(err, ragctx.ErrUnauthenticated) {
		t.Errorf("a revoked key after a restart: %v", err)
	}
	list, err := e.Keys().List(t.Context(), "", 0)
	if err != nil || len(list) != 2 || !list[0].LastUsed.Equal(now) || !list[1].LastUsed.IsZero() || list[1].State(now) != "revoked" {
		t.Errorf("keys %+v, %v", list, err)
	}
	now = now.Add(time.Hour)
	if _, err := e.Keys().Authenticate(made.Text); !errors.Is(err, ragctx.ErrUnauthenticated) {
		t.Errorf("an expired key: %v", err)
	}
	if !e.Keys().Needed() {
		t.Error("the last key has expired, and none is asked for")
	}
	bound := access.With(t.Context(), access.Grant{Role: access.Admin, Namespaces: []string{"a"}})
	if _, err := e.Keys().Create(bound, access.Key{Name: "more", Role: access.Admin}); !errors.Is(err, ragctx.ErrDenied) {
		t.Errorf("an admin of one namespace makes keys for all: %v", err)
	}
}

// TestCreateFirst checks that a chosen text becomes a key only while there are no other keys, and that a
// revoked text does not become valid again.
func TestCreateFirst(t *testing.T) {
	e := open(t)
	text, _, _ := access.NewText()
	if made, err := e.Keys().CreateFirst(t.Context(), "secret"); made || !errors.Is(err, ragctx.ErrInvalid) || e.Keys().Needed() {
		t.Errorf("a text that is no key: %t, %v", made, err)
	}
	if made, err := e.Keys().CreateFirst(t.Context(), text); !made || err != nil {
		t.Fatalf("%t, %v", made, err)
	}
	g, err := e.Keys().Authenticate(text)
	if err != nil || g.Role != access.Admin || g.RequireUnbound() != nil {
		t.Errorf("the grant is %+v, %v", g, err)
	}
	other, _, _ := access.NewText()
	if made, err := e.Keys().CreateFirst(t.Context(), other); made || err != nil {
		t.Errorf("a second one: %t, %v", made, err)
	}
	if _, err := e.Keys().Revoke(t.Context(), g.Key); err != nil {
		t.Fatal(err)
	}
	if made, err := e.Keys().CreateFirst(t.Context(), text); made || !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("the text of a revoked key: %t, %v", made, err)
	}
	if _, err := e.Keys().Authenticate(text); !errors.Is(err, ragctx.ErrUnauthenticated) {
		t.Errorf("the text of a revoked key: %v", err)
	}
}
