package timeexpr

import (
	"slices"
	"time"
)

// Timeline lists the recorded sessions and days.
type Timeline struct {
	// Sessions is sorted by start.
	Sessions []Session
	// Days holds the midnights of days with records, ascending, in the location in which the
	// question was read.
	Days []time.Time
	// Current is the id of the session in which the question is asked, or "" if unknown or not
	// recorded. Counting sessions back from now skips it: during the third session, the last one is
	// the second.
	Current string
}

// Session is a recorded conversation, from its first to its last message.
type Session struct {
	ID          string
	First, Last time.Time
}

// Window is a [Reading] applied to a [Timeline].
type Window struct {
	From, To time.Time // To is exclusive; zero is open on that side
	// Sessions holds the ids of the named sessions, in order. nil means that none is named. Empty
	// but not nil means that none of the named sessions exists: the window contains nothing.
	Sessions []string
}

// Contains reports whether w contains a record of the given time and session. A record without a
// time is in no bounded range.
func (w Window) Contains(occurred time.Time, session string) bool {
	if w.Sessions != nil {
		return slices.Contains(w.Sessions, session)
	}
	if w.From.IsZero() && w.To.IsZero() {
		return true
	}
	return !occurred.IsZero() && !occurred.Before(w.From) && (w.To.IsZero() || occurred.Before(w.To))
}

// Window applies r to the timeline.
//
//   - Session numbers become ids. Numbers beyond the recorded sessions are dropped,
//     so "the last ten sessions" of four are four.
//   - A single day without records moves to the day before or else the day after:
//     hours make "38 days ago" off by one. A weekday moves back up to four weeks.
//     Today, yesterday and dates stay.
//   - A part of a day counts if a session took place in it; otherwise the whole day counts.
//   - "Earlier" excludes the current session, if there was another.
func (r Reading) Window(t Timeline) Window {
	if r.named() {
		return Window{Sessions: r.sessions(t)}
	}
	back := r.snap(t)
	w := Window{From: later(r.From, back), To: later(r.To, back)}
	if !r.PartTo.IsZero() {
		for _, days := range []int{0, back} { // a night extends into the next day
			if from, to := later(r.PartFrom, days), later(r.PartTo, days); t.hadSession(from, to, "") {
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

// later returns t moved by the given number of days; a zero time stays zero.
func later(t time.Time, days int) time.Time {
	if t.IsZero() {
		return t
	}
	return t.AddDate(0, 0, days)
}

// snap returns by how many days to move a day without records.
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

// hadSession reports whether a session other than leftOut took place between from and to.
func (t Timeline) hadSession(from, to time.Time, leftOut string) bool {
	return slices.ContainsFunc(t.Sessions, func(s Session) bool {
		return s.ID != leftOut && s.First.Before(to) && !s.Last.Before(from)
	})
}

// idle is how long after its last message a session still counts as current.
const idle = 30 * time.Minute

// beforeCurrent returns the end of w, moved before the session current at now.
func (t Timeline) beforeCurrent(w Window, now time.Time) time.Time {
	for _, s := range slices.Backward(t.Sessions) {
		going := s.ID == t.Current || t.Current == "" && !s.First.After(now) && now.Sub(s.Last) <= idle
		if !going {
			continue
		}
		if s.First.Before(w.To) && t.hadSession(w.From, s.First, s.ID) {
			return s.First
		}
		break
	}
	return w.To
}

// sessions returns the ids of the sessions that r names; never nil.
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

// position converts a place counted from the end (negative) to one counted from the beginning,
// where 1 is the first.
func position(n, of int) int {
	if n < 0 {
		return of + 1 + n
	}
	return n
}
