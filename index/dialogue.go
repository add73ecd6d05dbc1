package index

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Dialogue scores what was said in a conversation by more than its own words: by
// what was said around it, by its session, and by who said it. Units without a
// session have no neighbours, and units without a voice no speaker.
//
// A weight of 0 means the default, a negative one none. With S the lexical score,
// in this order:
//
//	S += Previous·S(message before) + Next·S(message after) + Second·(S(second before) + S(second after))
//	S += Session · max S · score of the session / the best session's
//	S += Speaker · S   where the question names the speaker
//	S += User · S      where a user said it and others are heard, too
//	S += Timed · S     where it speaks of a time and the question asks for one
//
// The score of a message is that of its best unit. Only what the query may see is
// counted.
type Dialogue struct {
	Previous float64 `json:"previous,omitempty" minimum:"-100" maximum:"100" doc:"of the message before"`                                // 0.35 by default
	Next     float64 `json:"next,omitempty" minimum:"-100" maximum:"100" doc:"of the message after"`                                     // 0.25
	Second   float64 `json:"second,omitempty" minimum:"-100" maximum:"100" doc:"of those two before and after"`                          // 0.1
	Session  float64 `json:"session,omitempty" minimum:"-100" maximum:"100" doc:"of the whole session"`                                  // 0.3
	Speaker  float64 `json:"speaker,omitempty" minimum:"-100" maximum:"100" doc:"where the question names who said it"`                  // 0.3
	User     float64 `json:"user,omitempty" minimum:"-100" maximum:"100" doc:"where a user said it"`                                     // 0.3
	Timed    float64 `json:"timed,omitempty" minimum:"-100" maximum:"100" doc:"where it speaks of a time and the question asks for one"` // 0.2
	// AsksWhen says that the question asks for a time: when, how long.
	AsksWhen bool `json:"-"`
}

// WithDefaults returns d with every weight filled in, 0 for none.
func (d Dialogue) WithDefaults() Dialogue {
	for _, w := range [...]struct {
		weight  *float64
		Default float64
	}{
		{&d.Previous, 0.35},
		{&d.Next, 0.25},
		{&d.Second, 0.1},
		{&d.Session, 0.3},
		{&d.Speaker, 0.3},
		{&d.User, 0.3},
		{&d.Timed, 0.2},
	} {
		*w.weight = max(0, cmp.Or(*w.weight, w.Default))
	}
	return d
}

// Time is what a question says about time.
type Time struct {
	Reading timeexpr.Reading
	// Weight of lying within that time, in shares of the best score; 0 means
	// [DefaultTimeWeight], negative none.
	Weight float64
	// List asks for everything within that time, in the order of time, whatever
	// the words are.
	List bool
}

// DefaultTimeWeight lifts what lies within the time asked about without
// excluding the rest: people ask about when something happened, and what is known
// is when it was told.
const DefaultTimeWeight = 0.5

// Parts says what made a score, which is their sum.
type Parts struct {
	Match      float64 // the unit itself, by words and vectors
	Neighbours float64 // the messages around it
	Session    float64
	Speaker    float64
	User       float64
	Timed      float64 // it speaks of a time, which the question asks for
	Time       float64 // it lies within the time asked about
}

// Named returns the parts by the names that answers use, zeros left out.
func (p *Parts) Named() map[string]float64 {
	out := make(map[string]float64)
	if p == nil {
		return out
	}
	for name, v := range map[string]float64{
		"match": p.Match, "neighbours": p.Neighbours, "session": p.Session, "speaker": p.Speaker, "user": p.User,
		"speaks_of_time": p.Timed, "within_time": p.Time,
	} {
		if v != 0 {
			out[name] = v
		}
	}
	return out
}

// How far the features look: they score the best units of the lexical leg, the
// neighbours of the very best, and what lies within the time asked about.
const (
	featureDepth = 2000
	expanded     = 200
	mostTimely   = 1000
	reach        = 16 // messages looked at on each side for visible neighbours
)

// candidate is a unit that the features score.
type candidate struct {
	Hit

	parent *parent
	voice  uint32
	list   []message // of its session, nil for none
	place  int       // of its message in list
}

// add adds a part to the score.
func (c *candidate) add(v float64, part func(*Parts) *float64) {
	c.Score += v
	if c.Signals.Parts != nil {
		*part(c.Signals.Parts) += v
	}
}

// scorer scores the candidates of one search.
type scorer struct {
	q     *Query
	c     *catalog
	state uint64

	list  []candidate
	index map[uint64]bool       // units in list
	best  map[uint64]float64    // of messages, by their first unit
	lists map[*thread][]message // as this search saw them first
	heard map[uint32]bool       // voices, by whether the question names them
}

// features returns the hits, which are in order, and others with them, scored by
// everything that q asks for beside words and vectors.
//
// The best score stays what it was, and all others are scaled with it: the
// features say what is better than what, and words and vectors how well the best
// of it matches. So relevance stays within 0 to 1, ranks as the score does, and
// compares to that of collections without features.
func (h *Hybrid) features(q *Query, state uint64, hits []Hit, sessions map[*thread]float64, win *timeexpr.Window) []Hit {
	s := &scorer{
		q: q, c: h.view.Load(), state: state, list: make([]candidate, 0, len(hits)+2*expanded), index: make(map[uint64]bool, len(hits)),
		best: make(map[uint64]float64, len(hits)), lists: make(map[*thread][]message), heard: make(map[uint32]bool),
	}
	for _, hit := range hits {
		s.admit(hit)
	}
	if q.Dialogue != nil {
		d := q.Dialogue.WithDefaults()
		s.expand(min(expanded, len(s.list)))
		if win != nil {
			h.timely(s, win)
		}
		s.neighbours(d)
		s.sessions(d, sessions)
		s.voices(d)
	}
	s.within(win)
	return s.ranked(hits[0].Score)
}

// timely makes candidates of what lies within the time asked about.
func (h *Hybrid) timely(s *scorer, win *timeexpr.Window) {
	n := 0
	h.inside(s.q, s.state, win, func(m message) bool {
		for id := m.first; id < m.first+uint64(m.units); id++ { //nolint:gosec // not negative
			s.admit(Hit{ID: id})
			n++
		}
		return n < mostTimely
	})
}

// admit makes a unit a candidate.
func (s *scorer) admit(hit Hit) {
	i, ok := s.c.at(hit.ID)
	if !ok || s.index[hit.ID] {
		return
	}
	s.index[hit.ID] = true
	c := candidate{Hit: hit, parent: s.c.parents[i], voice: s.c.voice[i]}
	c.Parent, c.Ordinal = c.parent.ID, int(s.c.ordinal[i])
	if s.q.Explain {
		c.Signals.Parts = &Parts{Match: hit.Score}
	}
	if t := c.parent.thread; t != nil && t.session != "" && s.q.Dialogue != nil {
		list, ok := s.lists[t]
		if !ok {
			list = t.messages()
			s.lists[t] = list
		}
		if place, ok := at(list, c.parent, hit.ID); ok {
			c.list, c.place = list, place
			s.best[list[place].first] = max(s.best[list[place].first], hit.Score)
		}
	}
	s.list = append(s.list, c)
}

// around returns the visible message that is n before (n < 0) or after the one
// at a place.
func (s *scorer) around(list []message, place, n int) (message, bool) {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	for i := 1; i <= reach; i++ {
		at := place + step*i
		if at < 0 || at >= len(list) {
			break
		}
		if s.q.visible(list[at].parent, s.state) {
			if n--; n == 0 {
				return list[at], true
			}
		}
	}
	return message{}, false
}

// expand makes candidates of the neighbours of the first n that have no score of
// their own.
func (s *scorer) expand(n int) {
	for i := range n {
		c := s.list[i]
		if c.list == nil {
			continue
		}
		for _, off := range [...]int{-1, 1, -2, 2} {
			m, ok := s.around(c.list, c.place, off)
			if !ok {
				continue
			}
			if _, scored := s.best[m.first]; !scored {
				s.admit(Hit{ID: m.first})
			}
		}
	}
}

func (s *scorer) neighbours(d Dialogue) {
	for i := range s.list {
		c := &s.list[i]
		if c.list == nil {
			continue
		}
		sum := 0.0
		for _, n := range [...]struct {
			off    int
			weight float64
		}{{-1, d.Previous}, {1, d.Next}, {-2, d.Second}, {2, d.Second}} {
			if n.weight == 0 {
				continue
			}
			if m, ok := s.around(c.list, c.place, n.off); ok {
				sum += n.weight * s.best[m.first]
			}
		}
		c.add(sum, func(p *Parts) *float64 { return &p.Neighbours })
	}
}

// top returns the best score.
func (s *scorer) top() (top float64) {
	for i := range s.list {
		top = max(top, s.list[i].Score)
	}
	return top
}

func (s *scorer) sessions(d Dialogue, scores map[*thread]float64) {
	if len(scores) == 0 {
		return
	}
	top := s.top()
	for i := range s.list {
		if c := &s.list[i]; c.parent.thread != nil {
			c.add(d.Session*top*scores[c.parent.thread], func(p *Parts) *float64 { return &p.Session })
		}
	}
}

func (s *scorer) voices(d Dialogue) {
	named := newNaming(s.q.Text)
	mixed := s.mixed()
	for i := range s.list {
		c := &s.list[i]
		v := s.c.voices[c.voice>>1]
		if d.Speaker > 0 && s.named(named, c.voice>>1) {
			c.add(d.Speaker*c.Score, func(p *Parts) *float64 { return &p.Speaker })
		}
		if mixed && v.Role == ragctx.RoleUser {
			c.add(d.User*c.Score, func(p *Parts) *float64 { return &p.User })
		}
		if d.AsksWhen && c.voice&1 != 0 {
			c.add(d.Timed*c.Score, func(p *Parts) *float64 { return &p.Timed })
		}
	}
}

// mixed reports whether users are heard, and others.
func (s *scorer) mixed() bool {
	users, others := false, false
	for i := range s.list {
		switch s.c.voices[s.list[i].voice>>1].Role {
		case "":
		case ragctx.RoleUser:
			users = true
		default:
			others = true
		}
	}
	return users && others
}

// named reports whether the question names a voice.
func (s *scorer) named(n naming, voice uint32) bool {
	is, ok := s.heard[voice]
	if !ok {
		is = n.names(s.c.voices[voice].Name)
		s.heard[voice] = is
	}
	return is
}

// within lifts what lies within the time asked about.
func (s *scorer) within(win *timeexpr.Window) {
	if win == nil {
		return
	}
	lift := max(0, cmp.Or(s.q.Time.Weight, DefaultTimeWeight)) * s.top()
	for i := range s.list {
		if c := &s.list[i]; win.Contains(c.parent.Occurred, c.parent.Session) {
			c.add(lift, func(p *Parts) *float64 { return &p.Time })
		}
	}
}

// ranked returns the candidates, best first, with scores of at most the given one.
func (s *scorer) ranked(best float64) []Hit {
	scale := 0.0
	if top := s.top(); top > 0 {
		scale = best / top
	}
	hits := make([]Hit, 0, len(s.list))
	for i := range s.list {
		c := &s.list[i]
		if c.Score <= 0 {
			continue
		}
		c.Score = min(best, c.Score*scale)
		c.Signals.Parts = c.Signals.Parts.scaled(scale)
		hits = append(hits, c.Hit)
	}
	slices.SortFunc(hits, better)
	return hits
}

// scaled multiplies all parts.
func (p *Parts) scaled(by float64) *Parts {
	if p == nil {
		return nil
	}
	return &Parts{p.Match * by, p.Neighbours * by, p.Session * by, p.Speaker * by, p.User * by, p.Timed * by, p.Time * by}
}
