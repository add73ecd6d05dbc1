package facts

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
)

var pairsTo = flag.String("pairs", "", "file to write pairs of statements of the dialogues to, for train/change.py")

// pairRow is a pair of statements of a dialogue as the training reads it.
type pairRow struct {
	Dialogue string             `json:"dialogue"`
	Old      string             `json:"old"`
	New      string             `json:"new"`
	ID       int                `json:"id"`    // of the old statement
	Gone     string             `json:"gone"`  // whether it is obsolete at the end: yes, no or unknown
	Never    bool               `json:"never"` // ruled out
	Sure     bool               `json:"sure"`  // decided without the score
	Evidence map[string]float64 `json:"evidence"`
}

// TestPairs writes the training data of the weights of changes.
func TestPairs(t *testing.T) {
	if *pairsTo == "" {
		t.Skip("only with -pairs FILE")
	}
	f, err := os.Create(*pairsTo)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	for _, row := range examplePairs(t) {
		if err := enc.Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range labelledPairs(t) {
		if err := enc.Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range talkedPairs(t) {
		if err := enc.Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range readDialogues(t) {
		var known []*Statements
		var keys [][]string // of the known contents
		for _, turn := range d.turns {
			found := Explain(ragctx.Turn{Messages: turn.Messages}, turn.At)
			var newer []*Statements
			var newKeys [][]string
			for _, x := range append(slices.Clone(found.Facts), found.Below...) {
				if !x.Unclaimed && x.Confidence >= .35 {
					newer = append(newer, readFact(x, ""))
					newKeys = append(newKeys, Keys(x.Content, x.Kind == ragctx.FactInstruction))
				}
			}
			common := Common(slices.Values(keys))
			id := 0
			for _, old := range known {
				for k, o := range old.parts {
					for _, s := range newer {
						for i, n := range s.parts {
							row := newPair(n, o, common)
							row.Dialogue, row.Old, row.New, row.ID, row.Gone = d.ID, old.texts[k], s.texts[i], id, d.obsolete(old.texts[k])
							if err := enc.Encode(row); err != nil {
								t.Fatal(err)
							}
						}
					}
					id++
				}
			}
			known, keys = append(known, newer...), append(keys, newKeys...)
		}
	}
}

// readFact prepares a fact as a turn's newer statement.
func readFact(x Fact, speaker string) *Statements {
	s := ReadStatements(x.Content, x.Kind == ragctx.FactInstruction, speaker)
	if x.Now {
		s.HoldsNow()
	}
	return s
}

// labelledPairs returns the pairs of testdata/memory/pairs: two sentences, and whether the second makes the first
// obsolete. A sentence that states nothing gives none.
func labelledPairs(t *testing.T) (out []pairRow) {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/memory/pairs/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	statements := func(text string) (out []*Statements) {
		turn := ragctx.Turn{Messages: []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, text)}}
		for _, x := range Explain(turn, testTime).Facts {
			out = append(out, readFact(x, ""))
		}
		return out
	}
	id := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var p struct{ Group, Old, New, Label string }
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, old := range statements(p.Old) {
				for k, o := range old.parts {
					for _, s := range statements(p.New) {
						for i, n := range s.parts {
							row := newPair(n, o, rare)
							row.Dialogue, row.Old, row.New, row.ID, row.Gone = file+p.Group, old.texts[k], s.texts[i], id, "yes"
							if p.Label == "none" {
								row.Gone = "no"
							}
							out = append(out, row)
						}
					}
					id++
				}
			}
		}
	}
	return out
}

// talkedPairs returns the pairs of the conversations of testdata/extraction: their messages say which earlier ones they end,
// and everything else that was said in them stays.
func talkedPairs(t *testing.T) (out []pairRow) {
	t.Helper()
	type said struct {
		id        int
		turn      string
		statement *Statements
	}
	var known []said
	talk, id := "", 0
	var turns []trainTurn
	for _, file := range trainFiles(t) {
		turns = append(turns, slices.DeleteFunc(readTurns(t, file), func(l trainTurn) bool { return l.Talk == "" })...)
	}
	for _, turn := range turns {
		if turn.Talk != talk {
			talk, known = turn.Talk, nil
		}
		found := Explain(ragctx.Turn{Messages: turn.Messages}, turn.At)
		var newer []said
		for _, x := range append(slices.Clone(found.Facts), found.Below...) {
			if !x.Unclaimed && x.Confidence >= .35 {
				newer = append(newer, said{id, turn.ID, readFact(x, SpeakerOf(x.Content, Speakers(turn.Messages)))})
				id++
			}
		}
		left := known[:0:0]
		for _, old := range known {
			ended := slices.Contains(turn.Ends, old.turn)
			for _, o := range old.statement.parts {
				for _, x := range newer {
					for i, n := range x.statement.parts {
						row := newPair(n, o, rare)
						row.Dialogue, row.Old, row.New, row.ID, row.Gone = talk, old.statement.texts[0], x.statement.texts[i], old.id, "no"
						if ended {
							row.Gone, row.ID = "yes", -1-old.id
						}
						out = append(out, row)
					}
				}
			}
			if !ended {
				left = append(left, old)
			}
		}
		known = slices.Concat(left, newer)
	}
	return out
}

// examplePairs returns the pairs of [matched], and those pairs of wishes that are not only measured.
func examplePairs(t *testing.T) (out []pairRow) {
	t.Helper()
	for i, p := range readWishPairs(t, "testdata/wishes.txt") {
		if p.measured {
			continue
		}
		n, o := ReadStatements(p.newer, true, "").parts[0], ReadStatements(p.older, true, "").parts[0]
		row := newPair(n, o, rare)
		row.Dialogue, row.Old, row.New, row.ID, row.Gone = fmt.Sprint("wish ", i), p.older, p.newer, i, "no"
		if p.overrules {
			row.Gone = "yes"
		}
		out = append(out, row)
	}
	for i, p := range matched {
		n, o := ReadStatements(p.newer, false, "").parts[0], ReadStatements(p.older, false, "").parts[0]
		row := newPair(n, o, rare)
		row.Dialogue, row.Old, row.New, row.Gone = fmt.Sprint("example ", i), p.older, p.newer, "no"
		if p.same {
			row.Gone = "yes"
		}
		out = append(out, row)
	}
	return out
}

func newPair(n, o *statement, common func(string) bool) pairRow {
	overruled := overrules(n, o)
	row := pairRow{Never: !overruled && ruledOut(n, o), Evidence: map[string]float64{}}
	_, row.Sure = sameAttribute(n, o)
	_, _, certainly := certain(n, o)
	row.Sure = row.Sure || overruled || certainly
	evidence(n, o, common, func(name string, value float64) { row.Evidence[name] = value })
	return row
}

// obsolete reports whether a statement of a dialogue is obsolete at its end: yes, no or unknown.
func (d *dialogue) obsolete(text string) string {
	matches := func(p string) bool { return matchesPattern(p, text) }
	switch {
	case slices.ContainsFunc(slices.Concat(d.Gone, d.Ended), matches):
		return "yes"
	case slices.ContainsFunc(slices.Concat(d.Known, d.Kept), matches):
		return "no"
	}
	return "unknown"
}
