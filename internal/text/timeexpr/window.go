package timeexpr

import (
	"slices"
	"time"
)

// Timeline is what is recorded.
type Timeline struct {
	// Sessions in the order of their beginning.
	Sessions []Session
	// Days on which something was recorded: their midnights, ascending, in the
	// location in which the question was read.
	Days []time.Time
	// Current is the id of the session in which the question is asked, "" where
	// that is not known or not recorded. Sessions counted back from now
	// leave it out: while the third is going on, the last one is the second.
	Current string
}

// Session is a recorded conversation, from its first to its last message.
type Session struct {
	ID          string
	First, Last time.Time
}

// Window is a reading applied to what is recorded.
type Window struct {
	From, To time.Time // To excluded; zero is open on that side
	// Sessions are the ids of the sessions named, in order. nil names none; empty
	// but not nil names sessions that do not exist, and contains nothing.
	Sessions []string
}

// Contains reports whether w holds what occurred at that time in that session.
// What has no time is in no stretch of time.
func (w Window) Contains(occurred time.Time, session string) bool {
	if w.Sessions != nil {
		return slices.Contains(w.Sessions, session)
	}
	if w.From.IsZero() && w.To.IsZero() {
		return true
	}
	return !occurred.IsZero() && !occurred.Before(w.From) && (w.To.IsZero() || occurred.Before(w.To))
}

// Window applies r to what is recorded.
//
//   - Session numbers become ids. What lies beyond the recorded sessions is cut
//     off, so "the last ten sessions" of four are four.
//   - A single day on which nothing was recorded gives way to the day before or
//     the day after it, the one before first: hours make "38 days ago" off by one. A
//     weekday goes back up to four weeks. Today, yesterday and dates stay.
//   - A part of a day counts if a session took place in it, else the whole day.
//   - "Earlier" leaves out the session that is going on, if there was another.
func (r Reading) Window(t Timeline) Window {
	if r.named() {
		return Window{Sessions: r.sessions(t)}
	}
	back := r.snap(t)
	w := Window{From: later(r.From, back), To: later(r.To, back)}
	if !r.PartTo.IsZero() {
		for _, days := range []int{0, back} { // a night reaches into the next day
			if from, to := later(r.PartFrom, days), later(r.PartTo, days); t.held(from, to, "") {
				w.From, w.To = from, to
				break
			}
		}
	}
	if r.Earlier {
		w.To = t.beforeCurrent(w, r.To)
	}
	return w
}

// later returns t so many days later, and the zero time as it is.
func later(t time.Time, days int) time.Time {
	if t.IsZero() {
		return t
	}
	return t.AddDate(0, 0, days)
}

// snap returns how many days to move a day on which nothing was recorded.
func (r Reading) snap(t Timeline) int {
	if !r.Day || r.Exact {
		return 0
	}
	tries := []int{0, -1, 1}
	if r.Weekday {
		tries = []int{0, -7, -14, -21, -28}
	}
	for _, days := range tries {
		from := later(r.From, days)
		if i, _ := slices.BinarySearchFunc(t.Days, from, time.Time.Compare); i < len(t.Days) && t.Days[i].Before(later(from, 1)) {
			return days
		}
	}
	return 0
}

// held reports whether a session other than the one left out took place between
// from and to.
func (t Timeline) held(from, to time.Time, leftOut string) bool {
	return slices.ContainsFunc(t.Sessions, func(s Session) bool {
		return s.ID != leftOut && s.First.Before(to) && !s.Last.Before(from)
	})
}

// idle is how long a session without a message still counts as going on.
const idle = 30 * time.Minute

// beforeCurrent returns where w ends if it is to end before the session that is
// going on at now.
func (t Timeline) beforeCurrent(w Window, now time.Time) time.Time {
	for _, s := range slices.Backward(t.Sessions) {
		going := s.ID == t.Current || t.Current == "" && !s.First.After(now) && now.Sub(s.Last) <= idle
		if !going {
			continue
		}
		if s.First.Before(w.To) && t.held(w.From, s.First, s.ID) {
			return s.First
		}
		break
	}
	return w.To
}

// sessions returns the ids of the sessions that r names, never nil.
func (r Reading) sessions(t Timeline) []string {
	past := t.Sessions
	at := slices.IndexFunc(past, func(s Session) bool { return s.ID == t.Current })
	if t.Current == "" {
		at = -1
	}
	first, last := r.Sessions[0], r.Sessions[1]
	switch {
	case r.Current && at >= 0:
		return []string{t.Current}
	case r.Current && t.Current != "":
		return []string{}
	case r.Current:
		first, last = -1, -1
	}
	if at >= 0 && last < 0 {
		past = slices.Delete(slices.Clone(past), at, at+1)
	}
	ids := []string{}
	for i := max(position(first, len(past)), 1); i <= min(position(last, len(past)), len(past)); i++ {
		ids = append(ids, past[i-1].ID)
	}
	return ids
}

// position returns the place from the beginning, 1 being the first, of a place
// that may be counted from the end.
func position(n, of int) int {
	if n < 0 {
		return of + 1 + n
	}
	return n
}
