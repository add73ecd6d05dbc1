package eval_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory"
)

// labelled is a turn of testdata/extraction with its labels.
type labelled struct {
	ID       string           `json:"id"`
	Lang     string           `json:"lang"`
	Style    string           `json:"style"`
	At       time.Time        `json:"at"`
	Messages []ragctx.Message `json:"messages"`
	Facts    []label          `json:"facts"`
	Optional []label          `json:"optional"`
	Secrets  []string         `json:"secrets"`
}

type label struct {
	Kind     ragctx.FactKind   `json:"kind"`
	Also     []ragctx.FactKind `json:"also"`
	Message  int               `json:"message"`
	Evidence string            `json:"evidence"`
	Values   []string          `json:"values"`
	Date     string            `json:"date"`
}

func readLabelled(t *testing.T, name string) []labelled {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "extraction", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []labelled
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l labelled
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, l)
	}
	return out
}

// turn returns the turn as the engine receives it.
func (l *labelled) turn() ragctx.Turn {
	t := ragctx.Turn{ID: l.ID, SessionID: "s", Messages: l.Messages, Occurred: l.At}
	t, _ = memory.RedactTurn(t, "")
	return memory.BlankBlocks(t)
}

// says reports whether a finding matches a label: the same place, and its words. A sentence may be divided among
// several findings, one for each thing that it states: together they have all words, and each has one of them.
func (l *labelled) says(f memory.Finding, g label, all []memory.Finding) bool {
	in := func(f memory.Finding) bool {
		return f.Span.Message == g.Message && overlaps(l.Messages[g.Message].Content.String(), f.Span, g.Evidence)
	}
	if !in(f) {
		return false
	}
	said, together := strings.ToLower(f.Content+"\n"+f.Value), ""
	for _, o := range all {
		if in(o) {
			together += strings.ToLower(o.Content+"\n"+o.Value) + "\n"
		}
	}
	some := len(g.Values) == 0
	for _, v := range g.Values {
		if !strings.Contains(together, strings.ToLower(v)) {
			return false
		}
		some = some || strings.Contains(said, strings.ToLower(v))
	}
	return some
}

func overlaps(text string, s ragctx.TurnSpan, evidence string) bool {
	before, _, ok := strings.Cut(text, evidence)
	if !ok {
		return true // in a tool's result
	}
	start := len([]rune(before))
	return s.Start < start+len([]rune(evidence)) && start < s.End
}

// extraction counts matches between findings and labels.
type extraction struct {
	right, wrong, kind int // findings; kind are those of the right that have a right kind
	found, missed      int // labels, whatever the kind
	dates, late        int // labels found with a date, and those with another one
	empty, noisy       int // turns that hold nothing, and those of them with findings
	byKind             map[ragctx.FactKind][2]int
	leaked             []string
	lines              []string
}

func (e *extraction) judge(l labelled) {
	var stored []memory.Finding
	for _, f := range memory.FindingsByRules(l.turn()) {
		if f.Verdict == memory.Store {
			stored = append(stored, f)
		}
	}
	hit := make([]bool, len(l.Facts))
	for _, f := range stored {
		e.leak(l, f)
		said := func(g label) bool { return l.says(f, g, stored) }
		kind := func(g label) bool { return said(g) && (f.Kind == g.Kind || slices.Contains(g.Also, f.Kind)) }
		switch {
		case slices.ContainsFunc(l.Facts, said):
			e.right++
			if slices.ContainsFunc(l.Facts, kind) {
				e.kind++
			} else {
				e.lines = append(e.lines, fmt.Sprintf("%s KIND  %s %q", l.ID, f.Kind, f.Content))
			}
			for j, g := range l.Facts {
				if said(g) && !hit[j] {
					hit[j] = true
					e.date(g, f)
				}
			}
		case slices.ContainsFunc(l.Optional, said):
		default:
			e.wrong++
			e.lines = append(e.lines, fmt.Sprintf("%s WRONG %s %q (%s)", l.ID, f.Kind, f.Content, f.Rule))
		}
	}
	for i, g := range l.Facts {
		n := e.byKind[g.Kind]
		if n[1]++; hit[i] {
			n[0]++
			e.found++
		} else {
			e.missed++
			e.lines = append(e.lines, fmt.Sprintf("%s MISS  %s %q", l.ID, g.Kind, g.Evidence))
		}
		e.byKind[g.Kind] = n
	}
	if len(l.Facts)+len(l.Optional) == 0 {
		e.empty++
		if len(stored) > 0 {
			e.noisy++
		}
	}
}

func (e *extraction) date(g label, f memory.Finding) {
	if g.Date == "" {
		return
	}
	if e.dates++; f.Occurred.Format(time.DateOnly) != g.Date {
		e.late++
		e.lines = append(e.lines, fmt.Sprintf("DATE  %q is %s, not %s", f.Content, f.Occurred.Format(time.DateOnly), g.Date))
	}
}

// leak looks for secrets in everything that would be stored.
func (e *extraction) leak(l labelled, f memory.Finding) {
	b, err := json.Marshal(memory.FromFinding(l.turn(), f))
	if err != nil {
		e.leaked = append(e.leaked, l.ID+": "+err.Error())
	}
	for _, s := range l.Secrets {
		if strings.Contains(string(b), s) || strings.Contains(f.Content, s) {
			e.leaked = append(e.leaked, l.ID+" stores a secret")
		}
	}
}

func share(a, b int) float64 { return float64(a) / float64(max(b, 1)) }

// TestExtraction measures the extraction on turns whose annotators had not seen the rules. The rules
// and weights were improved with the first file; the texts of the others were never looked at.
func TestExtraction(t *testing.T) {
	for name, floor := range map[string]struct{ precision, recall float64 }{
		"tuned": {.85, .65}, "heldout": {.85, .65}, "talks": {.7, .6}, "wishes": {.65, .45},
	} {
		t.Run(name, func(t *testing.T) {
			e := extraction{byKind: make(map[ragctx.FactKind][2]int)}
			turns := readLabelled(t, name+".jsonl")
			for _, l := range turns {
				e.judge(l)
			}
			precision := share(e.right, e.right+e.wrong)
			recall := share(e.found, e.found+e.missed)
			t.Logf("%d turns, %d without facts, of which %d yield something", len(turns), e.empty, e.noisy)
			t.Logf("precision %.3f, recall %.3f; of what is right, %.3f have a right kind; %d of %d dates differ",
				precision, recall, share(e.kind, e.right), e.late, e.dates)
			for _, k := range slices.SortedFunc(maps.Keys(e.byKind), cmp.Compare[ragctx.FactKind]) {
				t.Logf("%-12s %3d of %3d", k, e.byKind[k][0], e.byKind[k][1])
			}
			if name == "tuned" && testing.Verbose() {
				for _, l := range e.lines {
					t.Log(l)
				}
			}
			if precision < floor.precision || recall < floor.recall {
				t.Errorf("precision %.3f and recall %.3f; the floors are %v", precision, recall, floor)
			}
			if len(e.leaked) > 0 {
				t.Errorf("secrets: %v", e.leaked)
			}
			noSecretIsStored(t, turns)
		})
	}
}

// noSecretIsStored: the stored text of turns contains no secret either.
func noSecretIsStored(t *testing.T, turns []labelled) {
	t.Helper()
	for _, l := range turns {
		clean, _ := memory.RedactTurn(ragctx.Turn{ID: l.ID, Messages: l.Messages}, "")
		b, err := json.Marshal(clean)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range l.Secrets {
			quoted, _ := json.Marshal(s)
			if strings.Contains(string(b), strings.Trim(string(quoted), `"`)) {
				t.Errorf("%s: a secret is still there after redaction", l.ID)
			}
		}
	}
}
