package index

import "context"

// neighborReach is the number of messages examined on each side to find visible neighbors.
const neighborReach = 16

// conversation returns the number of a thread for [Message].Conversation.
func (t *thread) conversation() uint64 { return uint64(t.number) + 1 } //nolint:gosec // not negative

// Describe implements [Finder].
func (h *Hybrid) Describe(_ context.Context, w Where, chunks []uint64) ([]Candidate, error) {
	h.fixState(&w)
	c := h.view.Load()
	list := make([]Candidate, 0, len(chunks))
	for _, id := range chunks {
		if i, ok := c.at(id); ok && w.visible(c.items[i]) {
			list = append(list, c.candidate(i))
		}
	}
	c.addMessages(&w, list)
	return list, nil
}

// addMessages sets the messages of candidates.
func (c *catalog) addMessages(w *Where, of []Candidate) {
	messages := make([]Message, len(of))
	lists := make(map[*thread][]message) // so that one call sees each list only once
	for n := range of {
		i, ok := c.at(of[n].ID)
		if !ok {
			continue
		}
		p, m := c.items[i], &messages[n]
		m.Occurred, m.Session, m.Speaker = p.Occurred, p.Session, c.speakers[c.speaker[i]>>1]
		m.Speaker.Timed = c.speaker[i]&1 != 0
		of[n].Message = m
		t := p.thread
		if t == nil || t.session == "" {
			continue
		}
		m.Conversation = t.conversation()
		list, ok := lists[t]
		if !ok {
			list = t.messages()
			lists[t] = list
		}
		if at, ok := messageAt(list, p, of[n].ID); ok {
			m.First = list[at].first
			m.Around = [...]uint64{
				neighborAt(list, at, -1, w), neighborAt(list, at, 1, w), neighborAt(list, at, -2, w), neighborAt(list, at, 2, w),
			}
		}
	}
}

// neighborAt returns the first chunk of the n-th visible message before (n < 0) or after a message, or 0.
func neighborAt(list []message, place, n int, w *Where) uint64 {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	for i := 1; i <= neighborReach; i++ {
		at := place + step*i
		if at < 0 || at >= len(list) {
			break
		}
		if w.visible(list[at].item) {
			if n--; n == 0 {
				return list[at].first
			}
		}
	}
	return 0
}
