package index

import (
	"cmp"
	"slices"
	"time"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// window returns the time that q asks about, or nil.
func (h *Hybrid) window(q *Query, state uint64) *timeexpr.Window {
	if q.Time == nil {
		return nil
	}
	var t timeexpr.Timeline
	if q.Time.Reading.NeedsTimeline() {
		t = h.timeline(q, state)
	}
	w := q.Time.Reading.Window(t)
	if w.Sessions == nil && w.From.IsZero() && w.To.IsZero() {
		return nil
	}
	return &w
}

// timeline returns the sessions and days of the items that q may see.
func (h *Hybrid) timeline(q *Query, state uint64) timeexpr.Timeline {
	sessions := make(map[string]*timeexpr.Session)
	days := make(map[time.Time]bool)
	h.threads.visit(q.Scope, func(t *thread) {
		list := t.messages()
		first := nextVisible(list, q, state, 0)
		if first == len(list) {
			return
		}
		last := len(list) - 1
		for !q.visible(list[last].item, state) {
			last--
		}
		if t.session != "" {
			from, to := list[first].item.Occurred, list[last].item.Occurred
			s := sessions[t.session]
			if s == nil {
				s = &timeexpr.Session{ID: t.session, First: from, Last: to}
				sessions[t.session] = s
			}
			if from.Before(s.First) {
				s.First = from
			}
			if to.After(s.Last) {
				s.Last = to
			}
		}
		noteDays(days, list, q, state)
	})
	out := timeexpr.Timeline{Current: q.Session}
	for _, s := range sessions {
		out.Sessions = append(out.Sessions, *s)
	}
	slices.SortFunc(out.Sessions, func(a, b timeexpr.Session) int {
		return cmp.Or(a.First.Compare(b.First), a.Last.Compare(b.Last), cmp.Compare(a.ID, b.ID))
	})
	for d := range days {
		out.Days = append(out.Days, d)
	}
	slices.SortFunc(out.Days, time.Time.Compare)
	return out
}

// nextVisible returns the index of the first visible message from an index on.
func nextVisible(list []message, q *Query, state uint64, from int) int {
	for from < len(list) && !q.visible(list[from].item, state) {
		from++
	}
	return from
}

// noteDays adds the days with visible items, by their midnights in the location of q.Now. It
// examines one message per day if all are visible.
func noteDays(days map[time.Time]bool, list []message, q *Query, state uint64) {
	for len(list) > 0 {
		i := nextVisible(list, q, state, 0)
		if i == len(list) {
			return
		}
		y, m, d := list[i].item.Occurred.In(q.Now.Location()).Date()
		days[time.Date(y, m, d, 0, 0, 0, 0, q.Now.Location())] = true
		list = between(list, time.Date(y, m, d+1, 0, 0, 0, 0, q.Now.Location()), time.Time{})
	}
}

// inWindow calls fn for the visible messages in a window, thread by thread, until it returns false.
func (h *Hybrid) inWindow(q *Query, state uint64, w *timeexpr.Window, fn func(message) bool) {
	more := true
	h.threads.visit(q.Scope, func(t *thread) {
		if !more || w.Sessions != nil && !slices.Contains(w.Sessions, t.session) {
			return
		}
		list := t.messages()
		if w.Sessions == nil {
			list = between(list, w.From, w.To)
		}
		for _, m := range list {
			if more && q.visible(m.item, state) && w.Contains(m.item.Occurred, m.item.Session) {
				more = fn(m)
			}
		}
	})
}

// listByTime returns the chunks in a window in the order of time. Their scores fall from 1 to a
// half, so that sorting by score keeps the order: all of them match a question about that time
// alone.
func (h *Hybrid) listByTime(q *Query, state uint64, w *timeexpr.Window) []Hit {
	var found []message
	chunks := 0
	h.inWindow(q, state, w, func(m message) bool {
		found = append(found, m)
		chunks += int(m.chunks)
		return true
	})
	slices.SortFunc(found, compareMessages)
	c := h.view.Load()
	hits := make([]Hit, 0, min(chunks, q.K))
	for _, m := range found {
		for id := m.first; id < m.first+uint64(m.chunks) && len(hits) < q.K; id++ { //nolint:gosec // not negative
			if i, ok := c.at(id); ok {
				score := 1 - 0.5*float64(len(hits))/float64(chunks)
				hits = append(hits, Hit{ID: id, Item: m.item.ID, Ordinal: int(c.ordinal[i]), Score: score, Relevance: score})
			}
		}
	}
	return hits
}

// Within returns all chunks in the time that q asks about, in the order of time, and the state in
// which they were found. It returns false if q asks about no time.
func (h *Hybrid) Within(q Query) (Result, bool) {
	res := Result{State: h.applied.Load()}
	w := h.window(&q, res.State)
	if w == nil {
		return res, false
	}
	q.K = len(h.view.Load().ids)
	res.Hits = h.listByTime(&q, res.State, w)
	return res, true
}

// sessionGroups numbers the threads in a scope that have visible chunks.
type sessionGroups struct {
	threads []*thread // by group
	number  groupNumbers
	sizes   []int32
}

// groupNumbers maps threads to groups, counted from 1; 0 for none. A few threads are in a map, as
// there may be very many others.
type groupNumbers struct {
	few map[*thread]int32
	all []int32
}

func newGroupNumbers(all bool, threads int) groupNumbers {
	if all {
		return groupNumbers{all: make([]int32, threads)}
	}
	return groupNumbers{few: make(map[*thread]int32)}
}

// set sets the group of a thread. It returns false if the thread is newer than the list.
func (n groupNumbers) set(t *thread, group int32) bool {
	if n.few != nil {
		n.few[t] = group
		return true
	}
	if int(t.number) >= len(n.all) {
		return false
	}
	n.all[t.number] = group
	return true
}

func (n groupNumbers) of(t *thread) int32 {
	switch {
	case t == nil:
		return 0
	case n.few != nil:
		return n.few[t]
	case int(t.number) < len(n.all):
		return n.all[t.number]
	}
	return 0
}

// sessionGroups returns nil if there are fewer than two groups, as session scores could not
// distinguish chunks.
func (h *Hybrid) sessionGroups(q *Query, state uint64) *sessionGroups {
	if q.Conversation == nil || q.Conversation.WithDefaults().Session == 0 {
		return nil
	}
	g := &sessionGroups{number: newGroupNumbers(q.Scope.AnyUser, len(h.threads.all.threads()))}
	h.threads.visit(q.Scope, func(t *thread) {
		n := t.visible(q, state)
		if t.session == "" || n == 0 || !g.number.set(t, int32(len(g.threads)+1)) { //nolint:gosec // far fewer than 2³¹
			return
		}
		g.threads = append(g.threads, t)
		g.sizes = append(g.sizes, n)
	})
	if len(g.threads) < 2 {
		return nil
	}
	return g
}

// visible returns the number of its chunks that q may see.
func (t *thread) visible(q *Query, state uint64) (n int32) {
	if !t.varying.Load() && q.Filter.IsZero() && q.AsOf.IsZero() {
		return t.chunks.Load()
	}
	for _, m := range t.messages() {
		if q.visible(m.item, state) {
			n += m.chunks
		}
	}
	return n
}

// groups returns the groups for the query of the keyword index.
func (g *sessionGroups) groups(h *Hybrid, q *Query, state uint64) *Groups {
	if g == nil {
		return nil
	}
	c := h.view.Load()
	return &Groups{Sizes: g.sizes, Of: func(id uint64) int32 {
		i, ok := c.at(id)
		if !ok { // it is newer than the view
			return -1
		}
		p := c.items[i]
		group := g.number.of(p.thread)
		if group == 0 || !q.visible(p, state) {
			return -1
		}
		return group - 1
	}}
}

// scores returns the groups' scores, scaled so that the best is 1.
func (g *sessionGroups) scores(of []float64) map[*thread]float64 {
	if g == nil || len(of) != len(g.threads) {
		return nil
	}
	best := slices.Max(of)
	if best <= 0 {
		return nil
	}
	out := make(map[*thread]float64, len(of))
	for i, t := range g.threads {
		if of[i] > 0 {
			out[t] = of[i] / best
		}
	}
	return out
}
