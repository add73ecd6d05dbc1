package index

import (
	"cmp"
	"slices"
	"time"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// window returns the time that q asks about, nil if it asks about none.
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

// timeline returns the sessions and days of what q may see.
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
		for !q.visible(list[last].parent, state) {
			last--
		}
		if t.session != "" {
			from, to := list[first].parent.Occurred, list[last].parent.Occurred
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
	out := timeexpr.Timeline{}
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

// nextVisible returns the place of the first visible message from a place on.
func nextVisible(list []message, q *Query, state uint64, from int) int {
	for from < len(list) && !q.visible(list[from].parent, state) {
		from++
	}
	return from
}

// noteDays notes the days on which something visible occurred, by their
// midnights in the location of q.Now. It looks at one message a day where all
// are visible.
func noteDays(days map[time.Time]bool, list []message, q *Query, state uint64) {
	for len(list) > 0 {
		i := nextVisible(list, q, state, 0)
		if i == len(list) {
			return
		}
		y, m, d := list[i].parent.Occurred.In(q.Now.Location()).Date()
		days[time.Date(y, m, d, 0, 0, 0, 0, q.Now.Location())] = true
		list = within(list, time.Date(y, m, d+1, 0, 0, 0, 0, q.Now.Location()), time.Time{})
	}
}

// inside calls fn for the visible messages in a window, thread by thread, until
// it returns false.
func (h *Hybrid) inside(q *Query, state uint64, w *timeexpr.Window, fn func(message) bool) {
	more := true
	h.threads.visit(q.Scope, func(t *thread) {
		if !more || w.Sessions != nil && !slices.Contains(w.Sessions, t.session) {
			return
		}
		list := t.messages()
		if w.Sessions == nil {
			list = within(list, w.From, w.To)
		}
		for _, m := range list {
			if more && q.visible(m.parent, state) && w.Contains(m.parent.Occurred, m.parent.Session) {
				more = fn(m)
			}
		}
	})
}

// listed returns the units in a window in the order of time. Their scores fall
// from 1 to a half, so that who sorts by score keeps the order: all of them
// match a question about nothing but that time.
func (h *Hybrid) listed(q *Query, state uint64, w *timeexpr.Window) []Hit {
	var found []message
	units := 0
	h.inside(q, state, w, func(m message) bool {
		found = append(found, m)
		units += int(m.units)
		return true
	})
	slices.SortFunc(found, compareMessages)
	c := h.view.Load()
	hits := make([]Hit, 0, min(units, q.K))
	for _, m := range found {
		for id := m.first; id < m.first+uint64(m.units) && len(hits) < q.K; id++ { //nolint:gosec // not negative
			if i, ok := c.at(id); ok {
				score := 1 - 0.5*float64(len(hits))/float64(units)
				hits = append(hits, Hit{ID: id, Parent: m.parent.ID, Ordinal: int(c.ordinal[i]), Score: score, Relevance: score})
			}
		}
	}
	return hits
}

// Within returns the ids of all units in the time that q asks about, in the order of
// time, the state they were found in, and false if it asks about none.
func (h *Hybrid) Within(q Query) (Result, bool) {
	res := Result{State: h.applied.Load()}
	w := h.window(&q, res.State)
	if w == nil {
		return res, false
	}
	q.K = len(h.view.Load().ids)
	res.Hits = h.listed(&q, res.State, w)
	return res, true
}

// grouping numbers the threads in a scope that have visible units.
type grouping struct {
	threads []*thread // by group
	number  numbers
	sizes   []int32
}

// numbers has the group of each thread, counted from 1; 0 for none. Those of few
// threads are in a map: there may be very many others.
type numbers struct {
	few map[*thread]int32
	all []int32
}

func newNumbers(all bool, threads int) numbers {
	if all {
		return numbers{all: make([]int32, threads)}
	}
	return numbers{few: make(map[*thread]int32)}
}

// set gives a thread a number, unless it is newer than the list.
func (n numbers) set(t *thread, group int32) bool {
	if n.few != nil {
		n.few[t] = group
		return true
	}
	if int(t.n) >= len(n.all) {
		return false
	}
	n.all[t.n] = group
	return true
}

func (n numbers) of(t *thread) int32 {
	switch {
	case t == nil:
		return 0
	case n.few != nil:
		return n.few[t]
	case int(t.n) < len(n.all):
		return n.all[t.n]
	}
	return 0
}

// grouping returns nil if there are fewer than two groups: then nothing tells
// them apart.
func (h *Hybrid) grouping(q *Query, state uint64) *grouping {
	if q.Dialogue == nil || q.Dialogue.WithDefaults().Session == 0 {
		return nil
	}
	g := &grouping{number: newNumbers(q.Scope.AnyUser, len(h.threads.all.threads()))}
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

// visible returns how many of its units q may see.
func (t *thread) visible(q *Query, state uint64) (n int32) {
	if !t.uneven.Load() && q.Filter.IsZero() && q.AsOf.IsZero() {
		return t.units.Load()
	}
	for _, m := range t.messages() {
		if q.visible(m.parent, state) {
			n += m.units
		}
	}
	return n
}

// groups returns what the lexical leg is asked about.
func (g *grouping) groups(h *Hybrid, q *Query, state uint64) *Groups {
	if g == nil {
		return nil
	}
	c := h.view.Load()
	return &Groups{Sizes: g.sizes, Of: func(unit uint64) int32 {
		i, ok := c.at(unit)
		if !ok { // it came meanwhile
			return -1
		}
		p := c.parents[i]
		group := g.number.of(p.thread)
		if group == 0 || !q.visible(p, state) {
			return -1
		}
		return group - 1
	}}
}

// scores returns the groups' scores, of which the best is 1.
func (g *grouping) scores(of []float64) map[*thread]float64 {
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
