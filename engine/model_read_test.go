package engine_test

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

// look asks one leg. Whatever it finds must be visible to the viewer.
func (m *machine) look(s *modelSpace, kind store.Kind, w *viewer, leg, text string, k int) []engine.Hit {
	m.Helper()
	q := ragctx.NewQuery(text)
	q.Namespace, q.UserID, q.AgentID = s.name, w.user, w.agent
	q.AsOf, q.Filter = w.asOf, w.filter
	q.Filter.SessionID = w.session
	var hits []engine.Hit
	ask := func(method string) (degraded []string, err error) {
		hits, degraded, err = m.asked().Indexes().Hits(m.Context(), q, engine.HitsOptions{Kind: kind, K: k, Ranking: index.Ranking{Method: method}})
		return degraded, err
	}
	m.whole(func() ([]string, error) {
		degraded, err := ask(leg)
		if err == nil || !m.hurt {
			return degraded, err
		}
		// The only leg that was asked was found to be damaged. The other one answers.
		if _, err := ask(""); err != nil {
			return nil, err
		}
		return []string{leg}, nil
	})
	w.now = m.clock.now()
	for _, h := range hits {
		v := s.find(kind, h.Key, h.Version)
		if v == nil || h.Ordinal >= len(v.pieces) {
			m.Fatalf("%s, %q: found %+v, which was never written", leg, text, h)
		}
		if !w.sees(v) {
			m.Fatalf("%s, %q: found %+v, which viewer %v must not see: %v", leg, text, h, w, v)
		}
	}
	return hits
}

// whole repeats a question while a leg is missing from the answer, as one may be
// that is being rebuilt.
func (m *machine) whole(ask func() ([]string, error)) {
	m.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		degraded, err := ask()
		if err != nil {
			m.Fatal(err)
		}
		if len(degraded) == 0 {
			return
		}
		if time.Now().After(end) {
			m.Fatalf("still degraded after %v: %v", patience, degraded)
		}
		m.counts["degraded"]++
	}
}

// owner is a viewer that sees v if any viewer does now.
func (m *machine) owner(v *version) *viewer {
	return &viewer{user: v.mem.UserID, now: m.clock.now()}
}

// wantFound asks both legs for some pieces of v, as of now or as w says.
func (m *machine) wantFound(s *modelSpace, v *version) {
	m.Helper()
	m.wantFoundBy(s, v, m.owner(v))
}

func (m *machine) wantFoundBy(s *modelSpace, v *version, w *viewer) {
	m.Helper()
	if !w.sees(v) {
		return // it has expired, or been replaced
	}
	for _, i := range m.sample(len(v.pieces), 3) {
		p := v.pieces[i]
		is := func(h engine.Hit) bool { return h.Key == v.key && h.Version == v.number && h.Ordinal == i }
		hits := m.look(s, v.kind, w, "keyword", p.token, 5+m.uses[p.token])
		if !slices.ContainsFunc(hits, is) {
			m.Fatalf("keyword: %s@%d#%d is not found by %q, only %+v", v.key, v.number, i, p.token, hits)
		}
		hits = m.look(s, v.kind, w, "vector", p.embedded, 5+m.uses[p.token])
		at := slices.IndexFunc(hits, is)
		if at < 0 || hits[at].Score < .9999 {
			m.Fatalf("vector: %s@%d#%d is not found by its own text, only %+v", v.key, v.number, i, hits)
		}
	}
}

// sample returns at most k different numbers below n, the first and last among them.
func (m *machine) sample(n, k int) []int {
	if n <= k {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	return []int{0, 1 + m.rand.IntN(n-2), n - 1}
}

// wantGone asks both legs for a version that ended.
func (m *machine) wantGone(s *modelSpace, v *version) {
	m.Helper()
	w := m.owner(v)
	if w.sees(v) {
		m.Fatalf("the model shows %s@%d", v.key, v.number)
	}
	for _, i := range m.sample(len(v.pieces), 2) {
		p := v.pieces[i]
		m.look(s, v.kind, w, "keyword", p.token, 10) // look knows what must not be found
		m.look(s, v.kind, w, "vector", p.embedded, 10)
	}
}

// viewer draws a random viewer with a time and filters.
func (m *machine) viewer(s *modelSpace) *viewer {
	w := &viewer{now: m.clock.now(), user: pick(m, modelUsers)}
	if m.chance(3) {
		w.agent = pick(m, modelAgents)
	}
	if m.chance(3) {
		w.session = pick(m, modelSessions)
	}
	if m.chance(3) {
		w.asOf = m.moment(s)
	}
	switch m.rand.IntN(8) {
	case 0:
		w.filter.Tags = m.some(modelTags)
	case 1:
		w.filter.OccurredAfter = m.clock.now().Add(-50 * time.Hour)
	case 2:
		w.filter.OccurredBefore = m.clock.now().Add(-20 * time.Hour)
	case 3:
		w.filter.Sources = []string{pick(m, []string{"file:a/*", "file:b/*", "memory", "file:a/doc-02.md"})}
	}
	return w
}

// moment draws a time at which something changed, or one close to it.
func (m *machine) moment(s *modelSpace) time.Time {
	if len(s.keys) == 0 {
		return m.clock.now()
	}
	v := pick(m, s.items[pick(m, s.keys)])
	at := v.recorded
	if !v.superseded.IsZero() && m.chance(2) {
		at = v.superseded
	}
	return at.Add(time.Duration(m.rand.IntN(3)-1) * time.Microsecond)
}

func (m *machine) kind() store.Kind {
	return pick(m, []store.Kind{store.KindDocuments, store.KindMemories})
}

// searchTopic requires that the keyword index finds every text with a word. It may find more:
// neighbours of such a text, or similar spellings.
func (m *machine) searchTopic() {
	s, kind, topic := m.space(), m.kind(), pick(m, modelTopics)
	w := m.viewer(s)
	m.note("topic %s %v %s for %v", s.name, kind, topic, w)
	type place struct {
		key             string
		number, ordinal int
	}
	want, pieces := make(map[place]bool), 0
	for _, v := range s.seen(kind, w) {
		pieces += len(v.pieces)
		for i, p := range v.pieces {
			if p.topic == topic {
				want[place{v.key, v.number, i}] = true
			}
		}
	}
	for _, h := range m.look(s, kind, w, "keyword", topic, pieces+1) {
		delete(want, place{h.Key, h.Version, h.Ordinal})
	}
	if len(want) > 0 {
		m.Fatalf("keyword: %d pieces about %s are not found: %v", len(want), topic, want)
	}
}

// searchNear compares the best that the vector leg finds with the best of all.
func (m *machine) searchNear() {
	s, kind := m.space(), m.kind()
	w := m.viewer(s)
	text, _, _ := m.sentence()
	if all := s.versions(kind); len(all) > 0 && m.chance(2) {
		text = pick(m, pick(m, all).pieces).embedded
	}
	m.note("near %s %v for %v", s.name, kind, w)
	by := m.embedder()
	if by == nil {
		return
	}
	vector := m.vector(&piece{embedded: text}, by)
	var want []float64
	for _, v := range s.seen(kind, w) {
		for i := range v.pieces {
			if c := cosine(vector, m.vector(&v.pieces[i], by)); c > 0 {
				want = append(want, c)
			}
		}
	}
	slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(b, a) })
	const k = 20
	hits := m.look(s, kind, w, "vector", text, k)
	if len(hits) != min(k, len(want)) {
		m.Fatalf("vector: %d hits; %d pieces are visible", len(hits), len(want))
	}
	for i, h := range hits {
		c := cosine(vector, m.vector(&s.find(kind, h.Key, h.Version).pieces[h.Ordinal], by))
		if math.Abs(h.Score-c) > 1e-4 || math.Abs(want[i]-c) > 1e-4 {
			m.Fatalf("vector: hit %d has score %v and cosine %v; the best there has %v: %+v", i, h.Score, c, want[i], h)
		}
	}
}

// searchPast asks for something as of a time at which it was there.
func (m *machine) searchPast() {
	s, kind := m.space(), m.kind()
	all := s.versions(kind)
	if len(all) == 0 {
		return
	}
	v := pick(m, all)
	w := m.owner(v)
	w.asOf = v.recorded
	if !v.superseded.IsZero() && m.chance(2) {
		w.asOf = v.superseded.Add(-time.Microsecond)
	}
	m.note("past %s %s@%d as of %v", s.name, v.key, v.number, w.asOf)
	m.wantFoundBy(s, v, w)
}

// searchGone asks for something that may be gone, or another user's.
func (m *machine) searchGone() {
	s := m.space()
	all := s.versions(m.kind())
	if len(all) == 0 {
		return
	}
	v := pick(m, all)
	w := m.owner(v)
	if m.chance(2) {
		w = m.viewer(s)
	}
	m.note("gone? %s %s@%d for %v", s.name, v.key, v.number, w)
	p := pick(m, v.pieces)
	m.look(s, v.kind, w, "keyword", p.token, 10)
	m.look(s, v.kind, w, "vector", p.embedded, 10)
}

// ask requires a complete answer: only visible items, including the one that is queried by its own
// word.
func (m *machine) ask() {
	s := m.space()
	w := m.viewer(s)
	q := ragctx.NewQuery(pick(m, modelTopics)).WithMaxResults(10)
	var wanted string
	if seen := s.seen(m.kind(), w); len(seen) > 0 && m.chance(2) {
		v := pick(m, seen)
		i := m.rand.IntN(len(v.pieces))
		q.Query, wanted = v.pieces[i].token, v.itemID(i)
		if m.uses[v.pieces[i].token] > 1 {
			wanted = "" // a copy may stand for it
		}
	}
	m.note("ask %s %q for %v", s.name, q.Query, w)
	q.Namespace, q.UserID, q.AgentID = s.name, w.user, w.agent
	q.AsOf, q.Filter = w.asOf, w.filter
	q.Filter.SessionID = w.session
	var ids []string
	m.whole(func() ([]string, error) {
		a, err := m.asked().Context(m.Context(), q)
		ids = nil
		for _, it := range a.Items {
			ids = append(ids, it.ID)
		}
		return a.Degraded, err
	})
	for _, id := range ids {
		if !slices.ContainsFunc(s.cited(id), w.sees) {
			m.Fatalf("the answer holds %s, which viewer %v must not see", id, w)
		}
	}
	if wanted != "" && !slices.Contains(ids, wanted) {
		m.Fatalf("the answer to %q lacks %s: %v", q.Query, wanted, ids)
	}
}

// itemID is the citation of a piece.
func (v *version) itemID(i int) string {
	if v.kind == store.KindMemories {
		return v.key
	}
	return passage.ItemID(v.key, v.number, i)
}

// cited returns the versions that an item's id can mean; for a memory any version.
func (s *modelSpace) cited(id string) []*version {
	if all := s.items[key{store.KindMemories, id}]; len(all) > 0 {
		return all
	}
	if name, number, ordinal, ok := passage.ParseItemID(id); ok {
		if v := s.find(store.KindDocuments, name, number); v != nil && ordinal < len(v.pieces) {
			return []*version{v}
		}
	}
	return nil
}
