package index

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// ConversationWeights weigh the score of a conversation's chunk by more than its own words: by its
// neighbors, its session, and its speaker. Chunks without a session have no neighbors, and chunks
// without a speaker get no speaker score.
//
// A weight of 0 means the default, a negative one none. With S the keyword score, the parts are
// added in this order:
//
//	S += Previous·S(message before) + Next·S(message after) + Second·(S(second before) + S(second after))
//	S += Session · max S · score of the session / the best session's
//	S += Speaker · S   if the question names the speaker
//	S += User · S      if a user is the speaker and there are other speakers, too
//	S += Timed · S     if the chunk mentions a time and the question asks for one
//
// The score of a message is the score of its best chunk. Only visible chunks count.
type ConversationWeights struct {
	Previous float64 `json:"previous,omitempty" minimum:"-100" maximum:"100" doc:"weight of the message before; 0.35 by default"`
	Next     float64 `json:"next,omitempty" minimum:"-100" maximum:"100" doc:"weight of the message after; 0.25 by default"`
	// Second is the weight of the second message before and after; 0.1 by default.
	Second  float64 `json:"second,omitempty" minimum:"-100" maximum:"100"`
	Session float64 `json:"session,omitempty" minimum:"-100" maximum:"100" doc:"weight of the complete session; 0.3 by default"`
	Speaker float64 `json:"speaker,omitempty" minimum:"-100" maximum:"100" doc:"weight if the question names the speaker; 0.3 by default"`
	User    float64 `json:"user,omitempty" minimum:"-100" maximum:"100" doc:"weight if the speaker is a user; 0.3 by default"`
	// Timed is the weight if it mentions a time and the question asks for one; 0.2 by default.
	Timed float64 `json:"timed,omitempty" minimum:"-100" maximum:"100"`
	// AsksWhen reports that the question asks for a time: when, how long.
	AsksWhen bool `json:"-"`
}

// WithDefaults returns d with every weight filled in, 0 for none.
func (d ConversationWeights) WithDefaults() ConversationWeights {
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

// Time is the time reference of a question.
type Time struct {
	Reading timeexpr.Reading
	// Weight is added to chunks within that time, as a share of the best score; 0 means
	// [DefaultTimeWeight], negative none.
	Weight float64
	// List asks for everything within that time, in the order of time, regardless of the words.
	List bool
}

// DefaultTimeWeight lifts chunks within the time asked about without excluding others: questions
// refer to the time of an event, but the index knows the time of the message about it.
const DefaultTimeWeight = 0.5

// Parts breaks down a score, which is their sum.
type Parts struct {
	Match     float64 // the chunk itself, by words and vectors
	Neighbors float64 // the messages around it
	Session   float64
	Speaker   float64
	User      float64
	Timed     float64 // it mentions a time, and the question asks for one
	Time      float64 // it lies within the time asked about
}

// Named returns the nonzero parts by the names used in API results.
func (p *Parts) Named() map[string]float64 {
	out := make(map[string]float64)
	if p == nil {
		return out
	}
	for name, v := range map[string]float64{
		"match": p.Match, "neighbours": p.Neighbors, "session": p.Session, "speaker": p.Speaker, "user": p.User,
		"speaks_of_time": p.Timed, "within_time": p.Time,
	} {
		if v != 0 {
			out[name] = v
		}
	}
	return out
}

// Limits of the conversation features. They score the best chunks of the keyword index, the
// neighbors of the very best, and the chunks within the time asked about.
const (
	featureDepth  = 2000
	expandDepth   = 200
	maxTimely     = 1000
	neighborReach = 16 // messages examined on each side to find visible neighbors
)

// candidate is a chunk scored by the features.
type candidate struct {
	Hit

	item    *item
	speaker uint32
	list    []message // the messages of its session, or nil
	at      int       // the index of its message in list
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

	list          []candidate
	index         map[uint64]bool       // the chunks in list
	best          map[uint64]float64    // score of messages, by their first chunk
	lists         map[*thread][]message // snapshots, so that one search sees each list only once
	namedSpeakers map[uint32]bool       // whether the question names a speaker, by speaker
}

// features returns the sorted hits and additional ones, scored by all features that q requests
// besides words and vectors.
//
// The best score stays the same, and all others are scaled with it: features decide the order,
// while words and vectors decide how well the best hit matches. So scores stay within 0 to 1 and
// are comparable to those of collections without features.
func (h *Hybrid) features(q *Query, state uint64, hits []Hit, sessions map[*thread]float64, win *timeexpr.Window) []Hit {
	s := &scorer{
		q: q, c: h.view.Load(), state: state, list: make([]candidate, 0, len(hits)+2*expandDepth), index: make(map[uint64]bool, len(hits)),
		best: make(map[uint64]float64, len(hits)), lists: make(map[*thread][]message), namedSpeakers: make(map[uint32]bool),
	}
	for _, hit := range hits {
		s.addCandidate(hit)
	}
	if q.Conversation != nil {
		d := q.Conversation.WithDefaults()
		s.addNeighbors(min(expandDepth, len(s.list)))
		if win != nil {
			h.addTimely(s, win)
		}
		s.scoreNeighbors(d)
		s.scoreSessions(d, sessions)
		s.scoreSpeakers(d)
	}
	s.scoreTime(win)
	return s.ranked(hits[0].Score)
}

// addTimely adds the chunks within the time asked about as candidates.
func (h *Hybrid) addTimely(s *scorer, win *timeexpr.Window) {
	n := 0
	h.inWindow(s.q, s.state, win, func(m message) bool {
		for id := m.first; id < m.first+uint64(m.chunks); id++ { //nolint:gosec // not negative
			s.addCandidate(Hit{ID: id})
			n++
		}
		return n < maxTimely
	})
}

// addCandidate adds a chunk as a candidate.
func (s *scorer) addCandidate(hit Hit) {
	i, ok := s.c.at(hit.ID)
	if !ok || s.index[hit.ID] {
		return
	}
	s.index[hit.ID] = true
	c := candidate{Hit: hit, item: s.c.items[i], speaker: s.c.speaker[i]}
	c.Item, c.Ordinal = c.item.ID, int(s.c.ordinal[i])
	if s.q.Explain {
		c.Signals.Parts = &Parts{Match: hit.Score}
	}
	if t := c.item.thread; t != nil && t.session != "" && s.q.Conversation != nil {
		list, ok := s.lists[t]
		if !ok {
			list = t.messages()
			s.lists[t] = list
		}
		if place, ok := messageAt(list, c.item, hit.ID); ok {
			c.list, c.at = list, place
			s.best[list[place].first] = max(s.best[list[place].first], hit.Score)
		}
	}
	s.list = append(s.list, c)
}

// neighborAt returns the n-th visible message before (n < 0) or after a message.
func (s *scorer) neighborAt(list []message, place, n int) (message, bool) {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	for i := 1; i <= neighborReach; i++ {
		at := place + step*i
		if at < 0 || at >= len(list) {
			break
		}
		if s.q.visible(list[at].item, s.state) {
			if n--; n == 0 {
				return list[at], true
			}
		}
	}
	return message{}, false
}

// addNeighbors adds the neighbors of the first n candidates that are not candidates yet.
func (s *scorer) addNeighbors(n int) {
	for i := range n {
		c := s.list[i]
		if c.list == nil {
			continue
		}
		for _, off := range [...]int{-1, 1, -2, 2} {
			m, ok := s.neighborAt(c.list, c.at, off)
			if !ok {
				continue
			}
			if _, scored := s.best[m.first]; !scored {
				s.addCandidate(Hit{ID: m.first})
			}
		}
	}
}

func (s *scorer) scoreNeighbors(d ConversationWeights) {
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
			if m, ok := s.neighborAt(c.list, c.at, n.off); ok {
				sum += n.weight * s.best[m.first]
			}
		}
		c.add(sum, func(p *Parts) *float64 { return &p.Neighbors })
	}
}

// top returns the best score.
func (s *scorer) top() (top float64) {
	for i := range s.list {
		top = max(top, s.list[i].Score)
	}
	return top
}

func (s *scorer) scoreSessions(d ConversationWeights, scores map[*thread]float64) {
	if len(scores) == 0 {
		return
	}
	top := s.top()
	for i := range s.list {
		if c := &s.list[i]; c.item.thread != nil {
			c.add(d.Session*top*scores[c.item.thread], func(p *Parts) *float64 { return &p.Session })
		}
	}
}

func (s *scorer) scoreSpeakers(d ConversationWeights) {
	named := newNameMatcher(s.q.Text)
	mixed := s.mixed()
	for i := range s.list {
		c := &s.list[i]
		v := s.c.speakers[c.speaker>>1]
		if d.Speaker > 0 && s.named(named, c.speaker>>1) {
			c.add(d.Speaker*c.Score, func(p *Parts) *float64 { return &p.Speaker })
		}
		if mixed && v.Role == ragctx.RoleUser {
			c.add(d.User*c.Score, func(p *Parts) *float64 { return &p.User })
		}
		if d.AsksWhen && c.speaker&1 != 0 {
			c.add(d.Timed*c.Score, func(p *Parts) *float64 { return &p.Timed })
		}
	}
}

// mixed reports whether the candidates have users and other roles as speakers.
func (s *scorer) mixed() bool {
	users, others := false, false
	for i := range s.list {
		switch s.c.speakers[s.list[i].speaker>>1].Role {
		case "":
		case ragctx.RoleUser:
			users = true
		default:
			others = true
		}
	}
	return users && others
}

// named reports whether the question names a speaker.
func (s *scorer) named(n nameMatcher, speaker uint32) bool {
	is, ok := s.namedSpeakers[speaker]
	if !ok {
		is = n.names(s.c.speakers[speaker].Name)
		s.namedSpeakers[speaker] = is
	}
	return is
}

// scoreTime lifts the candidates within the time asked about.
func (s *scorer) scoreTime(win *timeexpr.Window) {
	if win == nil {
		return
	}
	lift := max(0, cmp.Or(s.q.Time.Weight, DefaultTimeWeight)) * s.top()
	for i := range s.list {
		if c := &s.list[i]; win.Contains(c.item.Occurred, c.item.Session) {
			c.add(lift, func(p *Parts) *float64 { return &p.Time })
		}
	}
}

// ranked returns the candidates, best first, with scores scaled to at most best.
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
	return &Parts{p.Match * by, p.Neighbors * by, p.Session * by, p.Speaker * by, p.User * by, p.Timed * by, p.Time * by}
}
