package eval

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

func TestTurn(t *testing.T) {
	for _, c := range []struct{ text, speaker, role, want string }{
		{"Mara: hello", "Mara", "", "hello"},
		{"Mara: hello", "Piet", "", "Mara: hello"},
		{"user: hello", "", "user", "hello"},
		{"Assistant: note: this", "", "assistant", "note: this"},
		{"note: this", "", "user", "note: this"},
		{"no name", "", "", "no name"},
	} {
		e := entry{ID: "x", Text: c.text, Metadata: map[string]any{"speaker": c.speaker, "role": c.role, "session": "3"}}
		turn := e.turn("ns", time.Unix(0, 0))
		m := turn.Messages[0]
		if m.Content.String() != c.want || m.Name != c.speaker || turn.ID != "x" || turn.SessionID != "3" ||
			turn.Namespace != "ns" {
			t.Errorf("%+v became %+v", c, turn)
		}
		if c.role != "" && string(m.Role) != c.role {
			t.Errorf("%+v has role %q", c, m.Role)
		}
	}
}

func FuzzReadRun(f *testing.F) {
	f.Add("query-id\tcorpus-id\tscore\nq\td\t1.5\nq\te\t-2e300\n")
	f.Add("q\td\tNaN\nq\td\t1\n\n")
	f.Add("q d 1\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		run, err := ReadRun(strings.NewReader(text))
		if err != nil {
			return
		}
		for q, docs := range run {
			if strings.TrimSpace(q) == "" {
				continue // such a line reads as blank or not at all
			}
			sortRanking(docs)
			var b bytes.Buffer
			if err := writeRanking(&b, q, docs); err != nil {
				t.Fatal(err)
			}
			again, err := ReadRun(&b)
			if err != nil || len(again[q]) != len(docs) {
				t.Fatalf("%v was read back as %v: %v", docs, again[q], err)
			}
			for i, d := range docs {
				if again[q][i] != d || math.IsNaN(d.Score) {
					t.Fatalf("%v was read back as %v", d, again[q][i])
				}
			}
		}
	})
}
