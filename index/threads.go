package index

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// thread is the messages of one user and one agent in a session, in the order of time. Messages
// without a session are in threads without a session, for questions about a time; they have no
// neighbors. Items derived from messages are in separate threads, one for each user and agent, so
// that all chunks of a user can be listed.
//
// Searches read threads concurrently with changes. A list of messages is immutable, except that the
// writer appends beyond the end that readers see.
type thread struct {
	user, agent, session string

	number  int32 // its index among all threads
	derived bool  // it holds derived items, not messages
	list    atomic.Pointer[[]message]
	// chunks counts the chunks in the list. varying is set if one of them may be visible to some
	// queries of its owner and not to others.
	chunks  atomic.Int32
	varying atomic.Bool
}

// message is a run of chunks of one item with consecutive ids and one speaker.
type message struct {
	item    *item
	first   uint64
	chunks  int32
	speaker uint32
}

// compareMessages orders by time of occurrence, then by time of writing.
func compareMessages(a, b message) int {
	return cmp.Or(a.item.Occurred.Compare(b.item.Occurred), cmp.Compare(a.first, b.first))
}

// messages returns the thread's list.
func (t *thread) messages() []message {
	if p := t.list.Load(); p != nil {
		return *p
	}
	return nil
}

// messageAt returns the index of the message that contains a chunk of p.
func messageAt(list []message, p *item, id uint64) (int, bool) {
	i := sort.Search(len(list), func(i int) bool {
		return compareMessages(list[i], message{item: p, first: id}) > 0
	}) - 1
	return i, i >= 0 && list[i].item == p && id-list[i].first < uint64(list[i].chunks) //nolint:gosec // not negative
}

// add adds sorted messages. It joins a message that continues another one, so that the list does
// not depend on how chunks arrived.
func (t *thread) add(fresh []message) {
	for _, m := range fresh {
		t.chunks.Add(m.chunks)
		if !m.item.permanent() {
			t.varying.Store(true)
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
			// Only elements appended or copied by this call may be changed.
			list[n-1].chunks += m.chunks
			continue
		}
		list = append(list, m)
	}
	t.list.Store(&list)
}

// follows reports whether b continues a.
func follows(a, b message) bool {
	return a.item == b.item && a.speaker>>1 == b.speaker>>1 && a.first+uint64(a.chunks) == b.first //nolint:gosec // not negative
}

// drop removes the messages of removed items.
func (t *thread) drop() {
	list := slices.DeleteFunc(slices.Clone(t.messages()), func(m message) bool { return m.item.removed.Load() })
	t.list.Store(&list)
	var chunks int32
	for _, m := range list {
		chunks += m.chunks
	}
	t.chunks.Store(chunks)
	t.varying.Store(slices.ContainsFunc(list, func(m message) bool { return !m.item.permanent() }))
}

// permanent reports whether p is visible to its owner now and at any later time.
func (p *item) permanent() bool {
	return p.Expires.IsZero() && p.superseded.Load() == noTime && !p.removed.Load()
}

// threads holds the threads of a collection.
type threads struct {
	byKey      map[threadKey]*thread // guarded by Hybrid.write
	all        threadList
	users      sync.Map    // user to *threadList
	unthreaded atomic.Bool // some chunks are in no thread
}

type threadKey struct {
	user, agent, session string
	derived              bool
}

// threadList is a list of threads that only grows.
type threadList struct{ list atomic.Pointer[[]*thread] }

func (r *threadList) threads() []*thread {
	if p := r.list.Load(); p != nil {
		return *p
	}
	return nil
}

func (r *threadList) add(t *thread) {
	list := append(r.threads(), t)
	r.list.Store(&list)
}

// threadOf returns the thread of an item, or nil without session and time.
func (ts *threads) threadOf(p *Item) *thread {
	key := threadKey{user: p.User, agent: p.Agent, session: p.Session}
	if p.Source == DerivedSource {
		key.session, key.derived = "", true
	} else if p.Session == "" && p.Occurred.IsZero() {
		return nil
	}
	t := ts.byKey[key]
	if t != nil {
		return t
	}
	t = &thread{
		user: key.user, agent: key.agent, session: key.session, derived: key.derived,
		number: int32(len(ts.byKey)), //nolint:gosec // far fewer than 2³¹
	}
	if ts.byKey == nil {
		ts.byKey = make(map[threadKey]*thread)
	}
	ts.byKey[key] = t
	ts.all.add(t)
	r, _ := ts.users.LoadOrStore(p.User, new(threadList))
	r.(*threadList).add(t) //nolint:forcetypeassert // only rosters are stored
	return t
}

// add adds new chunks, sorted by id.
func (ts *threads) add(chunks []catalogEntry) {
	fresh := make(map[*thread][]message)
	for i := 0; i < len(chunks); {
		m := message{item: chunks[i].item, first: chunks[i].id, chunks: 1, speaker: chunks[i].speaker}
		for i++; i < len(chunks) && follows(m, message{item: chunks[i].item, first: chunks[i].id, speaker: chunks[i].speaker}); i++ {
			m.chunks++
		}
		if t := m.item.thread; t != nil {
			fresh[t] = append(fresh[t], m)
		} else {
			ts.unthreaded.Store(true)
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
		if !t.derived {
			fn(t)
		}
	})
}

// visitAll calls fn for the threads in a scope, including threads of derived items, which may
// belong to any session.
func (ts *threads) visitAll(s Scope, fn func(*thread)) {
	in := func(r *threadList) {
		for _, t := range r.threads() {
			if (s.Agent == "" || t.agent == s.Agent) && (s.Session == "" || t.derived || t.session == s.Session) {
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
			in(r.(*threadList)) //nolint:forcetypeassert // only rosters are stored
		}
	}
}

// between returns the messages of a list within from..to, excluding to; a zero time is open on that
// side.
func between(list []message, from, to time.Time) []message {
	start, end := 0, len(list)
	if !from.IsZero() {
		start = sort.Search(end, func(i int) bool { return !list[i].item.Occurred.Before(from) })
	}
	if !to.IsZero() {
		end = sort.Search(end, func(i int) bool { return !list[i].item.Occurred.Before(to) })
	}
	return list[start:max(start, end)]
}
