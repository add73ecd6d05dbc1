package timeexpr_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

var update = flag.Bool("update", false, "rewrite the readings in testdata")

// now is a Wednesday, after lunch.
var now = time.Date(2023, 11, 15, 14, 30, 0, 0, time.UTC)

// TestRead reads the questions of each language. A line that is not indented is
// a question, the indented line after it the reading: the time words and their
// meaning, both ends inclusive. "only" marks a generic rest, "-" means no time. Paragraphs and lines that begin with # are
// for the reader.
func TestRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no questions: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := readAll(string(b))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(b), got); diff != "" {
				t.Errorf("readings (-want +got):\n%s", diff)
			}
		})
	}
}

// readAll returns a table with the readings made anew.
func readAll(table string) string {
	var b strings.Builder
	for line := range strings.Lines(table) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "\t"):
		case line == "" || strings.HasPrefix(line, "#"):
			fmt.Fprintln(&b, line)
		default:
			r, ok := timeexpr.Read(line, now)
			fmt.Fprintf(&b, "%s\n\t%s\n", line, describe(line, r, ok))
		}
	}
	return b.String()
}

// describe writes a reading for people.
func describe(question string, r timeexpr.Reading, ok bool) string {
	if !ok {
		return "-"
	}
	s := fmt.Sprintf("%q", question[r.Start:r.End])
	switch {
	case r.Current:
		s += " this session"
	case r.Sessions[0] != 0 && r.Sessions[0] == r.Sessions[1]:
		s += fmt.Sprintf(" session %d", r.Sessions[0])
	case r.Sessions[0] != 0:
		s += fmt.Sprintf(" sessions %d to %d", r.Sessions[0], r.Sessions[1])
	default:
		s += " " + stretch(r.From, r.To)
	}
	if !r.PartTo.IsZero() {
		s += " " + r.PartFrom.Format("15:04") + "-" + r.PartTo.Format("15:04")
	}
	for _, flag := range []struct {
		set  bool
		name string
	}{{r.Day, "day"}, {r.Weekday, "weekday"}, {r.Earlier, "earlier"}, {r.Only, "only"}} {
		if flag.set {
			s += " " + flag.name
		}
	}
	return s
}

func stretch(from, to time.Time) string {
	first, last := "", ""
	if !from.IsZero() {
		first = from.Format(time.DateOnly)
	}
	if !to.IsZero() {
		last = to.Add(-1).Format(time.DateOnly)
	}
	if first == last {
		return first
	}
	return first + ".." + last
}
