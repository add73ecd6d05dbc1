package sessiontest

import (
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// testRequestIDs: a session is created once for a request. Repeating the request succeeds and
// leaves the session unchanged; other requests get a conflict.
func testRequestIDs(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2")
	at := func(id string) session.Key { return session.Key{Namespace: one.Namespace, User: one.User, ID: id} }
	var reported session.Version
	ways := map[string]func(request string) error{
		"create": func(request string) (err error) {
			reported, err = w.Create(background(), at("create"), session.Archive{}, request)
			return err
		},
		"fork": func(request string) (err error) {
			reported, err = w.Fork(background(), one, session.Fork{ID: "fork", Request: request}, always)
			return err
		},
	}
	for name, way := range ways {
		w.must(way("of " + name))
		if made, err := versionOf(w, at(name)); err != nil || made != reported {
			t.Errorf("%s: reported %v instead of %v, %v", name, reported, made, err)
		}
		_, err := appendTo(w, at(name), "messages", text("since"))
		w.must(err)
	}
	w.must(remove(w, one))
	w.reopen()
	for name, way := range ways {
		before, err := versionOf(w, at(name))
		w.must(err)
		if err := way("of " + name); err != nil {
			t.Errorf("%s again: %v", name, err)
		}
		if now, err := versionOf(w, at(name)); err != nil || now != before || now != reported {
			t.Errorf("%s has changed the session: %v, %v", name, now, err)
		}
	}
	w.talk(one, "messages:1")
	for name, way := range ways {
		for _, request := range []string{"", "another"} {
			w.wantError(way(request), ragctx.ErrConflict, name+" for request "+request)
		}
	}
	w.must(remove(w, at("create")))
	w.must(ways["create"]("of create"))
	w.wantStore(at("create"), "")
}

// testSalts: revisions do not reveal the number of sessions.
func testSalts(t *testing.T, w *world) {
	w.talk(one, "messages:1")
	before := w.version()
	w.reopen()
	if now := w.version(); now != before || now.Revision() != before.Revision() {
		t.Errorf("%v became %v", before, now)
	}
	bare := before
	if bare.Salt = ""; bare.Revision() == before.Revision() {
		t.Error("the revision is one of numbers alone")
	}
	w.talk(session.Key{ID: "other"}, "messages:1")
	if other, err := versionOf(w, session.Key{ID: "other"}); err != nil || other.Salt == before.Salt {
		t.Errorf("two sessions have one salt, %v", err)
	}
}
