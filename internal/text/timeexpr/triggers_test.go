package timeexpr_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Floors for the detection of questions about a time, and for their readings.
const (
	floorTriggers = .97 // of what is read, what is meant
	floorRead     = .97 // of what is meant, what is read
)

// triggers counts how questions were read.
type triggers struct{ meant, read, right, none, wrong int }

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (c *triggers) add(o triggers) {
	c.meant, c.read, c.right, c.none, c.wrong = c.meant+o.meant, c.read+o.read, c.right+o.right, c.none+o.none, c.wrong+o.wrong
}

func (c *triggers) precision() float64 { return float64(c.right) / float64(max(c.read, 1)) }
func (c *triggers) recall() float64    { return float64(c.right) / float64(max(c.meant, 1)) }

func (c *triggers) String() string {
	return fmt.Sprintf("%d of %d questions about a time read right, %d of %d others taken for one; precision %.3f, recall %.3f",
		c.right, c.meant, c.wrong, c.none, c.precision(), c.recall())
}

// TestTriggers reads testdata/triggers: half of its questions hold words of time
// and mean none ("May I", "second opinion"), half are about one, in several
// wordings. The parser was not tuned on them. The indented line is the
// meaning: "-" is no time, else the days, both included, or the sessions. "~"
// allows a day more or less on either side.
func TestTriggers(t *testing.T) {
	files, err := filepath.Glob("testdata/triggers/*.txt")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files of questions: %v", len(files), err)
	}
	var all triggers
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c := readTriggers(t, string(b))
		t.Logf("%-8s %v", strings.TrimSuffix(filepath.Base(name), ".txt"), &c)
		all.add(c)
	}
	t.Logf("%-8s %v", "all", &all)
	if all.meant+all.none < 200 || all.precision() < floorTriggers || all.recall() < floorRead {
		t.Errorf("%d questions; the floors are %v and %v", all.meant+all.none, floorTriggers, floorRead)
	}
}

func readTriggers(t *testing.T, table string) (c triggers) {
	question := ""
	for line := range strings.Lines(table) {
		line = strings.TrimRight(line, "\n")
		want, indented := strings.CutPrefix(line, "\t")
		if !indented {
			question = line
			continue
		}
		r, ok := timeexpr.Read(question, now)
		right := ok && means(r, want)
		if want == "-" {
			c.none++
			c.wrong += count(ok)
		} else {
			c.meant++
			c.right += count(right)
		}
		c.read += count(ok)
		if right != (want != "-") || ok != (want != "-") {
			t.Logf("%s\n\twant %s, got %s", question, want, describe(question, r, ok))
		}
	}
	return c
}

// means reports whether a reading has the expected meaning.
func means(r timeexpr.Reading, want string) bool {
	switch {
	case want == "-":
		return false
	case r.Sessions[0] != 0:
		if r.Sessions[0] == r.Sessions[1] {
			return want == fmt.Sprintf("session %d", r.Sessions[0])
		}
		return want == fmt.Sprintf("sessions %d to %d", r.Sessions[0], r.Sessions[1])
	}
	days, about := strings.CutPrefix(want, "~")
	if !about {
		return stretch(r.From, r.To) == days
	}
	first, last, ok := strings.Cut(days, "..")
	if !ok {
		last = first
	}
	return near(r.From, first, 0) && near(r.To, last, 24*time.Hour)
}

// near reports whether t is within a day of a day, the given time later.
func near(t time.Time, day string, later time.Duration) bool {
	if day == "" || t.IsZero() {
		return day == "" && t.IsZero()
	}
	d, err := time.Parse(time.DateOnly, day)
	return err == nil && t.Sub(d.Add(later)).Abs() <= 24*time.Hour
}
