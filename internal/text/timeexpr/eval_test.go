package timeexpr_test

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Floors for the questions that ask only for a time.
const (
	floorPrecision = .96
	floorRecall    = .97
)

// message is a message of a recorded conversation.
type message struct {
	ID       string `json:"_id"`
	Metadata struct {
		Conversation string `json:"conversation"`
		Session      int    `json:"session"`
		DateTime     string `json:"date_time"`
	} `json:"metadata"`
	at      time.Time
	session string
}

type question struct {
	ID       string `json:"_id"`
	Text     string `json:"text"`
	Metadata struct {
		Conversation string `json:"conversation"`
		Category     string `json:"category_name"`
	} `json:"metadata"`
}

// score sums up how well sets of messages match.
type score struct {
	n, read, only            int
	precision, recall, exact float64
}

func (s *score) add(got, want map[string]bool, read, only bool) bool {
	hit := 0
	for id := range got {
		if want[id] {
			hit++
		}
	}
	s.n++
	if read {
		s.read++
	}
	if only {
		s.only++
	}
	if len(got) > 0 {
		s.precision += float64(hit) / float64(len(got))
	}
	s.recall += float64(hit) / float64(len(want))
	exact := hit == len(got) && hit == len(want)
	if exact {
		s.exact++
	}
	return exact
}

// TestJudged reads the questions of a judged collection and compares the
// messages in their windows with the judgements. The floors hold for the questions that ask only
// for a time.
func TestJudged(t *testing.T) {
	dir := os.Getenv("RAGCTX_EVAL_DATA")
	if dir == "" {
		t.Skip("RAGCTX_EVAL_DATA is not set: name a directory that holds temporal_memory")
	}
	dir = filepath.Join(dir, "temporal_memory")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no judged collection: %v", err)
	}
	said := make(map[string][]message)
	for m := range rows[message](t, filepath.Join(dir, "corpus.jsonl")) {
		said[m.Metadata.Conversation] = append(said[m.Metadata.Conversation], m)
	}
	timelines := make(map[string]timeexpr.Timeline)
	for name, messages := range said {
		timelines[name] = timeline(t, messages)
	}
	judged := judgements(t, filepath.Join(dir, "qrels.tsv"))

	scores, all := make(map[string]*score), score{}
	for q := range rows[question](t, filepath.Join(dir, "queries.jsonl")) {
		messages := said[q.Metadata.Conversation]
		r, ok := timeexpr.Read(q.Text, messages[len(messages)-1].at)
		got := make(map[string]bool)
		if ok {
			w := r.Window(timelines[q.Metadata.Conversation])
			for _, m := range messages {
				if w.Contains(m.at, m.session) {
					got[m.ID] = true
				}
			}
		}
		s := scores[q.Metadata.Category]
		if s == nil {
			s = new(score)
			scores[q.Metadata.Category] = s
		}
		exact := s.add(got, judged[q.ID], ok, r.Only)
		if strings.HasPrefix(q.Metadata.Category, "time:") {
			all.add(got, judged[q.ID], ok, r.Only)
			if !exact {
				t.Logf("%s: %q: %d messages, %d are meant; %+v", q.ID, q.Text, len(got), len(judged[q.ID]), r)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		scores[name].log(t, name)
	}
	all.log(t, "time only")
	if n := float64(all.n); all.precision/n < floorPrecision || all.recall/n < floorRecall {
		t.Errorf("precision %.3f, recall %.3f; the floors are %.2f and %.2f", all.precision/n, all.recall/n, floorPrecision, floorRecall)
	}
}

func (s *score) log(t *testing.T, name string) {
	t.Helper()
	n := float64(s.n)
	t.Logf("%-20s n %4d  read %4d  only %4d  precision %.3f  recall %.3f  exact %.3f",
		name, s.n, s.read, s.only, s.precision/n, s.recall/n, s.exact/n)
}

// timeline returns the timeline of the messages, and sets their times and sessions.
func timeline(t *testing.T, messages []message) (line timeexpr.Timeline) {
	t.Helper()
	for i := range messages {
		m := &messages[i]
		at, err := time.Parse("03:04:05 PM on Monday 02 January, 2006", m.Metadata.DateTime)
		if err != nil {
			t.Fatal(err)
		}
		m.at, m.session = at, string(rune('A'+m.Metadata.Session))
		if n := len(line.Sessions); n == 0 || line.Sessions[n-1].ID != m.session {
			line.Sessions = append(line.Sessions, timeexpr.Session{ID: m.session, First: at})
		}
		line.Sessions[len(line.Sessions)-1].Last = at
		if day := at.Truncate(24 * time.Hour); !slices.ContainsFunc(line.Days, day.Equal) {
			line.Days = append(line.Days, day)
		}
	}
	return line
}

// rows yields the lines of a JSON Lines file.
func rows[T any](t *testing.T, name string) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for line := range lines(t, name) {
			var v T
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			if !yield(v) {
				return
			}
		}
	}
}

func lines(t *testing.T, name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			if !yield(s.Text()) {
				return
			}
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// judgements returns the relevant messages by question.
func judgements(t *testing.T, name string) map[string]map[string]bool {
	t.Helper()
	judged := make(map[string]map[string]bool)
	for line := range lines(t, name) {
		if f := strings.Split(line, "\t"); len(f) == 3 && f[0] != "query-id" {
			if judged[f[0]] == nil {
				judged[f[0]] = make(map[string]bool)
			}
			judged[f[0]][f[1]] = true
		}
	}
	return judged
}
