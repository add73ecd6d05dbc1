package timeexpr_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

func at(s string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", s)
	if err != nil {
		panic(err)
	}
	return t
}

// recorded is a timeline of sessions a, b, c, ... of half an hour each.
func recorded(begin ...string) (line timeexpr.Timeline) {
	for i, s := range begin {
		first := at(s)
		line.Sessions = append(line.Sessions, timeexpr.Session{ID: string(rune('a' + i)), First: first, Last: first.Add(30 * time.Minute)})
		if day := first.Truncate(24 * time.Hour); !slices.ContainsFunc(line.Days, day.Equal) {
			line.Days = append(line.Days, day)
		}
	}
	return line
}

// read returns the reading of a question that has one.
func read(t *testing.T, question string) timeexpr.Reading {
	t.Helper()
	r, ok := timeexpr.Read(question, now)
	if !ok {
		t.Fatalf("%q: no time is read", question)
	}
	return r
}

func TestWindowOfSessions(t *testing.T) {
	line := recorded("2023-11-01 10:00", "2023-11-02 10:00", "2023-11-03 10:00", "2023-11-15 14:10")
	asking := line
	asking.Current = "d"
	tests := []struct{ question, want, whileAsking string }{
		{"session 1", "a", "a"},
		{"sessions 2 to 3", "b c", "b c"},
		{"sessions 3 to 9", "c d", "c d"},
		{"session 5", "", ""},
		{"our last session", "d", "c"},
		{"the last two sessions", "c d", "b c"},
		{"the last ten sessions", "a b c d", "a b c"},
		{"4 sessions ago", "a", ""},
		{"5 sessions ago", "", ""},
		{"the session before last", "c", "b"},
		{"since session 3", "c d", "c"},
		{"before session 3", "a b", "a b"},
		{"this session", "d", "d"},
	}
	for _, tt := range tests {
		r := read(t, tt.question)
		if !r.NeedsTimeline() {
			t.Errorf("%q does not need the timeline", tt.question)
		}
		for _, c := range []struct {
			line timeexpr.Timeline
			want string
		}{{line, tt.want}, {asking, tt.whileAsking}} {
			w := r.Window(c.line)
			if got := strings.Join(w.Sessions, " "); got != c.want || w.Sessions == nil {
				t.Errorf("%q, asked in session %q: sessions %q, want %q", tt.question, c.line.Current, w.Sessions, c.want)
			}
		}
	}
	if len(line.Sessions) != 4 || line.Sessions[3].ID != "d" {
		t.Error("the timeline was changed")
	}
	unrecorded := line
	unrecorded.Current = "z"
	if w := read(t, "this session").Window(unrecorded); w.Sessions == nil || len(w.Sessions) != 0 {
		t.Errorf("a session of which nothing is recorded: %q", w.Sessions)
	}
}

func TestWindowOfDays(t *testing.T) {
	tests := []struct {
		name, question string
		sessions       []string
		from, to       string
	}{
		{"recorded", "3 days ago", []string{"2023-11-11 09:00", "2023-11-12 09:00"}, "2023-11-12 00:00", "2023-11-13 00:00"},
		{"the day before", "3 days ago", []string{"2023-11-11 09:00", "2023-11-13 09:00"}, "2023-11-11 00:00", "2023-11-12 00:00"},
		{"the day after", "3 days ago", []string{"2023-11-09 09:00", "2023-11-13 09:00"}, "2023-11-13 00:00", "2023-11-14 00:00"},
		{"nothing near", "3 days ago", []string{"2023-11-09 09:00"}, "2023-11-12 00:00", "2023-11-13 00:00"},
		{"nothing at all", "3 days ago", nil, "2023-11-12 00:00", "2023-11-13 00:00"},
		{"a weekday goes back", "last Friday", []string{"2023-10-27 09:00", "2023-11-09 09:00"}, "2023-10-27 00:00", "2023-10-28 00:00"},
		{"a weekday, four weeks", "last Friday", []string{"2023-10-13 09:00", "2023-11-11 09:00"}, "2023-10-13 00:00", "2023-10-14 00:00"},
		{"a weekday, five weeks", "last Friday", []string{"2023-10-06 09:00", "2023-11-11 09:00"}, "2023-11-10 00:00", "2023-11-11 00:00"},
		{"yesterday", "yesterday", []string{"2023-11-13 09:00", "2023-11-15 09:00"}, "2023-11-14 00:00", "2023-11-15 00:00"},
		{"a date", "on 12 November", []string{"2023-11-11 09:00", "2023-11-13 09:00"}, "2023-11-12 00:00", "2023-11-13 00:00"},
		{"a span stays", "over the last 3 days", []string{"2023-11-09 09:00"}, "2023-11-12 00:00", "2023-11-16 00:00"},
		{"part of the day", "this morning", []string{"2023-11-15 09:00", "2023-11-15 13:00"}, "2023-11-15 00:00", "2023-11-15 12:00"},
		{"no part of the day", "this morning", []string{"2023-11-15 13:00"}, "2023-11-15 00:00", "2023-11-16 00:00"},
		{"part of the day before", "yesterday morning", []string{"2023-11-13 09:00"}, "2023-11-14 00:00", "2023-11-15 00:00"},
		{"earlier", "earlier today", []string{"2023-11-15 09:00", "2023-11-15 14:10"}, "2023-11-15 00:00", "2023-11-15 14:10"},
		{"earlier, no other", "earlier today", []string{"2023-11-14 09:00", "2023-11-15 14:10"}, "2023-11-15 00:00", "2023-11-15 14:30"},
		{"earlier, long over", "earlier today", []string{"2023-11-15 09:00", "2023-11-15 11:10"}, "2023-11-15 00:00", "2023-11-15 14:30"},
		{
			"earlier this morning, at noon", "earlier this morning",
			[]string{"2023-11-15 12:10", "2023-11-15 14:10"},
			"2023-11-15 00:00", "2023-11-15 14:10",
		},
		{"a night, past midnight", "last night", []string{"2023-11-15 01:00"}, "2023-11-14 17:00", "2023-11-15 06:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := recorded(tt.sessions...)
			w := read(t, tt.question).Window(line)
			if !w.From.Equal(at(tt.from)) || !w.To.Equal(at(tt.to)) || w.Sessions != nil {
				t.Errorf("%q: %v to %v, sessions %v; want %s to %s", tt.question, w.From, w.To, w.Sessions, tt.from, tt.to)
			}
		})
	}
}

// With the current session known, nothing is guessed.
func TestEarlierThanCurrent(t *testing.T) {
	line := recorded("2023-11-15 08:00", "2023-11-15 09:00")
	line.Current = "b"
	if w := read(t, "earlier today").Window(line); !w.To.Equal(at("2023-11-15 09:00")) {
		t.Errorf("the window ends at %v", w.To)
	}
}

func TestContains(t *testing.T) {
	from, to := at("2023-07-03 00:00"), at("2023-07-04 00:00")
	tests := []struct {
		window  timeexpr.Window
		at      time.Time
		session string
		want    bool
	}{
		{timeexpr.Window{}, time.Time{}, "", true},
		{timeexpr.Window{From: from, To: to}, from, "a", true},
		{timeexpr.Window{From: from, To: to}, to, "a", false},
		{timeexpr.Window{From: from, To: to}, from.Add(-1), "a", false},
		{timeexpr.Window{From: from}, to.AddDate(9, 0, 0), "", true},
		{timeexpr.Window{To: to}, from.AddDate(-9, 0, 0), "", true},
		{timeexpr.Window{To: to}, time.Time{}, "", false},
		{timeexpr.Window{Sessions: []string{"a", "b"}}, time.Time{}, "b", true},
		{timeexpr.Window{Sessions: []string{"a", "b"}}, from, "c", false},
		{timeexpr.Window{Sessions: []string{}}, from, "", false},
	}
	for _, tt := range tests {
		if got := tt.window.Contains(tt.at, tt.session); got != tt.want {
			t.Errorf("%+v contains %v of session %q: %v", tt.window, tt.at, tt.session, got)
		}
	}
}

// A reading that does not need the timeline has the same window over any.
func TestNeedsTimeline(t *testing.T) {
	questions := seeds(t)
	rapid.Check(t, func(rt *rapid.T) {
		r, ok := timeexpr.Read(rapid.SampledFrom(questions).Draw(rt, "question"), now)
		if !ok {
			return
		}
		var begin []string
		d := now.AddDate(-2, 0, 0)
		for range rapid.IntRange(0, 20).Draw(rt, "sessions") {
			d = d.Add(time.Duration(rapid.IntRange(31, 80_000).Draw(rt, "minutes")) * time.Minute)
			begin = append(begin, d.Format("2006-01-02 15:04"))
		}
		line := recorded(begin...)
		w, bare := r.Window(line), r.Window(timeexpr.Timeline{})
		if !r.NeedsTimeline() && (!w.From.Equal(bare.From) || !w.To.Equal(bare.To) || w.Sessions != nil || bare.Sessions != nil) {
			rt.Errorf("%+v: %+v, and %+v without a timeline", r, w, bare)
		}
		if w.Sessions == nil && !w.From.IsZero() && !w.To.IsZero() && w.To.Before(w.From) {
			rt.Errorf("%+v ends before it begins", w)
		}
		at := -1
		for _, id := range w.Sessions {
			i := slices.IndexFunc(line.Sessions, func(s timeexpr.Session) bool { return s.ID == id })
			if i <= at {
				rt.Errorf("sessions %q are not those of the timeline in their order", w.Sessions)
			}
			at = i
		}
	})
}
