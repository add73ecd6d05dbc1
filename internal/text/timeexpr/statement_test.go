package timeexpr_test

import (
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// saturday is 21 November 2026.
var saturday = time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)

// TestFind names the words that are found and the days they mean; a second pair
// is the future reading.
func TestFind(t *testing.T) {
	for text, want := range map[string][]string{
		"we fly to Oslo tomorrow":                   {"tomorrow", "2026-11-22"},
		"the day after tomorrow I leave":            {"day after tomorrow", "2026-11-23"},
		"morgen fahre ich nach Köln":                {"morgen", "2026-11-22"},
		"guten Morgen zusammen":                     nil,
		"mañana tengo cita":                         {"mañana", "2026-11-22"},
		"pasado mañana tengo cita":                  {"pasado mañana", "2026-11-23"},
		"corro por la mañana":                       nil,
		"je pars après-demain":                      {"après-demain", "2026-11-23"},
		"the launch is next Tuesday":                {"next Tuesday", "2026-11-24"},
		"the launch is next saturday":               {"next saturday", "2026-11-28"},
		"lundi prochain on signe":                   {"lundi prochain", "2026-11-23"},
		"nächste Woche ziehe ich um":                {"nächste Woche", "2026-11-23"},
		"la semana que viene empiezo":               {"semana que viene", "2026-11-23"},
		"next month I start at Siemens":             {"next month", "2026-12-01"},
		"I will retire in 2031":                     {"in 2031", "2031-01-01"},
		"in three weeks we move":                    {"in three weeks", "2026-12-12"},
		"dentro de dos meses nace mi hija":          {"dentro de dos meses", "2027-01-21"},
		"in zwei Wochen ziehen wir um":              {"in zwei Wochen", "2026-12-05"},
		"two days from now":                         {"two days from now", "2026-11-23"},
		"last Friday I broke my arm":                {"last Friday", "2026-11-20"},
		"we met on Friday":                          {"on Friday", "2026-11-20", "2026-11-27"},
		"we need it by friday at noon":              {"by friday at noon", "2026-11-20", "2026-11-27"},
		"on 3 May we marry":                         {"on 3 May", "2026-05-03", "2027-05-03"},
		"I moved three weeks ago":                   {"three weeks ago", "2026-10-28"},
		"the demo is on 2027-02-03":                 {"on 2027-02-03", "2027-02-03"},
		"may I ask you to march on, second to none": nil,
	} {
		got := timeexpr.Find(text, saturday)
		if len(want) == 0 {
			if len(got) > 0 {
				t.Errorf("%q: found %q", text, text[got[0].Start:got[0].End])
			}
			continue
		}
		if len(got) != 1 {
			t.Errorf("%q: %d times, want 1: %+v", text, len(got), got)
			continue
		}
		m := got[0]
		if words := text[m.Start:m.End]; words != want[0] {
			t.Errorf("%q: found %q, want %q", text, words, want[0])
		}
		if from := m.From.Format(time.DateOnly); from != want[1] {
			t.Errorf("%q: %s, want %s", text, from, want[1])
		}
		if ahead := m.AheadFrom.Format(time.DateOnly); ahead != want[len(want)-1] {
			t.Errorf("%q: to come %s, want %s", text, ahead, want[len(want)-1])
		}
	}
}

func TestFindAnything(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"next", "in", "three", "weeks", "friday", "on", "May", "3", "2027", "tomorrow", "mañana", "prochain", "lundi", "que",
		"viene", ",", ".", "the", "day", "after", "session", "ago", "last", "by", "dentro", "de", "é", "\xff",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, w := range rapid.SliceOfN(words, 0, 12).Draw(t, "words") {
			text += w + " "
		}
		end := 0
		for _, m := range timeexpr.Find(text, saturday) {
			if m.Start < end || m.End <= m.Start || m.End > len(text) {
				t.Fatalf("%q: %d to %d after %d", text, m.Start, m.End, end)
			}
			if !utf8.RuneStart(text[m.Start]) {
				t.Fatalf("%q: %d is inside of a character", text, m.Start)
			}
			if m.From.IsZero() && m.To.IsZero() || !m.From.IsZero() && !m.To.IsZero() && m.To.Before(m.From) {
				t.Fatalf("%q: %+v", text, m)
			}
			end = m.End
		}
	})
}
