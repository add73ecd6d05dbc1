package facts

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
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
	Sure     bool               `json:"sure"`  // another value of the same attribute
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
	for _, row := range examplePairs() {
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
					newer = append(newer, ReadStatements(x.Content, x.Kind == ragctx.FactInstruction))
					newKeys = append(newKeys, Keys(x.Content))
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

// examplePairs returns the pairs of [matched].
func examplePairs() (out []pairRow) {
	for i, p := range matched {
		n, o := ReadStatements(p.newer, false).parts[0], ReadStatements(p.older, false).parts[0]
		row := newPair(n, o, rare)
		row.Dialogue, row.Old, row.New, row.Gone = fmt.Sprint("example ", i), p.older, p.newer, "no"
		if p.same {
			row.Gone = "yes"
		}
		out = append(out, row)
	}
	return out
}

func newPair(n, o *Statement, common func(string) bool) pairRow {
	c := n.changes()
	row := pairRow{Never: c.doubt || c.denied || c.says(cuePast) || otherPerson(n, o) || otherSubject(n, o), Evidence: map[string]float64{}}
	_, row.Sure = sameAttribute(n, o)
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
