package sessiontest

import (
	"context"
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
	once := func(request string) context.Context {
		return session.WithRequestID(session.WithVersionReport(background(), &reported), request)
	}
	ways := map[string]func(request string) error{
		"create": func(request string) error { return w.Create(once(request), at("create")) },
		"import": func(request string) error { return w.Import(once(request), at("import"), session.Archive{}) },
		"fork":   func(request string) error { return w.Fork(once(request), one, "", "fork") },
	}
	for name, way := range ways {
		w.must(way("of " + name))
		if made, err := w.Version(background(), at(name)); err != nil || made != reported {
			t.Errorf("%s: reported %v instead of %v, %v", name, reported, made, err)
		}
		_, err := w.Append(background(), at(name), "messages", text("since"))
		w.must(err)
	}
	w.must(w.Delete(background(), one))
	w.reopen()
	for name, way := range ways {
		before, err := w.Version(background(), at(name))
		w.must(err)
		if err := way("of " + name); err != nil {
			t.Errorf("%s again: %v", name, err)
		}
		if now, err := w.Version(background(), at(name)); err != nil || now != before || now != reported {
			t.Errorf("%s has changed the session: %v, %v", name, now, err)
		}
	}
	w.talk(one, "messages:1")
	for name, way := range ways {
		for _, request := range []string{"", "another"} {
			w.wantError(way(request), ragctx.ErrConflict, name+" for request "+request)
		}
	}
	w.must(w.Delete(background(), at("create")))
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
	if other, err := w.Version(background(), session.Key{ID: "other"}); err != nil || other.Salt == before.Salt {
		t.Errorf("two sessions have one salt, %v", err)
	}
}
