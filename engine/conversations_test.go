package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	convo "github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/sessiontest"
	"github.com/ragctx/ragctx/session/stage"
)

// keptSessions are the sessions of an engine.
type keptSessions struct {
	convo.Storage

	engine *engine.Engine
}

func (s keptSessions) Close() error { return s.engine.Close() }

func TestConversations(t *testing.T) {
	sessiontest.Test(t, func(t testing.TB, dir string, o convo.Options) sessiontest.Storage {
		e, err := engine.Open(t.Context(), engine.Options{Dir: dir, Now: o.Now, NewID: o.NewID, ProviderTimeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		return keptSessions{e.Sessions().Storage(), e}
	}, sessiontest.Options{Volatile: true}) // package store's tests reopen
}

// TestConversationsOfAUser: a caller bound to a user reaches no other user's conversations, and owns
// new ones without naming the user. They are erased with the session.
func TestConversationsOfAUser(t *testing.T) {
	f := open(t)
	s := f.Sessions().Storage()
	ben := convo.Key{Namespace: "default", User: "ben", ID: "s1"}
	for _, k := range []convo.Key{ben, {ID: "s1"}} {
		if _, err := s.Create(t.Context(), k, convo.Archive{}, ""); err != nil {
			t.Fatal(err)
		}
	}
	ann := access.With(t.Context(), access.Grant{Role: access.Write, User: "ann", Namespaces: []string{"default"}})
	for name, try := range map[string]func(context.Context) error{
		"another's": func(ctx context.Context) error { _, _, err := s.Read(ctx, ben, convo.Query{}); return err },
		"into another's": func(ctx context.Context) error {
			_, _, err := s.Append(ctx, ben, "messages", nil, convo.Condition{})
			return err
		},
		"notes of another's": func(ctx context.Context) error {
			_, err := f.Sessions().Notes().Notes(ctx, stage.Scope{UserID: "ben", SessionID: "s1"})
			return err
		},
		"another namespace": func(ctx context.Context) error {
			_, err := s.Create(ctx, convo.Key{Namespace: "other", ID: "s"}, convo.Archive{}, "")
			return err
		},
		"notes of one's there": func(ctx context.Context) error {
			return f.Sessions().Notes().AddNote(ctx, stage.Scope{Namespace: "other", SessionID: "s"}, stage.Note{})
		},
	} {
		if err := try(ann); !errors.Is(err, ragctx.ErrDenied) && !errors.Is(err, ragctx.ErrNotFound) || try(t.Context()) != nil && name == "another's" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ok, err := convo.Has(ann, s, convo.Key{ID: "s1"}); ok || err != nil {
		t.Errorf("nobody's session is hers: %v", err)
	}
	if _, err := s.Create(ann, convo.Key{ID: "s1"}, convo.Archive{}, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.Sessions().Notes().AddNote(ann, stage.Scope{SessionID: "s1"}, stage.Note{Intent: "x"}); err != nil {
		t.Fatal(err)
	}
	hers := convo.Key{User: "ann", ID: "s1"}
	f.reopen()
	s = f.Sessions().Storage()
	if ok, err := convo.Has(t.Context(), s, hers); !ok || err != nil {
		t.Errorf("after a restart: %v, %v", ok, err)
	}
	if list, err := f.Sessions().Providers(t.Context(), engine.SessionKey{UserID: "ann", SessionID: "s1"}); err != nil || len(list) != 0 {
		t.Errorf("its providers: %v, %v", list, err)
	}
	if _, err := f.Sessions().Erase(t.Context(), "", "s1", "ann", false, convo.Condition{}); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[convo.Key]bool{hers: false, ben: true, {ID: "s1"}: true} {
		if ok, err := convo.Has(t.Context(), s, k); ok != want || err != nil {
			t.Errorf("%v: %v, %v", k, ok, err)
		}
	}
}

// TestErasingWithACondition: a condition applies to the stored session only, even if its namespace
// does not exist.
func TestErasingWithACondition(t *testing.T) {
	f := open(t)
	k := convo.Key{User: "ann", ID: "s"}
	at, err := f.Sessions().Storage().Create(t.Context(), k, convo.Archive{}, "")
	if err != nil {
		t.Fatal(err)
	}
	when := convo.Condition{Revisions: []string{at.Revision()}}
	if _, err := f.Sessions().Erase(t.Context(), "nowhere", "s", "ann", false, when); !errors.Is(err, ragctx.ErrPrecondition) {
		t.Errorf("in a namespace that is not there: %v", err)
	}
	if e, err := f.Sessions().Erase(t.Context(), "", "s", "ann", false, when); err != nil || e.Sessions != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := f.Sessions().Erase(t.Context(), "", "s", "ann", false, when); !errors.Is(err, ragctx.ErrPrecondition) {
		t.Errorf("again: %v", err)
	}
}
