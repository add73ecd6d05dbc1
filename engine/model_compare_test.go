package engine_test

import (
	"errors"
	"math"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// get reads single things by their ids.
func (m *machine) get() {
	s := m.space()
	if len(s.keys) == 0 {
		return
	}
	k := pick(m, s.keys)
	m.note("get %s %s", s.name, k.id)
	if k.kind == store.KindMemories {
		m.getMemory(s, k)
		return
	}
	m.compareDocument(s, k, 0, s.current(k))
	v := pick(m, s.items[k])
	m.compareDocument(s, k, v.number, v)
	m.compareUnits(s, v)
	i := m.rand.IntN(len(v.pieces))
	if u, err := m.asked().Documents().Passage(m.Context(), s.name, v.itemID(i)); err != nil || u.Text != v.pieces[i].text {
		m.Fatalf("passage %s: %q, %v", v.itemID(i), u.Text, err)
	}
}

func (m *machine) compareDocument(s *modelSpace, k key, number int, want *version) {
	m.Helper()
	d, text, err := m.asked().Documents().Get(m.Context(), s.name, k.id, number)
	if want == nil {
		if !errors.Is(err, ragctx.ErrNotFound) {
			m.Fatalf("document %s was deleted: %+v, %v", k.id, d, err)
		}
		return
	}
	if err != nil || d.Version != want.number || text != want.doc.Text || d.Title != want.doc.Title ||
		d.Chunks != len(want.pieces) || !d.Recorded.Equal(want.recorded) || !slices.Equal(d.Tags, want.doc.Tags) {
		m.Fatalf("document %s is %+v, %v; want %v", k.id, d, err, want)
	}
}

// compareUnits compares all that a document was cut into.
func (m *machine) compareUnits(s *modelSpace, v *version) {
	m.Helper()
	units, err := m.asked().Documents().Chunks(m.Context(), s.name, v.key, v.number)
	if err != nil || len(units) != len(v.pieces) {
		m.Fatalf("%s@%d has %d units, want %d: %v", v.key, v.number, len(units), len(v.pieces), err)
	}
	for i, u := range units {
		if u.Ordinal != i || u.Text != v.pieces[i].text {
			m.Fatalf("%s@%d#%d is %d: %q, want %q", v.key, v.number, i, u.Ordinal, u.Text, v.pieces[i].text)
		}
	}
}

func (m *machine) getMemory(s *modelSpace, k key) {
	user, anyone := pick(m, modelUsers), m.chance(2)
	got, err := m.asked().Memories().Get(m.Context(), s.name, k.id, user, anyone)
	v := s.current(k)
	if v == nil || v.expired(m.clock.now()) || !anyone && v.mem.UserID != "" && v.mem.UserID != user {
		if !errors.Is(err, ragctx.ErrNotFound) {
			m.Fatalf("memory %s is not to be had: %+v, %v", k.id, got, err)
		}
		return
	}
	if err != nil || !v.is(got) {
		m.Fatalf("memory %s is %+v, %v; want %v", k.id, got, err, v)
	}
}

func (v *version) is(got ragctx.Memory) bool {
	return got.ID == v.key && got.Version == v.number && got.Content == v.mem.Content && got.UserID == v.mem.UserID &&
		got.Type == v.mem.Type && got.Recorded.Equal(v.recorded) && got.Expires.Equal(v.mem.Expires)
}

// list compares the lists, page by page, and the counts.
func (m *machine) list() {
	s := m.space()
	m.note("list %s", s.name)
	m.compareDocuments(s, 1+m.rand.IntN(60))
	m.compareMemories(s, m.viewer(s), 1+m.rand.IntN(200))
}

func (m *machine) compareDocuments(s *modelSpace, page int) {
	m.Helper()
	var want []string
	for _, v := range s.versions(store.KindDocuments) {
		if v.superseded.IsZero() {
			want = append(want, v.key)
		}
	}
	slices.Sort(want)
	var got []string
	for o := (store.ListOptions{Limit: page}); ; {
		found, err := m.asked().Documents().List(m.Context(), s.name, o)
		if err != nil {
			m.Fatal(err)
		}
		for _, d := range found {
			got = append(got, d.ID)
		}
		if len(found) < page {
			break
		}
		o.After = got[len(got)-1]
	}
	if !slices.Equal(got, want) {
		m.Fatalf("documents of %s are %v, want %v", s.name, got, want)
	}
	st, err := m.asked().Admin().Stats(m.Context(), s.name)
	if err != nil || st.Documents != len(want) || st.Memories != s.count(store.KindMemories) {
		m.Fatalf("stats of %s are %+v, %v; want %d documents, %d memories", s.name, st, err, len(want), s.count(store.KindMemories))
	}
}

func (m *machine) compareMemories(s *modelSpace, w *viewer, page int) {
	m.Helper()
	want := s.seen(store.KindMemories, w)
	var got []ragctx.Memory
	f := store.MemoryFilter{UserID: w.user, AgentID: w.agent, SessionID: w.session, Filter: w.filter, AsOf: w.asOf, Limit: page}
	for {
		found, next, err := m.asked().Memories().List(m.Context(), s.name, f)
		if err != nil {
			m.Fatal(err)
		}
		got = append(got, found...)
		if next.ID == "" {
			break
		}
		f.After = next
	}
	if len(got) != len(want) {
		m.Fatalf("%d memories of %s for %v, want %d", len(got), s.name, w, len(want))
	}
	for i, g := range got {
		v := s.find(store.KindMemories, g.ID, g.Version)
		if v == nil || !w.sees(v) || !v.is(g) {
			m.Fatalf("memories of %s for %v: %+v is not to be seen", s.name, w, g)
		}
		if score := ragctx.Rounded(v.score(w.now)); math.Abs(g.Score-score) > 1e-9 || i > 0 && g.Score > got[i-1].Score {
			m.Fatalf("memory %s has score %v, want %v, after %+v", g.ID, g.Score, score, got[max(i-1, 0)])
		}
	}
}

// compareAll compares whole spaces: every list, and every piece in both legs.
func (m *machine) compareAll(spaces []*modelSpace) {
	m.Helper()
	names, err := m.asked().Admin().NamespaceNames(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	for _, s := range spaces {
		m.note("compare all of %s", s.name)
		if len(s.keys) > 0 && !slices.Contains(names, s.name) {
			m.Fatalf("namespace %s is gone: %v", s.name, names)
		}
		m.compareDocuments(s, 1000)
		for _, u := range []string{"", "ada", "bob", "eve"} {
			m.compareMemories(s, &viewer{user: u, now: m.clock.now()}, 1000)
		}
		for _, k := range s.keys {
			for _, v := range s.items[k] {
				switch {
				case v.superseded.IsZero() && !v.expired(m.clock.now()):
					m.wantFound(s, v)
				case m.chance(4):
					m.wantGone(s, v)
				}
			}
		}
	}
}
