package engine_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/store"
)

// erasure is what is to go: versions and turns.
type erasure struct {
	item func(*version) bool
	turn func(ragctx.Turn) bool
}

// erase takes away what an erasure means and returns it.
func (s *space) erase(e erasure) (gone []*version, counts store.Erased) {
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
		if k.kind == store.Documents {
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

// erase removes a document, a memory, a session or a user for good.
func (m *machine) erase() {
	s := m.space()
	user, anyone := pick(m, modelUsers), m.chance(2)
	memory := pick(m, []string{memoryName(m.rand.IntN(memoryNames)), m.anyTurn(s)})
	none := erasure{func(*version) bool { return false }, func(ragctx.Turn) bool { return false }}
	var e erasure
	var got store.Erased
	var err error
	switch n := m.rand.IntN(10); {
	case n < 4:
		id := documentName(m.rand.IntN(documentNames))
		m.note("erase document %s %s", s.name, id)
		e = erasure{func(v *version) bool { return v.kind == store.Documents && v.key == id }, none.turn}
		got, err = m.eng.EraseDocument(m.Context(), s.name, id)
	case n < 8:
		m.note("erase memory %s %s for %q, anyone's: %v", s.name, memory, user, anyone)
		e = erasure{
			func(v *version) bool { return v.kind == store.Memories && v.key == memory },
			func(t ragctx.Turn) bool { return t.ID == memory },
		}
		got, err = m.eng.EraseMemory(m.Context(), s.name, memory, user, anyone)
		if !anyone && s.others(memory, user) {
			if !errors.Is(err, ragctx.ErrNotFound) {
				m.Fatalf("memory %s of another was erased for %q: %+v, %v", memory, user, got, err)
			}
			return
		}
	case n < 9:
		session := pick(m, modelSessions[1:])
		m.note("erase session %s %s of %q, anyone's: %v", s.name, session, user, anyone)
		is := func(in, of string) bool { return in == session && (anyone || of == user) }
		e = erasure{
			func(v *version) bool { return is(v.mem.SessionID, v.mem.UserID) },
			func(t ragctx.Turn) bool { return is(t.SessionID, t.UserID) },
		}
		got, err = m.eng.EraseSession(m.Context(), s.name, session, user, anyone)
	default:
		user = pick(m, []string{"ada", "bob"})
		m.note("erase user %s %q", s.name, user)
		e = erasure{func(v *version) bool { return v.mem.UserID == user }, func(t ragctx.Turn) bool { return t.UserID == user }}
		got, err = m.eng.EraseUser(m.Context(), s.name, user)
	}
	for end := time.Now().Add(time.Minute); errors.Is(err, ragctx.ErrUnavailable) && time.Now().Before(end); {
		// A leg is being made again; the erasure is completed with the next.
		_, err = m.eng.EraseDocument(m.Context(), s.name, "nothing")
	}
	gone, want := s.erase(e)
	if got.Pending = 0; err != nil || got != want {
		m.Fatalf("erased %+v, %v; want %+v", got, err, want)
	}
	m.wantErased(s, gone)
}

// anyTurn returns the id of a turn, or one that is none.
func (m *machine) anyTurn(s *space) string {
	if len(s.told) == 0 {
		return "turn-none"
	}
	return pick(m, s.told)
}

// others reports whether something under a memory's id belongs to somebody else.
func (s *space) others(id, user string) bool {
	t, told := s.turns[id]
	return told && t.UserID != "" && t.UserID != user ||
		slices.ContainsFunc(s.items[key{store.Memories, id}], func(v *version) bool { return v.mem.UserID != "" && v.mem.UserID != user })
}

// wantErased looks for what was erased: at any time, in both legs, and in the
// bytes of all files.
func (m *machine) wantErased(s *space, gone []*version) {
	m.Helper()
	for _, v := range gone {
		for _, p := range v.pieces {
			m.uses[p.token]--
		}
	}
	for i, v := range gone {
		if i > 5 {
			break
		}
		p := pick(m, v.pieces)
		for _, w := range []*viewer{m.owner(v), {user: v.mem.UserID, now: m.clock.now(), asOf: v.recorded}} {
			m.look(s, v.kind, w, "keyword", p.token, 10)
			m.look(s, v.kind, w, "vector", p.embedded, 10)
		}
		if m.uses[p.token] == 0 && m.chance(3) {
			m.wantNoBytes(p.token)
		}
	}
}

// wantNoBytes looks for a word in the files.
func (m *machine) wantNoBytes(word string) {
	m.Helper()
	for _, name := range m.files("") {
		b, err := os.ReadFile(filepath.Join(m.opts.Dir, name))
		if err == nil && bytes.Contains(b, []byte(word)) {
			m.Fatalf("%s was erased, and is still in %s", word, name)
		}
	}
}
