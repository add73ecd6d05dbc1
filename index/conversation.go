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
	featureDepth = 2000
	expandDepth  = 200
)

// add adds a part to the score.
func (c *Candidate) add(v float64, part func(*Parts) *float64) {
	c.Score += v
	if c.Signals.Parts != nil {
		*part(c.Signals.Parts) += v
	}
}

// scorer scores the candidates of one search.
type scorer struct {
	q *Query

	list          []Candidate
	index         map[uint64]bool    // the chunks in list
	best          map[uint64]float64 // score of messages, by their first chunk
	namedSpeakers map[string]bool    // whether the question names a speaker, by name
}

func newScorer(q *Query, list []Candidate) *scorer {
	s := &scorer{
		q: q, list: make([]Candidate, 0, len(list)+2*expandDepth), index: make(map[uint64]bool, len(list)),
		best: make(map[uint64]float64, len(list)), namedSpeakers: make(map[string]bool),
	}
	s.add(list)
	return s
}

// add adds candidates that are not in the list yet.
func (s *scorer) add(list []Candidate) {
	for _, c := range list {
		if s.index[c.ID] {
			continue
		}
		s.index[c.ID] = true
		if c.Message == nil {
			c.Message = new(Message)
		}
		if s.q.Explain {
			c.Signals.Parts = &Parts{Match: c.Score}
		}
		if first := c.Message.First; first != 0 && s.q.Conversation != nil {
			s.best[first] = max(s.best[first], c.Score)
		}
		s.list = append(s.list, c)
	}
}

// unscoredNeighbors returns the first chunks of the neighbors of the first n candidates that are in no
// candidate's message.
func (s *scorer) unscoredNeighbors(n int) (ids []uint64) {
	seen := make(map[uint64]bool)
	for i := range n {
		for _, first := range s.list[i].Message.Around {
			if _, scored := s.best[first]; first != 0 && !scored && !seen[first] {
				seen[first] = true
				ids = append(ids, first)
			}
		}
	}
	return ids
}

// score adds the parts of all features.
//
// The best score stays the same, and all others are scaled with it: features decide the order,
// while words and vectors decide how well the best hit matches. So scores stay within 0 to 1 and
// are comparable to those of collections without features.
func (s *scorer) score(sessions map[uint64]float64, win *timeexpr.Window) {
	if s.q.Conversation != nil {
		d := s.q.Conversation.WithDefaults()
		s.scoreNeighbors(d)
		s.scoreSessions(d, sessions)
		s.scoreSpeakers(d)
	}
	s.scoreTime(win)
}

func (s *scorer) scoreNeighbors(d ConversationWeights) {
	weights := [...]float64{d.Previous, d.Next, d.Second, d.Second}
	for i := range s.list {
		c := &s.list[i]
		if c.Message.First == 0 {
			continue
		}
		sum := 0.0
		for n, first := range c.Message.Around {
			if first != 0 {
				sum += weights[n] * s.best[first]
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

func (s *scorer) scoreSessions(d ConversationWeights, scores map[uint64]float64) {
	if len(scores) == 0 {
		return
	}
	top := s.top()
	for i := range s.list {
		if c := &s.list[i]; c.Message.Conversation != 0 {
			c.add(d.Session*top*scores[c.Message.Conversation], func(p *Parts) *float64 { return &p.Session })
		}
	}
}

func (s *scorer) scoreSpeakers(d ConversationWeights) {
	named := newNameMatcher(s.q.Text)
	mixed := s.mixed()
	for i := range s.list {
		c := &s.list[i]
		v := c.Message.Speaker
		if d.Speaker > 0 && s.named(named, v.Name) {
			c.add(d.Speaker*c.Score, func(p *Parts) *float64 { return &p.Speaker })
		}
		if mixed && v.Role == ragctx.RoleUser {
			c.add(d.User*c.Score, func(p *Parts) *float64 { return &p.User })
		}
		if d.AsksWhen && v.Timed {
			c.add(d.Timed*c.Score, func(p *Parts) *float64 { return &p.Timed })
		}
	}
}

// mixed reports whether the candidates have users and other roles as speakers.
func (s *scorer) mixed() bool {
	users, others := false, false
	for i := range s.list {
		switch s.list[i].Message.Speaker.Role {
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
func (s *scorer) named(n nameMatcher, name string) bool {
	is, ok := s.namedSpeakers[name]
	if !ok {
		is = n.names(name)
		s.namedSpeakers[name] = is
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
		if c := &s.list[i]; win.Contains(c.Message.Occurred, c.Message.Session) {
			c.add(lift, func(p *Parts) *float64 { return &p.Time })
		}
	}
}

// ranked returns the candidates, best first, with scores scaled to at most best.
func (s *scorer) ranked(best float64) []Candidate {
	scale := 0.0
	if top := s.top(); top > 0 {
		scale = best / top
	}
	list := slices.DeleteFunc(s.list, func(c Candidate) bool { return c.Score <= 0 })
	for i := range list {
		c := &list[i]
		c.Score = min(best, c.Score*scale)
		c.Signals.Parts = c.Signals.Parts.scaled(scale)
	}
	slices.SortFunc(list, better)
	return list
}

// scaled multiplies all parts.
func (p *Parts) scaled(by float64) *Parts {
	if p == nil {
		return nil
	}
	return &Parts{p.Match * by, p.Neighbors * by, p.Session * by, p.Speaker * by, p.User * by, p.Timed * by, p.Time * by}
}
