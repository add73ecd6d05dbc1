package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	convo "github.com/ragctx/ragctx/session"
)

// erasure is a set of versions and turns to erase, and the request for it.
type erasure struct {
	name   string
	item   func(*version) bool
	turn   func(ragctx.Turn) bool
	ask    func(context.Context, *engine.Engine) (store.Erased, error)
	denied bool // it is another's
}

func (s *modelSpace) document(id string) erasure {
	return erasure{
		name: "document " + id,
		item: func(v *version) bool { return v.kind == store.KindDocuments && v.key == id },
		turn: func(ragctx.Turn) bool { return false },
		ask: func(ctx context.Context, e *engine.Engine) (store.Erased, error) {
			return e.Documents().Erase(ctx, s.name, id)
		},
	}
}

func (s *modelSpace) memory(id, user string, anyone bool) erasure {
	return erasure{
		name: fmt.Sprintf("memory %s for %q, anyone's: %v", id, user, anyone),
		item: func(v *version) bool { return v.kind == store.KindMemories && v.key == id },
		turn: func(t ragctx.Turn) bool { return t.ID == id },
		ask: func(ctx context.Context, e *engine.Engine) (store.Erased, error) {
			return e.Memories().Erase(ctx, s.name, id, user, anyone)
		},
		denied: !anyone && s.others(id, user),
	}
}

func (s *modelSpace) session(id, user string, anyone bool) erasure {
	is := func(in, of string) bool { return in == id && (anyone || of == user) }
	return erasure{
		name: fmt.Sprintf("session %s of %q, anyone's: %v", id, user, anyone),
		item: func(v *version) bool { return is(v.mem.SessionID, v.mem.UserID) },
		turn: func(t ragctx.Turn) bool { return is(t.SessionID, t.UserID) },
		ask: func(ctx context.Context, e *engine.Engine) (store.Erased, error) {
			return e.Sessions().Erase(ctx, s.name, id, user, anyone, convo.Condition{})
		},
	}
}

func (s *modelSpace) user(id string) erasure {
	return erasure{
		name: fmt.Sprintf("user %q", id),
		item: func(v *version) bool { return v.mem.UserID == id },
		turn: func(t ragctx.Turn) bool { return t.UserID == id },
		ask: func(ctx context.Context, e *engine.Engine) (store.Erased, error) {
			return e.Admin().EraseUser(ctx, s.name, id)
		},
	}
}

// erase removes the versions of an erasure from the model and returns them.
func (s *modelSpace) erase(e erasure) (gone []*version, counts store.Erased) {
	for _, k := range slices.Clone(s.keys) {
		before := len(gone)
		var left []*version
		for _, v := range s.items[k] {
			if e.item(v) {
				gone = append(gone, v)
			} else {
				left = append(left, v)
			}
		}
		if len(gone) == before {
			continue
		}
		if s.items[k] = left; len(left) == 0 {
			delete(s.items, k)
			s.keys = slices.DeleteFunc(s.keys, func(o key) bool { return o == k })
		}
		if k.kind == store.KindDocuments {
			counts.Documents++
		} else {
			counts.Memories++
		}
	}
	counts.Versions, counts.Turns = len(gone), len(s.turns)
	maps.DeleteFunc(s.turns, func(_ string, t ragctx.Turn) bool { return e.turn(t) })
	s.told = slices.DeleteFunc(s.told, func(id string) bool { _, ok := s.turns[id]; return !ok })
	counts.Turns -= len(s.turns)
	return gone, counts
}

// erase permanently removes a document, a memory, a session or a user.
func (m *machine) erase() {
	s := m.space()
	user, anyone := pick(m, modelUsers), m.chance(2)
	var e erasure
	switch n := m.rand.IntN(10); {
	case n < 4:
		e = s.document(documentName(m.rand.IntN(documentNames)))
	case n < 8:
		e = s.memory(pick(m, []string{memoryName(m.rand.IntN(memoryNames)), m.anyTurn(s)}), user, anyone)
	case n < 9:
		e = s.session(pick(m, modelSessions[1:]), user, anyone)
	default:
		e = s.user(pick(m, []string{"ada", "bob"}))
	}
	m.wantErased(s, m.eraseAll(s, e))
}

// eraseAll requests erasures concurrently, and returns the removed versions.
func (m *machine) eraseAll(s *modelSpace, all ...erasure) (gone []*version) {
	m.Helper()
	got, errs := make([]store.Erased, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	for i, e := range all {
		m.note("erase %s %s", s.name, e.name)
		wg.Go(func() { got[i], errs[i] = e.ask(m.Context(), m.eng) })
	}
	wg.Wait()
	for i, e := range all {
		if e.denied {
			if !errors.Is(errs[i], ragctx.ErrNotFound) {
				m.Fatalf("erased %s of another: %+v, %v", e.name, got[i], errs[i])
			}
			continue
		}
		went, want := s.erase(e)
		got[i].Pending = 0
		if err := m.completed(s, errs[i]); err != nil || got[i] != want {
			m.Fatalf("erased %s: %+v, %v; want %+v", e.name, got[i], err, want)
		}
		gone = append(gone, went...)
	}
	return gone
}

// completed waits for the end of an erasure that was put off, since a leg is being
// made again: it is completed with the next.
func (m *machine) completed(s *modelSpace, err error) error {
	for end := time.Now().Add(patience); errors.Is(err, ragctx.ErrUnavailable) && time.Now().Before(end); {
		_, err = m.eng.Documents().Erase(m.Context(), s.name, "nothing")
	}
	return err
}

// anyTurn returns the id of a turn, or one that does not exist.
func (m *machine) anyTurn(s *modelSpace) string {
	if len(s.told) == 0 {
		return "turn-none"
	}
	return pick(m, s.told)
}

// others reports whether a version under a memory's id belongs to another user.
func (s *modelSpace) others(id, user string) bool {
	t, told := s.turns[id]
	return told && t.UserID != "" && t.UserID != user ||
		slices.ContainsFunc(s.items[key{store.KindMemories, id}], func(v *version) bool { return v.mem.UserID != "" && v.mem.UserID != user })
}

// taken reports whether something under a memory's id is not this user's.
func (s *modelSpace) taken(id, user string) bool {
	t, told := s.turns[id]
	return told && t.UserID != user ||
		slices.ContainsFunc(s.items[key{store.KindMemories, id}], func(v *version) bool { return v.mem.UserID != user })
}

// wantErased searches for erased content: at any time, in both indexes, and in the bytes of all files.
func (m *machine) wantErased(s *modelSpace, gone []*version) {
	m.Helper()
	for _, v := range gone {
		for _, p := range v.pieces {
			if m.uses[p.token]--; m.uses[p.token] == 0 {
				delete(m.uses, p.token)
			}
		}
	}
	for i, v := range gone {
		if i > 5 {
			break
		}
		p := pick(m, v.pieces)
		m.wantNowhere(s, &relic{s.name, v.kind, v.mem.UserID, v.recorded, p.token, p.embedded})
		if m.uses[p.token] == 0 && m.chance(3) {
			m.wantNoBytes(p.token)
		}
	}
}

// wantNowhere searches both indexes of a space for erased content, now and at the time when it
// existed.
func (m *machine) wantNowhere(s *modelSpace, r *relic) {
	m.Helper()
	for _, at := range []time.Time{{}, r.recorded} {
		w := &viewer{user: r.user, now: m.clock.now(), asOf: at}
		m.look(s, r.kind, w, "keyword", r.token, 10)
		m.look(s, r.kind, w, "vector", r.embedded, 10)
	}
}

// wantNoBytes looks for words in the files.
func (m *machine) wantNoBytes(words ...string) {
	m.Helper()
	if word, name := m.leftover(m.opts.Dir, words); name != "" {
		m.Fatalf("%s was erased, and is still in %s", word, name)
	}
	if m.follower == nil {
		return
	}
	var word, name string
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(50 * time.Millisecond) { // a follower erases by itself
		if word, name = m.leftover(m.following, words); name == "" {
			return
		}
	}
	m.Fatalf("%s was erased, and is still in %s of the follower", word, name)
}

// leftover returns the first word that a file of a directory has, and the file's name.
func (m *machine) leftover(dir string, words []string) (word, name string) {
	for _, name := range filesOf(dir, "") {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue // it has been removed since
		}
		for _, word := range words {
			if bytes.Contains(b, []byte(word)) {
				return word, name
			}
		}
	}
	return "", ""
}
