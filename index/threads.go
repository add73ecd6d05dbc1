package index

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// thread is what one user and one agent said to each other in a session, in the
// order of time. What belongs to no session is kept in threads too, those without
// a session, for questions about a time; such units are no neighbours. What was
// derived from messages is kept apart, one thread for each user and agent, only so
// that all units of a user can be listed.
//
// Searches read threads beside changes. A list of messages is never changed but
// where no reader looks: beyond its end.
type thread struct {
	user, agent, session string

	n     int32 // its place among all threads
	apart bool  // it holds no messages
	list  atomic.Pointer[[]message]
	// units counts those of the list; uneven says that one of them may be there
	// for some questions and not for others.
	units  atomic.Int32
	uneven atomic.Bool
}

// message is a row of units of one parent, with consecutive ids, that one voice
// said.
type message struct {
	parent *parent
	first  uint64
	units  int32
	voice  uint32
}

// compareMessages orders by when it happened, then by when it was written.
func compareMessages(a, b message) int {
	return cmp.Or(a.parent.Occurred.Compare(b.parent.Occurred), cmp.Compare(a.first, b.first))
}

// messages returns the thread's list.
func (t *thread) messages() []message {
	if p := t.list.Load(); p != nil {
		return *p
	}
	return nil
}

// at returns the place of the message that a unit of p is in.
func at(list []message, p *parent, unit uint64) (int, bool) {
	i := sort.Search(len(list), func(i int) bool {
		return compareMessages(list[i], message{parent: p, first: unit}) > 0
	}) - 1
	return i, i >= 0 && list[i].parent == p && unit-list[i].first < uint64(list[i].units) //nolint:gosec // not negative
}

// add takes over messages, which are sorted. One that goes on where another ends
// is joined to it, so that the list does not depend on how units came.
func (t *thread) add(fresh []message) {
	for _, m := range fresh {
		t.units.Add(m.units)
		if !m.parent.even() {
			t.uneven.Store(true)
		}
	}
	list := t.messages()
	if n := len(list); n > 0 && (compareMessages(list[n-1], fresh[0]) > 0 || follows(list[n-1], fresh[0])) {
		all := slices.Concat(list, fresh)
		slices.SortFunc(all, compareMessages)
		list, fresh = nil, all
	}
	for _, m := range fresh {
		if n := len(list); n > 0 && follows(list[n-1], m) {
			// Only what this call has appended, or copied, can be gone on with.
			list[n-1].units += m.units
			continue
		}
		list = append(list, m)
	}
	t.list.Store(&list)
}

// follows reports whether b goes on where a ends.
func follows(a, b message) bool {
	return a.parent == b.parent && a.voice>>1 == b.voice>>1 && a.first+uint64(a.units) == b.first //nolint:gosec // not negative
}

// drop forgets the messages of removed parents.
func (t *thread) drop() {
	list := slices.DeleteFunc(slices.Clone(t.messages()), func(m message) bool { return m.parent.removed.Load() })
	t.list.Store(&list)
	var units int32
	for _, m := range list {
		units += m.units
	}
	t.units.Store(units)
	t.uneven.Store(slices.ContainsFunc(list, func(m message) bool { return !m.parent.even() }))
}

// even reports whether p is visible now and will be, to those whose it is.
func (p *parent) even() bool {
	return p.Expires.IsZero() && p.superseded.Load() == noTime && !p.removed.Load()
}

// threads are those of a collection.
type threads struct {
	byKey map[threadKey]*thread // guarded by Hybrid.write
	all   roster
	users sync.Map    // user to *roster
	loose atomic.Bool // some units are in no thread
}

type threadKey struct {
	user, agent, session string
	apart                bool
}

// roster is a list of threads that only grows.
type roster struct{ list atomic.Pointer[[]*thread] }

func (r *roster) threads() []*thread {
	if p := r.list.Load(); p != nil {
		return *p
	}
	return nil
}

func (r *roster) add(t *thread) {
	list := append(r.threads(), t)
	r.list.Store(&list)
}

// of returns the thread that a parent belongs to, nil for what has neither
// session nor time.
func (ts *threads) of(p *Parent) *thread {
	key := threadKey{user: p.User, agent: p.Agent, session: p.Session}
	if p.Source == DerivedSource {
		key.session, key.apart = "", true
	} else if p.Session == "" && p.Occurred.IsZero() {
		return nil
	}
	t := ts.byKey[key]
	if t != nil {
		return t
	}
	t = &thread{user: key.user, agent: key.agent, session: key.session, apart: key.apart, n: int32(len(ts.byKey))} //nolint:gosec // far fewer than 2³¹
	if ts.byKey == nil {
		ts.byKey = make(map[threadKey]*thread)
	}
	ts.byKey[key] = t
	ts.all.add(t)
	r, _ := ts.users.LoadOrStore(p.User, new(roster))
	r.(*roster).add(t) //nolint:forcetypeassert // only rosters are stored
	return t
}

// add takes over units, which are new and in the order of their ids.
func (ts *threads) add(units []known) {
	fresh := make(map[*thread][]message)
	for i := 0; i < len(units); {
		m := message{parent: units[i].parent, first: units[i].id, units: 1, voice: units[i].voice}
		for i++; i < len(units) && follows(m, message{parent: units[i].parent, first: units[i].id, voice: units[i].voice}); i++ {
			m.units++
		}
		if t := m.parent.thread; t != nil {
			fresh[t] = append(fresh[t], m)
		} else {
			ts.loose.Store(true)
		}
	}
	for t, list := range fresh {
		slices.SortFunc(list, compareMessages)
		t.add(list)
	}
}

// visit calls fn for the threads of messages in a scope.
func (ts *threads) visit(s Scope, fn func(*thread)) {
	ts.visitAll(s, func(t *thread) {
		if !t.apart {
			fn(t)
		}
	})
}

// visitAll calls fn for the threads in a scope, and for those that hold no messages,
// whose units may be of any session.
func (ts *threads) visitAll(s Scope, fn func(*thread)) {
	in := func(r *roster) {
		for _, t := range r.threads() {
			if (s.Agent == "" || t.agent == s.Agent) && (s.Session == "" || t.apart || t.session == s.Session) {
				fn(t)
			}
		}
	}
	if s.AnyUser {
		in(&ts.all)
		return
	}
	users := []string{"", s.User}
	if s.User == "" {
		users = users[:1]
	}
	for _, u := range users {
		if r, ok := ts.users.Load(u); ok {
			in(r.(*roster)) //nolint:forcetypeassert // only rosters are stored
		}
	}
}

// within returns the messages of a list from..to, to excluded; a zero time is
// open on that side.
func within(list []message, from, to time.Time) []message {
	start, end := 0, len(list)
	if !from.IsZero() {
		start = sort.Search(end, func(i int) bool { return !list[i].parent.Occurred.Before(from) })
	}
	if !to.IsZero() {
		end = sort.Search(end, func(i int) bool { return !list[i].parent.Occurred.Before(to) })
	}
	return list[start:max(start, end)]
}
