package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/sessiontest"
	"github.com/ragctx/ragctx/session/stage"
)

// durableSessions are sessions with their store.
type durableSessions struct {
	store.Sessions

	store *sqlite.Store
}

func (s durableSessions) Close() error { return s.store.Close() }

func TestSessions(t *testing.T) {
	sessiontest.Test(t, func(t testing.TB, dir string, o session.Options) sessiontest.Storage {
		s, err := sqlite.Open(t.Context(), filepath.Join(dir, store.DatabaseName), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return durableSessions{s.Sessions(o), s}
	}, sessiontest.Options{})
}

func save(s session.Storage, k session.Key, messages session.Store) (session.Result, error) {
	return session.Save(context.Background(), s, k, messages, session.Condition{}, session.Options{})
}

func label(s session.Storage, k session.Key, id, label string) error {
	u := session.Update{Labels: map[string]string{id: label}}
	_, err := s.Update(context.Background(), k, u, session.Condition{})
	return err
}

func fork(s session.Storage, k session.Key, leaf, to string) error {
	_, err := s.Fork(context.Background(), k, session.Fork{Leaf: leaf, ID: to}, session.Condition{})
	return err
}

func annotate(s session.Storage, k session.Key, parameters map[string]any) error {
	_, err := s.Update(context.Background(), k, session.Update{Parameters: parameters}, session.Condition{})
	return err
}

func appendTo(s session.Storage, k session.Key, m ragctx.Message) error {
	_, _, err := s.Append(context.Background(), k, "messages", []ragctx.Message{m}, session.Condition{})
	return err
}

// converse makes a session in which all that it can hold says a token.
func converse(t *testing.T, f *fixture, k session.Key, token string, messages int) {
	t.Helper()
	s := f.Sessions(session.Options{})
	said := make([]ragctx.Message, messages)
	for i := range said {
		said[i] = ragctx.TextMessage(ragctx.RoleUser, strings.Repeat(token+" ", 1+i%20*50))
		said[i].ID, said[i].Name = fmt.Sprint(token, i), token
	}
	_, err := save(s, k, session.Store{}.Append("Zs"+token, said...).WithParameters(map[string]any{"p": token}))
	if err == nil {
		err = label(s, k, said[0].ID, token)
	}
	if err == nil {
		_, err = s.Update(t.Context(), k, session.Update{AddCompaction: &session.Compaction{ID: "c", From: said[0].ID, To: said[0].ID, Record: []byte(`"` + token + `"`)}}, session.Condition{})
	}
	if err == nil {
		err = f.Notes().AddNote(t.Context(), scopeOf(k), stage.Note{Intent: token})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func scopeOf(k session.Key) stage.Scope {
	return stage.Scope{Namespace: k.Namespace, UserID: k.User, SessionID: k.ID}
}

// Erased sessions are gone at once, from every file in the end, and for good. Others stay.
func TestEraseSessions(t *testing.T) {
	key := func(user, id string) session.Key { return session.Key{Namespace: "default", User: user, ID: id} }
	all := map[string]session.Key{
		"Zqada1": key("ada", "1"), "Zqada2": key("ada", "2"), "Zqben1": key("ben", "1"),
		"Zqben2": key("ben", "2"), "Zqnobody1": key("", "1"),
	}
	for name, c := range map[string]struct {
		erase func(f *fixture) (store.Erased, error)
		gone  []string
	}{
		"a session": {func(f *fixture) (store.Erased, error) {
			return f.EraseSession(t.Context(), f.ns, "1", "ada", false, session.Condition{})
		}, []string{"Zqada1"}},
		"nobody's": {func(f *fixture) (store.Erased, error) {
			return f.EraseSession(t.Context(), f.ns, "1", "", false, session.Condition{})
		}, []string{"Zqnobody1"}},
		"everyone's": {func(f *fixture) (store.Erased, error) {
			return f.EraseSession(t.Context(), f.ns, "1", "", true, session.Condition{})
		}, []string{"Zqada1", "Zqben1", "Zqnobody1"}},
		"a user": {func(f *fixture) (store.Erased, error) {
			return f.EraseUser(t.Context(), f.ns, "ben")
		}, []string{"Zqben1", "Zqben2"}},
		"a namespace": {func(f *fixture) (store.Erased, error) {
			return f.EraseNamespace(t.Context(), "default", func(note func() error) error { return note() })
		}, []string{"Zqada1", "Zqada2", "Zqben1", "Zqben2", "Zqnobody1"}},
		"a document": {func(f *fixture) (store.Erased, error) { return f.EraseDocument(t.Context(), f.ns, "1") }, nil},
		"a memory": {func(f *fixture) (store.Erased, error) {
			return f.EraseMemory(t.Context(), f.ns, "1", "ada", true)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := fresh(t)
			for token, k := range all {
				converse(t, f, k, token, 25)
			}
			e, err := c.erase(f)
			if err != nil {
				t.Fatal(err)
			}
			gone := make(map[string]bool)
			for _, token := range c.gone {
				gone[token] = true
			}
			s := f.Sessions(session.Options{})
			for token, k := range all {
				_, _, err := session.Export(t.Context(), s, k)
				notes, nerr := f.Notes().Notes(t.Context(), scopeOf(k))
				if nerr != nil || errors.Is(err, ragctx.ErrNotFound) != gone[token] || (len(notes) == 0) != gone[token] {
					t.Errorf("%s: %v; %d notes, %v", token, err, len(notes), nerr)
				}
				if !gone[token] {
					continue
				}
				err = appendTo(s, k, ragctx.TextMessage(ragctx.RoleUser, token))
				late := f.Notes().AddNote(t.Context(), scopeOf(k), stage.Note{Intent: token})
				if !errors.Is(err, ragctx.ErrNotFound) || !errors.Is(late, ragctx.ErrNotFound) {
					t.Errorf("%s: who comes late: %v, %v", token, err, late)
				}
				if _, err := s.Create(t.Context(), k, session.Archive{}, ""); err != nil { // begins anew
					t.Error(err)
				}
			}
			f.scrub(t, e.Pending)
			for token := range all {
				if n := traces(t, f.path, token); (n == 0) != gone[token] {
					t.Errorf("%d traces of %s", n, token)
				}
			}
			if n := count(t, f.path, `SELECT count(*) FROM sessions`); n != len(all) {
				t.Errorf("%d sessions, of which some begin anew", n)
			}
			r, err := f.Verify(t.Context(), store.VerifyOptions{Embedder: f.embedder})
			if err != nil || len(r.Findings) != 0 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// TestDeletedSessionsGo: what a deleted session leaves is removed, also after a restart.
func TestDeletedSessionsGo(t *testing.T) {
	f := fresh(t)
	k := session.Key{Namespace: "default", ID: "s"}
	converse(t, f, k, "Zqgone", 1500)
	if err := f.Sessions(session.Options{}).Delete(t.Context(), k, session.Condition{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, f.path)
	if err := f.AwaitCollection(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sessions", "session_sections", "session_messages", "session_compactions", "session_notes"} {
		if n := count(t, f.path, `SELECT count(*) FROM `+table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
}

// TestErasedForks checks that erasing a session erases the forks with its messages, also the forks of a
// deleted fork.
func TestErasedForks(t *testing.T) {
	f := fresh(t)
	s := f.Sessions(session.Options{})
	k := func(id string) session.Key { return session.Key{Namespace: "default", User: "ada", ID: id} }
	converse(t, f, k("s"), "Zq", 4)
	converse(t, f, k("other"), "Zr", 4)
	for _, to := range [][2]string{{"s", "fork"}, {"fork", "fork of it"}, {"other", "its fork"}} {
		if err := fork(s, k(to[0]), "", to[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(t.Context(), k("fork"), session.Condition{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the deleted session is removed",
		func() bool { return count(t, f.path, `SELECT count(*) FROM sessions WHERE erased = 1`) == 0 })
	e, err := f.EraseSession(t.Context(), f.ns, "s", "ada", false, session.Condition{})
	if err != nil || e.Sessions != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	for id, want := range map[string]bool{"s": false, "fork": false, "fork of it": false, "other": true, "its fork": true} {
		if has, err := session.Has(t.Context(), s, k(id)); has != want || err != nil {
			t.Errorf("%s is there: %v, %v", id, has, err)
		}
	}
}

// TestErasedForksOfTheDeleted checks that erasing a deleted session by name erases the forks with its
// messages, whether its rows still exist or not, also at the end of a chain of deleted forks. Other
// users' sessions stay.
func TestErasedForksOfTheDeleted(t *testing.T) {
	f := fresh(t)
	s := f.Sessions(session.Options{})
	k := func(user, id string) session.Key { return session.Key{Namespace: "default", User: user, ID: id} }
	for _, user := range []string{"ada", "bob"} {
		converse(t, f, k(user, "s"), "Zq", 4)
		for _, to := range [][2]string{{"s", "fork"}, {"fork", "fork of it"}} {
			if err := fork(s, k(user, to[0]), "", to[1]); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{"s", "fork"} {
			if err := s.Delete(t.Context(), k(user, id), session.Condition{}); err != nil {
				t.Fatal(err)
			}
		}
		if user == "ada" {
			eventually(t, "the deleted sessions are removed",
				func() bool { return count(t, f.path, `SELECT count(*) FROM sessions WHERE erased = 1`) == 0 })
		}
	}
	for i, user := range []string{"ada", "bob"} {
		if e, err := f.EraseSession(t.Context(), f.ns, "s", user, false, session.Condition{}); err != nil || e.Sessions != 1 {
			t.Errorf("%s: %+v, %v", user, e, err)
		}
		for _, other := range []string{"ada", "bob"}[i:] {
			if has, err := session.Has(t.Context(), s, k(other, "fork of it")); has != (other != user) || err != nil {
				t.Errorf("%s is erased, that of %s is there: %v, %v", user, other, has, err)
			}
		}
	}
	eventually(t, "nothing is remembered", func() bool { return count(t, f.path, `SELECT count(*) FROM session_ancestors`) == 0 })
}

// TestSnapshotRemembersAncestors: a snapshot that is made before a deleted session is removed
// leaves it out, and the forks of it are still erased with it.
func TestSnapshotRemembersAncestors(t *testing.T) {
	f := fresh(t)
	s := f.Sessions(session.Options{})
	k := func(id string) session.Key { return session.Key{Namespace: "default", User: "ada", ID: id} }
	converse(t, f, k("s"), "Zq", 1500)
	for _, to := range [][2]string{{"s", "fork"}, {"fork", "fork of it"}} {
		if err := fork(s, k(to[0]), "", to[1]); err != nil {
			t.Fatal(err)
		}
	}
	// what Delete does, but for calling the garbage collector
	if err := f.Execute(t.Context(), []string{`UPDATE sessions SET erased = 1 WHERE name IN ('s', 'fork')`}); err != nil {
		t.Fatal(err)
	}
	path, _ := snapshot(t, f)
	dir := t.TempDir()
	if _, err := sqlite.Restore(t.Context(), path, dir, store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, store.DatabaseName)
	g := open(t, name)
	eventually(t, "the restored database drops what was deleted", func() bool { return count(t, name, `SELECT count(*) FROM sessions`) == 1 })
	for what, h := range map[string]*fixture{"original": f, "restored": g} {
		if e, err := h.EraseSession(t.Context(), h.ns, "s", "ada", false, session.Condition{}); err != nil || e.Sessions != 1 {
			t.Errorf("%s: %+v, %v", what, e, err)
		}
		if has, err := session.Has(t.Context(), h.Sessions(session.Options{}), k("fork of it")); has || err != nil {
			t.Errorf("%s: the fork is there: %v, %v", what, has, err)
		}
	}
}

// TestConcurrentSaves: a session that others change whenever it is about to be saved is saved in
// the writer where it is small, and is a conflict where everyone would wait for it.
func TestConcurrentSaves(t *testing.T) {
	f := fresh(t)
	k := session.Key{Namespace: "default", ID: "s"}
	said := func(n int) session.Store {
		all := make([]ragctx.Message, n)
		for i := range all {
			all[i] = ragctx.Message{ID: fmt.Sprint(i), CreatedAt: time.Unix(1, 0), Role: ragctx.RoleUser, Content: ragctx.Text("x")}
		}
		return session.Store{}.Append("messages", all...)
	}
	for n, want := range map[int]error{10: nil, 2000: ragctx.ErrConflict} {
		if _, err := save(f.Sessions(session.Options{}), k, said(n)); err != nil {
			t.Fatal(err)
		}
		looks := 0
		busy := f.Sessions(session.Options{Now: func() time.Time { // which planning asks
			if looks++; looks <= 5 { // the sixth look of a small one is in the writer
				if err := annotate(f.Sessions(session.Options{}), k, map[string]any{"looks": looks}); err != nil {
					t.Error(err)
				}
			}
			return time.Now()
		}})
		if _, err := save(busy, k, said(n+1)); !errors.Is(err, want) {
			t.Errorf("%d messages: %v, want %v", n, err, want)
		}
	}
}

// TestSaveIf: what is saved on a condition that nothing meets leaves no namespace.
func TestSaveIf(t *testing.T) {
	f := fresh(t)
	_, err := session.Save(t.Context(), f.Sessions(session.Options{}), session.Key{Namespace: "unheard of", ID: "s"}, session.Store{},
		session.Condition{Any: true}, session.Options{})
	if !errors.Is(err, ragctx.ErrPrecondition) {
		t.Errorf("saved: %v", err)
	}
	if n := count(t, f.path, `SELECT count(*) FROM namespaces WHERE name = 'unheard of'`); n != 0 {
		t.Error("the namespace was made")
	}
}

// TestErasedNames: an erasure by name takes the name out of the audit log, also where a Go
// program had deleted the session before, with forks of it or without.
func TestErasedNames(t *testing.T) {
	for _, forked := range []bool{false, true} {
		f := fresh(t)
		s, k := f.Sessions(session.Options{}), session.Key{Namespace: "default", User: "ada", ID: "s"}
		converse(t, f, k, "Zq", 2)
		if forked {
			if err := fork(s, k, "", "fork"); err != nil {
				t.Fatal(err)
			}
		}
		log := []store.AuditEntry{
			{Operation: "create-session", Namespace: "default", Target: "s", Status: 201},
			{Operation: "fork-session", Namespace: "default", Target: "fork", Status: 201},
			{Operation: "create-session", Namespace: "default", Target: "other", Status: 201},
			{Operation: "get-document", Namespace: "default", Target: "s", Status: 200},
		}
		if err := f.AddAudit(t.Context(), log, 100); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), k, session.Condition{}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.EraseSession(t.Context(), f.ns, "s", "ada", false, session.Condition{}); err != nil {
			t.Fatal(err)
		}
		entries, err := f.Audit(t.Context(), store.AuditFilter{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"s", "other", "fork", ""} // the newest first
		if forked {
			want[2] = ""
		}
		for i, e := range entries {
			if e.Target != want[i] {
				t.Errorf("forked %v: %s of %q, want %q", forked, e.Operation, e.Target, want[i])
			}
		}
	}
}

// TestForkWithConcurrentChanges: a session that others change whenever it is about to be forked is forked,
// also on condition that there is one.
func TestForkWithConcurrentChanges(t *testing.T) {
	f := fresh(t)
	k := session.Key{Namespace: "default", User: "ada", ID: "s"}
	converse(t, f, k, "Zq", 2)
	const enough = 10
	for to, when := range map[string]session.Condition{"a fork": {}, "a fork if there is one": {Any: true}} {
		looks := 0
		busy := f.Sessions(session.Options{Now: func() time.Time { // which a fork asks as it is made
			if looks++; looks <= enough {
				if err := annotate(f.Sessions(session.Options{}), k, map[string]any{"looks": looks}); err != nil {
					t.Error(err)
				}
			}
			return time.Now()
		}})
		if _, err := busy.Fork(t.Context(), k, session.Fork{ID: to}, when); err != nil || looks >= enough {
			t.Errorf("%s: %v after %d looks", to, err, looks)
		}
	}
}

// TestErasedIf: the condition of an erasure is about the session of its user, and holds where the
// erasure is noted.
func TestErasedIf(t *testing.T) {
	f := fresh(t)
	s, k := f.Sessions(session.Options{}), session.Key{Namespace: "default", User: "ada", ID: "s"}
	converse(t, f, k, "Zq", 2)
	_, read, err := s.Read(t.Context(), k, session.Query{})
	if err != nil {
		t.Fatal(err)
	}
	converse(t, f, k, "Zr", 2)
	when := session.Condition{Revisions: []string{read.Revision()}}
	if _, err := f.EraseSession(t.Context(), f.ns, "s", "ada", false, when); !errors.Is(err, ragctx.ErrPrecondition) {
		t.Errorf("erased though it was changed: %v", err)
	}
	if _, err := f.EraseSession(t.Context(), f.ns, "none", "ada", false, session.Condition{Any: true}); !errors.Is(err, ragctx.ErrPrecondition) {
		t.Errorf("erased though there is none: %v", err)
	}
	if has, err := session.Has(t.Context(), s, k); !has || err != nil {
		t.Errorf("it is there: %v, %v", has, err)
	}
}

// TestSaveKeepsDamage checks that a save keeps unreadable messages, which the caller has not seen.
func TestSaveKeepsDamage(t *testing.T) {
	f := fresh(t)
	s, k := f.Sessions(session.Options{}), session.Key{Namespace: "default", ID: "s"}
	converse(t, f, k, "Zq", 4)
	f.tampered = true
	db, err := sql.Open("sqlite", "file:"+escape(f.path)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE session_messages SET data = '{"role":' WHERE id = 'Zq3'`); err != nil {
		t.Fatal(err)
	}
	a, _, err := session.Export(t.Context(), s, k)
	loaded := a.Store()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := save(s, k, loaded.Set(session.Section{
		Name:     session.SectionSummary,
		Messages: []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "before")},
	})); err != nil {
		t.Fatal(err)
	}
	after, _, err := s.Read(t.Context(), k, session.Query{})
	if n := count(t, f.path, `SELECT count(*) FROM session_messages WHERE data = '{"role":' AND parent = 'Zq2'`); n != 1 ||
		after.Leaf != "Zq2" || err != nil {
		t.Errorf("%d damaged messages, leaf %q, %v", n, after.Leaf, err)
	}
	info, err := s.Info(t.Context(), k)
	if err != nil || info.Messages != 5 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestSavesAtTheSameTime: of saves at the same time one is the last, whole, and what is
// appended meanwhile is not half there.
func TestSavesAtTheSameTime(t *testing.T) {
	f := fresh(t)
	s, k := f.Sessions(session.Options{}), session.Key{Namespace: "default", ID: "s"}
	converse(t, f, k, "Zq", 4)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 5 {
				var store session.Store
				for n := range 30 {
					store = store.Append(session.SectionMessages, ragctx.Message{
						ID:   fmt.Sprintf("%d.%d.%d", i, j, n),
						Role: ragctx.RoleUser, Content: ragctx.Text(fmt.Sprint(i, j)),
					})
				}
				if _, err := save(s, k, store); err != nil {
					t.Error(err)
				}
				if err := fork(s, k, "", fmt.Sprintf("fork %d.%d", i, j)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	path, err := session.Path(t.Context(), s, k, "")
	if err != nil || len(path) != 30 {
		t.Fatalf("%d messages, %v", len(path), err)
	}
	for _, e := range path {
		if e.Message.Content.String() != path[0].Message.Content.String() {
			t.Errorf("%s beside %s", e.Message.ID, path[0].Message.ID)
		}
	}
	info, err := s.Info(t.Context(), k)
	if err != nil || info.Messages != 30 || info.Branches != 1 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestFullSession: a session that holds all that it may takes nothing more.
func TestFullSession(t *testing.T) {
	f := fresh(t)
	s, k := f.Sessions(session.Options{}), session.Key{Namespace: "default", ID: "s"}
	converse(t, f, k, "Zq", 2)
	f.tampered = true
	db, err := sql.Open("sqlite", "file:"+escape(f.path)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, full := range []string{fmt.Sprint(`bytes = `, session.MaxBytes), fmt.Sprint(`bytes = 0, messages = `, session.MaxMessages)} {
		if _, err := db.ExecContext(t.Context(), `UPDATE sessions SET `+full); err != nil {
			t.Fatal(err)
		}
		if err := appendTo(s, k, ragctx.TextMessage(ragctx.RoleUser, "x")); !errors.Is(err, ragctx.ErrTooLarge) {
			t.Errorf("%s: %v", full, err)
		}
	}
}

// TestListSessions: the newest come first, page by page, within the walls; a change moves none.
func TestListSessions(t *testing.T) {
	f := fresh(t)
	s := f.Sessions(session.Options{})
	for i, user := range []string{"ada", "ben", "ada", "", "ada"} {
		converse(t, f, session.Key{Namespace: "default", User: user, ID: fmt.Sprint("s", i)}, "Zq", 2)
	}
	converse(t, f, session.Key{Namespace: "elsewhere", User: "ada", ID: "s"}, "Zq", 2)
	if err := label(s, session.Key{Namespace: "default", User: "ada", ID: "s0"}, "Zq1", "x"); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), session.Key{Namespace: "default", User: "ada", ID: "s2"}, session.Condition{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		user   string
		anyone bool
		want   []string
	}{{"ada", false, []string{"s4", "s0"}}, {"", false, []string{"s3"}}, {"", true, []string{"s4", "s3", "s1", "s0"}}, {"zoe", false, nil}} {
		var got []string
		filter := store.SessionFilter{User: c.user, AnyUser: c.anyone, Limit: 1}
		for {
			list, next, err := s.List(t.Context(), "default", filter)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range list {
				got = append(got, one.ID)
				if one.Messages != 2 || one.Leaf != "Zq1" || one.Bytes == 0 || one.UpdatedAt.Before(one.CreatedAt) {
					t.Errorf("%+v", one)
				}
			}
			if filter.Before = next; next == 0 {
				break
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("of %q: %v, want %v", c.user, got, c.want)
		}
	}
	if list, _, err := s.List(t.Context(), "none", store.SessionFilter{Limit: 1}); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestSessionQuota: what sessions say counts as text of their namespace, until they go.
func TestSessionQuota(t *testing.T) {
	f := fresh(t)
	s, k := f.Sessions(session.Options{}), session.Key{Namespace: "default", ID: "s"}
	each := session.Bytes(ragctx.TextMessage(ragctx.RoleUser, ""))
	if _, err := f.SetQuotas(t.Context(), "default", store.Quotas{TextBytes: 2*each + 100}); err != nil {
		t.Fatal(err)
	}
	held := func(want int64) {
		t.Helper()
		n, err := f.DescribeNamespace(t.Context(), "default")
		if err != nil || n.TextBytes != want {
			t.Errorf("%d bytes, want %d: %v", n.TextBytes, want, err)
		}
	}
	say := func(k session.Key, bytes int) error {
		return appendTo(s, k, ragctx.TextMessage(ragctx.RoleUser, strings.Repeat("x", bytes)))
	}
	_, err := s.Create(t.Context(), k, session.Archive{}, "")
	if err = errors.Join(err, say(k, 60)); err != nil {
		t.Fatal(err)
	}
	held(each + 60)
	if err := say(k, 41); !errors.Is(err, ragctx.ErrQuota) {
		t.Errorf("one byte too many: %v", err)
	}
	if err := fork(s, k, "", "fork"); !errors.Is(err, ragctx.ErrQuota) {
		t.Errorf("a fork: %v", err)
	}
	if _, err := save(s, k, session.Store{}.Append("messages",
		ragctx.TextMessage(ragctx.RoleUser, strings.Repeat("y", int(each)+101)))); !errors.Is(err, ragctx.ErrQuota) {
		t.Errorf("saved: %v", err)
	}
	held(each + 60)
	if err := say(k, 40); err != nil {
		t.Fatal(err)
	}
	held(2*each + 100)
	if err := label(s, k, "", "x"); errors.Is(err, ragctx.ErrQuota) {
		t.Errorf("what does not grow: %v", err)
	}
	if err := s.Delete(t.Context(), k, session.Condition{}); err != nil {
		t.Fatal(err)
	}
	held(0)
	eventually(t, "the deleted session is removed",
		func() bool { return count(t, f.path, `SELECT count(*) FROM sessions WHERE erased = 1`) == 0 })
	held(0)
}

// What cannot be read hides nothing else, and its
// ancestors stay on the path; a checkup names it.
func TestDamagedSession(t *testing.T) {
	f := fresh(t)
	s, k := f.Sessions(session.Options{}), session.Key{Namespace: "default", ID: "s"}
	converse(t, f, k, "Zq", 4)
	f.tampered = true
	db, err := sql.Open("sqlite", "file:"+escape(f.path)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE session_messages SET data = '{"role":' WHERE id = 'Zq1'`); err != nil {
		t.Fatal(err)
	}
	path, err := session.Path(t.Context(), s, k, "")
	var ids []string
	for _, e := range path {
		ids = append(ids, e.Message.ID)
	}
	if d := cmp.Diff([]string{"Zq0", "Zq2", "Zq3"}, ids); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	if a, _, err := session.Export(t.Context(), s, k); err != nil || a.Store().Len() != 3 {
		t.Errorf("%d messages, %v", a.Store().Len(), err)
	}
	if _, _, err := s.Read(t.Context(), k, session.Query{Messages: session.OneMessage, ID: "Zq1"}); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("the message: %v", err)
	}
	r, err := f.Verify(t.Context(), store.VerifyOptions{})
	if err != nil || len(r.Findings) != 2 || r.Findings[0].Check != "rows" || r.Findings[1].Check != "session" ||
		r.Findings[1].Item != "message 2" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestDamageLosesNothingBefore: a fork, a copy and an edit of a session with a damaged message
// have what came before it.
func TestDamageLosesNothingBefore(t *testing.T) {
	for name, damaged := range map[string]struct {
		where string
		want  []string
	}{
		"in the middle": {`id IN ('Zq2', 'Zq3')`, []string{"Zq0", "Zq1", "Zq4", "Zq5"}},
		"at the leaf":   {`id = 'Zq5'`, []string{"Zq0", "Zq1", "Zq2", "Zq3", "Zq4"}},
		"at the root":   {`id = 'Zq0'`, []string{"Zq1", "Zq2", "Zq3", "Zq4", "Zq5"}},
		"all":           {`true`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := fresh(t)
			s, key := f.Sessions(session.Options{}), func(id string) session.Key { return session.Key{Namespace: "default", ID: id} }
			converse(t, f, key("s"), "Zq", 6)
			for _, id := range []string{"Zq1", "Zq2", "Zq5"} {
				if err := label(s, key("s"), id, "label of "+id); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Update(t.Context(), key("s"), session.Update{AddCompaction: &session.Compaction{ID: "to " + id, To: id}}, session.Condition{}); err != nil {
					t.Fatal(err)
				}
			}
			f.tampered = true
			db, err := sql.Open("sqlite", "file:"+escape(f.path)+"?_pragma=busy_timeout(5000)")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), `UPDATE session_messages SET data = '{"role":' WHERE `+damaged.where); err != nil {
				t.Fatal(err)
			}
			a, _, err := session.Export(t.Context(), s, key("s"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Create(t.Context(), key("copy"), a, "")
			if err := errors.Join(fork(s, key("s"), "", "fork"), err); err != nil {
				t.Fatal(err)
			}
			if _, err := save(s, key("s"), a.Store().Append("notes",
				ragctx.Message{ID: "new", ParentID: "Zq0", Content: ragctx.Text("x")})); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"s", "fork", "copy"} {
				path, err := session.Path(t.Context(), s, key(id), "")
				var ids []string
				for _, e := range path {
					ids = append(ids, e.Message.ID)
				}
				want := damaged.want
				if id == "s" && want == nil {
					want = []string{"new"} // what was saved is all that can be read
				}
				if d := cmp.Diff(want, ids); d != "" || err != nil {
					t.Errorf("%s: %v\n%s", id, err, d)
				}
			}
		})
	}
}

// TestSaveWritesOnlyChanges: messages at the beginning that stay are not written again.
func TestSaveWritesOnlyChanges(t *testing.T) {
	f := fresh(t)
	s, k := f.Sessions(session.Options{}), session.Key{Namespace: "default", ID: "s"}
	converse(t, f, k, "Zq", 20)
	const newest = `SELECT seq FROM sqlite_sequence WHERE name = 'session_messages'`
	before := count(t, f.path, newest)
	a, _, err := session.Export(t.Context(), s, k)
	loaded := a.Store()
	if err != nil {
		t.Fatal(err)
	}
	r, err := save(s, k, loaded.Append("more", ragctx.TextMessage(ragctx.RoleUser, "one"),
		ragctx.TextMessage(ragctx.RoleUser, "two")))
	if err != nil || r.MessagesStored != 22 || r.NewMessages != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if n := count(t, f.path, newest) - before; n != 2 {
		t.Errorf("%d messages were written", n)
	}
	if got, _, err := s.Read(t.Context(), k, session.Query{Labels: true}); err != nil || got.Labels["Zq0"] != "Zq" {
		t.Errorf("%v, %v", got.Labels, err)
	}
}

// TestNotes compares the store's notes with those in memory, also after reopening.
func TestNotes(t *testing.T) {
	f := fresh(t)
	ada, ben := session.Key{Namespace: "default", User: "ada", ID: "s"}, session.Key{Namespace: "default", User: "ben", ID: "s"}
	for _, k := range []session.Key{ada, ben} {
		if _, err := f.Sessions(session.Options{}).Create(t.Context(), k, session.Archive{}, ""); err != nil {
			t.Fatal(err)
		}
	}
	var model stage.MemoryNotes
	compare := func() {
		t.Helper()
		for _, k := range []session.Key{ada, ben, {Namespace: "default", ID: "s"}, {Namespace: "none", ID: "s"}} {
			want, _ := model.Notes(t.Context(), scopeOf(k))
			got, err := f.Notes().Notes(t.Context(), scopeOf(k))
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" || err != nil {
				t.Errorf("%v: %v\n%s", k, err, d)
			}
		}
	}
	for i, reflects := range [][]string{nil, nil, nil, {"0", "1"}, nil, nil, {"2", "5"}, nil, {"5"}, {"3"}} { // of ada's, the 6th takes the 5th
		n := stage.Note{
			ID: fmt.Sprint(i), Created: t0.Add(time.Duration(i)), Through: fmt.Sprint("m", i), Reflects: reflects, Intent: "to <see>",
			Findings: []string{"a", "b"}, Tools: []string{"t"}, Pending: []string{"p"},
		}
		for j, k := range []session.Key{ada, ben} {
			if i%3 < j {
				continue
			}
			a, b := model.AddNote(t.Context(), scopeOf(k), n), f.Notes().AddNote(t.Context(), scopeOf(k), n)
			if lost := i == 8 && k == ada; errors.Is(a, ragctx.ErrConflict) != lost || errors.Is(b,
				ragctx.ErrConflict) != lost || (b == nil) == lost {
				t.Fatalf("%d of %s: %v, in memory %v", i, k.User, b, a)
			}
		}
		compare()
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, f.path)
	compare()
	if err := f.Notes().AddNote(t.Context(), stage.Scope{SessionID: "?"}, stage.Note{}); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("of no session: %v", err)
	}
}

func BenchmarkSessions(b *testing.B) {
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), store.DatabaseName), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	s, k := st.Sessions(session.Options{}), session.Key{Namespace: "default", ID: "s"}
	said := make([]ragctx.Message, 10_000)
	for i := range said {
		said[i] = ragctx.TextMessage(ragctx.RoleUser, strings.Repeat("so it goes ", 30))
	}
	if _, err := save(s, k, session.Store{}.Append(session.SectionMessages, said...)); err != nil {
		b.Fatal(err)
	}
	for name, do := range map[string]func(context.Context) error{
		"append": func(ctx context.Context) error {
			_, _, err := s.Append(ctx, k, session.SectionMessages, said[:1], session.Condition{})
			return err
		},
		"newest": func(ctx context.Context) error {
			q := session.Query{Messages: session.NewestMessages, Section: session.SectionMessages, Limit: 50}
			_, _, err := s.Read(ctx, k, q)
			return err
		},
		"path": func(ctx context.Context) error {
			_, err := session.Path(ctx, s, k, "")
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := do(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
