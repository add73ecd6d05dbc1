package index

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Timeline implements [Finder].
func (h *Hybrid) Timeline(_ context.Context, w Where) (timeexpr.Timeline, error) {
	h.fixState(&w)
	sessions := make(map[string]*timeexpr.Session)
	days := make(map[time.Time]bool)
	h.threads.visit(w.Scope, func(t *thread) {
		list := t.messages()
		first := nextVisible(list, &w, 0)
		if first == len(list) {
			return
		}
		last := len(list) - 1
		for !w.visible(list[last].item) {
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
		noteDays(days, list, &w)
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
	return out, nil
}

// nextVisible returns the index of the first visible message from an index on.
func nextVisible(list []message, w *Where, from int) int {
	for from < len(list) && !w.visible(list[from].item) {
		from++
	}
	return from
}

// noteDays adds the days with visible items, by their midnights in the location of w.Now. It
// examines one message per day if all are visible.
func noteDays(days map[time.Time]bool, list []message, w *Where) {
	for len(list) > 0 {
		i := nextVisible(list, w, 0)
		if i == len(list) {
			return
		}
		y, m, d := list[i].item.Occurred.In(w.Now.Location()).Date()
		days[time.Date(y, m, d, 0, 0, 0, 0, w.Now.Location())] = true
		list = between(list, time.Date(y, m, d+1, 0, 0, 0, 0, w.Now.Location()), time.Time{})
	}
}

// inWindow calls fn for the visible messages in a window, thread by thread, until it returns false.
func (h *Hybrid) inWindow(w *Where, win *timeexpr.Window, fn func(message) bool) {
	more := true
	h.threads.visit(w.Scope, func(t *thread) {
		if !more || win.Sessions != nil && !slices.Contains(win.Sessions, t.session) {
			return
		}
		list := t.messages()
		if win.Sessions == nil {
			list = between(list, win.From, win.To)
		}
		for _, m := range list {
			if more && w.visible(m.item) && win.Contains(m.item.Occurred, m.item.Session) {
				more = fn(m)
			}
		}
	})
}

// During implements [Finder].
func (h *Hybrid) During(_ context.Context, w Where, win timeexpr.Window, k int) (found Found, total int, err error) {
	h.fixState(&w)
	var list []message
	h.inWindow(&w, &win, func(m message) bool {
		list = append(list, m)
		total += int(m.chunks)
		return true
	})
	slices.SortFunc(list, compareMessages)
	c := h.view.Load()
	found = Found{State: w.State, Candidates: make([]Candidate, 0, min(total, k))}
	for _, m := range list {
		for id := m.first; id < m.first+uint64(m.chunks) && len(found.Candidates) < k; id++ { //nolint:gosec // not negative
			if i, ok := c.at(id); ok {
				found.Candidates = append(found.Candidates, c.candidate(i))
			}
		}
	}
	return found, total, nil
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
func (h *Hybrid) sessionGroups(w *Where) *sessionGroups {
	g := &sessionGroups{number: newGroupNumbers(w.Scope.AnyUser, len(h.threads.all.threads()))}
	h.threads.visit(w.Scope, func(t *thread) {
		n := t.visible(w)
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

// visible returns the number of its visible chunks.
func (t *thread) visible(w *Where) (n int32) {
	if !t.varying.Load() && w.Filter.IsZero() && w.AsOf.IsZero() {
		return t.chunks.Load()
	}
	for _, m := range t.messages() {
		if w.visible(m.item) {
			n += m.chunks
		}
	}
	return n
}

// groups returns the groups for the query of the keyword index.
func (g *sessionGroups) groups(h *Hybrid, w *Where) *Groups {
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
		if group == 0 || !w.visible(p) {
			return -1
		}
		return group - 1
	}}
}

// scores returns the groups' scores, scaled so that the best is 1.
func (g *sessionGroups) scores(of []float64) map[uint64]float64 {
	if g == nil || len(of) != len(g.threads) {
		return nil
	}
	best := slices.Max(of)
	if best <= 0 {
		return nil
	}
	out := make(map[uint64]float64, len(of))
	for i, t := range g.threads {
		if of[i] > 0 {
			out[t.conversation()] = of[i] / best
		}
	}
	return out
}
