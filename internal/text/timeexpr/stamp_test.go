package timeexpr

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestDatesParse(t *testing.T) {
	for want, forms := range map[string][]string{
		"2023-12-29T22:42:04Z": {
			"2023-12-29T22:42:04Z", "2023-12-29T22:42:04", "2023-12-29 22:42:04", "2023-12-29 22:42:04 UTC",
			"20231229T224204Z", "20231229T224204",
			"2023-12-29T23:42:04+01:00", "2023-12-29T23:42:04+0100", "2023-12-29T23:42:04+01", "2023-12-29T23:42:04+01:00[Europe/Berlin]",
			"2023/12/29 22:42:04", "2023.12.29 22:42:04", "29.12.2023, 22:42:04", "29.12.2023 22:42:04", "29. 12. 2023 22:42:04",
			"[29.12.23, 22:42:04]",
			"\u200e[29.12.23, 10:42:04\u202fPM]", "29/12/2023, 22:42:04", "12/29/2023, 10:42:04 PM", "12/29/23, 10:42:04 p.m.",
			"29-12-2023 22:42:04",
			"Fri, 29 Dec 2023 22:42:04 GMT", "Fri, 29 Dec 2023 17:42:04 EST", "29 Dec 23 22:42:04 +0000",
			"Fri, 29 Dec 2023 14:42:04 -0800 (PST)",
			"Friday, 29-Dec-23 22:42:04 GMT", "Fri Dec 29 22:42:04 2023", "Fri Dec 29 22:42:04 UTC 2023",
			"Fri Dec 29 2023 23:42:04 GMT+0100 (Central European Standard Time)",
			"Freitag, 29. Dezember 2023, 22:42:04 Uhr", "Fr., 29. Dez. 2023 um 23:42:04 MEZ", "vendredi 29 décembre 2023 à 22:42:04",
			"ven. 29 déc. 2023 22:42:04",
			"viernes, 29 de diciembre de 2023, 22:42:04", "vie, 29 dic 2023 22:42:04", "10:42:04 PM on Friday 29 December, 2023",
			"December 29th, 2023 at 10:42:04 pm",
			"2023/12/29 (Fri) 22:42:04", "1703889724", "1703889724000", "1703889724000000", "1703889724000000000", "1.703889724e9",
			"1703889724.000",
		},
		"2023-05-08T13:56:00Z": {
			"1:56 pm on 8 May, 2023", "8 May 2023 13:56", "le 8 mai 2023 à 13h56", "8 de mayo de 2023 13:56", "13:56 am 8. Mai 2023",
			"mar. 8 mai 2023 13h56",
			"05/08/2023 (Mon) 13:56", "Mon 08/05/2023 13:56", "Montag 8.5.2023 13:56", "2023-5-8 13:56", "May-08-2023 13:56",
		},
		"2023-05-20T02:21:00Z": {"2023/05/20 (Sat) 02:21"},
		"2024-03-15T00:00:00Z": {
			"March-15-2024", "15-Mar-2024", "20240315", "15.3.2024", "3/15/24", "15. März 2024", "15 mars 2024", "2024 March 15",
			"Mar 15, 2024",
		},
		"2023-03-28T00:00:00Z":           {"mar. 28 mars 2023", "mar 28 2023", "28.03.23"},
		"2023-07-14T00:00:00Z":           {"14 juill. 2023", "14 Juli 2023", "14 julio 2023", "14 juillet 2023"},
		"2023-12-29T22:42:04.123Z":       {"2023-12-29T22:42:04.123Z", "2023-12-29 22:42:04,123", "1703889724.123", "1703889724123"},
		"2023-12-29T00:30:00Z":           {"12:30 am on 29 December, 2023", "00:30 29/12/2023", "0:30 AM 29.12.2023"},
		"2023-12-29T12:30:00Z":           {"12:30 PM, Dec 29, 2023"},
		"2023-12-29T15:00:00Z":           {"29 December 2023 3 pm", "29 Dec 2023, 3PM"},
		"1969-07-20T00:00:00Z":           {"20.7.69", "July 20, 1969"},
		"2023-03-03T00:00:00Z":           {"3/3/2023", "03-03-2023"},
		"2023-12-29T22:42:04.000200055Z": {"1703889724.000200055"},
	} {
		for _, s := range forms {
			got, err := Dates{}.Parse(s)
			if err != nil || got.Format(time.RFC3339Nano) != want && got.UTC().Format(time.RFC3339Nano) != want {
				t.Errorf("%q is %v, %v; want %s", s, got, err, want)
			}
		}
	}
	if got, err := (Dates{}).Parse("Fri, 29 Dec 2023 14:42:04 -0800"); err != nil || got.Hour() != 14 {
		t.Errorf("%v, %v; want the time of the zone that is said", got, err)
	}
}

func TestDatesRefuse(t *testing.T) {
	for _, s := range []string{
		"", "yesterday", "May-32-2024", "30.2.2023", "2023-13-01", "29.12.2023 25:00", "22:42:04", "May 2023", "2023", "12345678",
		"8 May", "29 Dec 2023 10:00 XYZ",
		"version 1.2.2023 of it", "1/2/3/2023", "29.12/2023", "2023-12-29 and 2023-12-30", "1-2", "29 Dec Jan 2023", "0.0.0000",
		"1/0/2023", "٢٩.١٢.٢٠٢٣",
		strings.Repeat("1", 30), strings.Repeat("29.12.2023 ", 50), "29.12.2023 10:00 11:00", "99999999999999999999",
	} {
		if got, err := (Dates{}).Parse(s); !errors.Is(err, ErrNoTime) {
			t.Errorf("%q is %v, %v", s, got, err)
		}
	}
}

// TestDatesOfACollection: unambiguous dates set the reading of the others.
func TestDatesOfACollection(t *testing.T) {
	for _, c := range []struct {
		name, others, want string
	}{
		{"none", "", ""},
		{"the day first", "5/6/2023, 29/12/2023", "2023-04-03"},
		{"the month first", "12/29/2023", "2023-03-04"},
		{"by a weekday", "Tue 4/4/2023, Mon 1/5/2023", "2023-04-03"},
		{"both", "29/12/2023, 12/29/2023", ""},
		{"dots have an order of their own", "29.12.2023, 2023-12-29, 29 May 2023", ""},
	} {
		var d Dates
		for s := range strings.SplitSeq(c.others, ", ") {
			d.Note(s)
		}
		got, err := d.Parse("3/4/2023")
		if c.want == "" && !errors.Is(err, ErrAmbiguous) || c.want != "" && (err != nil || got.Format(time.DateOnly) != c.want) {
			t.Errorf("%s: %v, %v; want %q", c.name, got, err, c.want)
		}
		if got, err := d.Parse("3.4.2023"); err != nil || got.Format(time.DateOnly) != "2023-04-03" {
			t.Errorf("%s: with dots %v, %v", c.name, got, err)
		}
	}
}

// TestDatesReadWhatIsWritten writes random times in all layouts.
func TestDatesReadWhatIsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	layouts := []string{
		time.RFC3339, time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate, time.RubyDate, time.DateTime,
		"2.1.2006, 15:04:05", "02.01.2006 15:04:05",
		"2006/01/02 15:04:05", "2006/01/02 (Mon) 15:04:05", "January 2, 2006 at 3:04:05 PM", "03:04:05 PM on Monday 02 January, 2006",
		"20060102T150405Z", "2 Jan 2006 15:04:05 -0700",
		"Mon 2/1/2006 15:04:05", "Monday, 1/2/2006, 3:04:05 pm",
	}
	for range 20_000 {
		at := time.Unix(r.Int64N(60*365*24*3600), 0).UTC()
		layout := layouts[r.IntN(len(layouts))]
		s := at.Format(layout)
		got, err := Dates{}.Parse(s)
		if strings.Contains(layout, "/1/") || strings.Contains(layout, "1/2/") { // the weekday may fit both
			if errors.Is(err, ErrAmbiguous) && at.Day() <= 12 {
				continue
			}
		}
		if err != nil || !got.Equal(at) {
			t.Fatalf("%q is %v, %v; want %v", s, got, err, at)
		}
	}
}

func FuzzDates(f *testing.F) {
	for _, s := range []string{"29.12.2023, 22:42:04", "1:56 pm on 8 May, 2023", "(Sat) 3/4/23", "20231229T22", "1703889724.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var d Dates
		d.Note(s)
		got, err := d.Parse(s)
		if err != nil {
			if !got.IsZero() || !errors.Is(err, ErrNoTime) && !errors.Is(err, ErrAmbiguous) {
				t.Fatalf("%q is %v, %v", s, got, err)
			}
			return
		}
		if again, err := d.Parse(got.Format(time.RFC3339Nano)); err != nil || !again.Equal(got) {
			t.Fatalf("%q is %v, which reads %v, %v", s, got, again, fmt.Sprint(err))
		}
	})
}
