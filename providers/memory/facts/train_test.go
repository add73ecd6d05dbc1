package facts

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
)

var dumpTo = flag.String("dump", "", "file to write the units of the training turns to, for train/train.py")

// trainTurn is a labelled turn of testdata/extraction.
type trainTurn struct {
	ID       string           `json:"id"`
	Lang     string           `json:"lang"`
	At       time.Time        `json:"at"`
	Messages []ragctx.Message `json:"messages"`
	Facts    []trainLabel     `json:"facts"`
	Optional []trainLabel     `json:"optional"`
	// Talk is the conversation of a turn, if it has several; Ends are its earlier turns whose facts this one ends.
	Talk string   `json:"talk"`
	Ends []string `json:"ends"`
}

type trainLabel struct {
	Kind     ragctx.FactKind   `json:"kind"`
	Also     []ragctx.FactKind `json:"also"`
	Message  int               `json:"message"`
	Evidence string            `json:"evidence"`
	Values   []string          `json:"values"`
}

// trainUnit is a unit as the training reads it.
type trainUnit struct {
	Corpus   string   `json:"corpus"`
	Turn     string   `json:"turn"`
	Message  int      `json:"message"`
	From     int      `json:"from"`
	To       int      `json:"to"`
	Text     string   `json:"text"`
	Features []string `json:"features"`
	// Covers and Optional are labels with words in the unit.
	Covers   []covered `json:"covers"`
	Optional []covered `json:"optional"`
	Rules    []Fact    `json:"rules"`
	// Said is set for example sentences: whether they say something.
	Said  *bool  `json:"said,omitempty"`
	Group string `json:"group,omitempty"` // the dialogue of a turn
}

type covered struct {
	Label int               `json:"label"`
	Share float64           `json:"share"` // of the evidence
	Whole bool              `json:"whole"` // all values are in the unit
	Kind  ragctx.FactKind   `json:"kind"`
	Also  []ragctx.FactKind `json:"also"`
}

// TestTrainingUnits writes the training data of the weights.
func TestTrainingUnits(t *testing.T) {
	if *dumpTo == "" {
		t.Skip("only with -dump FILE")
	}
	f, err := os.Create(*dumpTo)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	write := func(v any) {
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range trainFiles(t) {
		for _, l := range readTurns(t, file) {
			write(map[string]any{"corpus": corpusOf(file), "turn": l.ID, "lang": l.Lang, "facts": len(l.Facts)})
			for _, u := range l.units(corpusOf(file)) {
				write(u)
			}
			for _, u := range l.small().units(smallCorpus) {
				write(u)
			}
		}
	}
	for _, d := range readDialogues(t) {
		if d.endOnly() {
			continue
		}
		for i, l := range d.turns {
			write(map[string]any{"corpus": "m", "turn": l.ID, "lang": d.Lang, "facts": len(d.Turns[i].Says)})
			for _, u := range append(l.units("m"), l.small().units(smallCorpus)...) {
				u.Group = d.ID
				u.Covers, u.Optional = d.Turns[i].covers(u.Text)
				write(u)
			}
		}
	}
	for _, u := range exampleUnits(t) {
		if err := enc.Encode(u); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// smallCorpus has the turns again as hurried people write them: without capital letters, and without the last full stop.
const smallCorpus = "small"

func (l *trainTurn) small() *trainTurn {
	hurried := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".") }
	out := trainTurn{ID: l.ID + " small", At: l.At}
	for _, m := range l.Messages {
		if _, read := speaker(m); read {
			m.Content = ragctx.Text(hurried(m.Content.String()))
		}
		out.Messages = append(out.Messages, m)
	}
	for _, labels := range [...]struct{ from, to *[]trainLabel }{{&l.Facts, &out.Facts}, {&l.Optional, &out.Optional}} {
		for _, x := range *labels.from {
			x.Evidence = hurried(x.Evidence)
			*labels.to = append(*labels.to, x)
		}
	}
	return &out
}

func trainFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/extraction/train/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return append([]string{"../../../testdata/extraction/tuned.jsonl"}, files...)
}

func corpusOf(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".jsonl"), "tuned", "a")
}

func readTurns(t *testing.T, file string) (out []trainTurn) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var l trainTurn
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, l)
	}
	return out
}

// reader returns the extractor of a message, as [Explain] makes it.
func (l *trainTurn) reader(i int) (*extractor, bool) {
	who, ok := speaker(l.Messages[i])
	if !ok {
		return nil, false
	}
	s, _ := redact.Redact(l.Messages[i].Content.String())
	e := &extractor{
		t: read(redact.BlankBlocks(s)), at: l.At, speaker: who, message: i, people: AmongPeople(l.Messages),
		several: len(Speakers(l.Messages)) > 1, training: true,
	}
	e.read()
	return e, true
}

func (l *trainTurn) units(corpus string) (out []trainUnit) {
	for i := range l.Messages {
		e, ok := l.reader(i)
		if !ok {
			continue
		}
		sc, b := e.scene(), newBag()
		b.keep = true
		for k, u := range sc.units {
			e.features(b, sc, k)
			out = append(out, trainUnit{
				Corpus: corpus, Turn: l.ID, Message: i, From: u.from, To: u.to, Text: e.t.quote(u.from, u.to),
				Features: slices.Clone(b.names),
				Covers:   e.covered(u, l.Facts), Optional: e.covered(u, l.Optional), Rules: u.facts,
			})
		}
	}
	return out
}

// covered returns the labels with words in a unit.
func (e *extractor) covered(u unit, labels []trainLabel) (out []covered) {
	said := strings.ToLower(e.t.quote(u.from, u.to))
	for j, g := range labels {
		before, _, ok := strings.Cut(e.t.s, g.Evidence)
		if !ok || g.Message != e.message {
			continue
		}
		from := len([]rune(before))
		to := from + len([]rune(g.Evidence))
		both := min(to, u.to) - max(from, u.from)
		if both <= 0 {
			continue
		}
		lacks := func(v string) bool { return !strings.Contains(said, strings.ToLower(v)) }
		out = append(out, covered{j, float64(both) / float64(to-from), !slices.ContainsFunc(g.Values, lacks), g.Kind, g.Also})
	}
	return out
}

// exampleUnits returns the examples of the rules and the sentences seen before.
func exampleUnits(t *testing.T) (out []trainUnit) {
	t.Helper()
	seen, err := os.ReadFile("testdata/seen.txt")
	if err != nil {
		t.Fatal(err)
	}
	add := func(s string, says bool) {
		l := trainTurn{ID: s, At: testTime, Messages: []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, s)}}
		us := l.units("examples")
		for _, u := range us {
			strong := slices.ContainsFunc(u.Rules, func(f Fact) bool { return f.Confidence >= minRuleConfidence })
			if u.Said = &says; !says || len(us) == 1 || strong {
				out = append(out, u)
			}
		}
	}
	for line := range strings.Lines(string(seen)) {
		sign, s, _ := strings.Cut(strings.TrimSpace(line), " ")
		add(s, sign == "+")
	}
	for _, l := range languages() {
		for _, r := range l.rules {
			for _, s := range r.yes {
				add(s, true)
			}
		}
	}
	return out
}

// BenchmarkTurns reads turns of real people.
func BenchmarkTurns(b *testing.B) {
	data, err := os.ReadFile("../../../testdata/extraction/tuned.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	var turns []ragctx.Turn
	n := 0
	for line := range strings.Lines(string(data)) {
		var l trainTurn
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			b.Fatal(err)
		}
		turns = append(turns, ragctx.Turn{Messages: l.Messages})
		for _, m := range l.Messages {
			n += len(m.Content.String())
		}
	}
	b.SetBytes(int64(n))
	for b.Loop() {
		for _, t := range turns {
			Explain(t, testTime)
		}
	}
}

// dialogue is a dialogue of testdata/memory, as far as the training reads it.
type dialogue struct {
	ID    string         `json:"id"`
	Lang  string         `json:"lang"`
	Turns []dialogueTurn `json:"turns"`
	Gone  []string       `json:"gone"`
	Ended []string       `json:"ended"`
	Known []string       `json:"known"`
	Kept  []string       `json:"kept"`
	turns []trainTurn
}

type dialogueTurn struct {
	At   string   `json:"at"`
	User string   `json:"user"`
	Says []string `json:"says"`
	May  []string `json:"may"`
}

// readDialogues reads the dialogues for development.
func readDialogues(t *testing.T) (out []dialogue) {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/memory/dev/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name == "secrets.jsonl" || name == "harmless.jsonl" {
			continue // they label no facts
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var d dialogue
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for i, turn := range d.Turns {
				at, err := time.Parse("2006-01-02 15:04", turn.At)
				if err != nil {
					t.Fatal(err)
				}
				d.turns = append(d.turns, trainTurn{
					ID: fmt.Sprintf("%s-%d", d.ID, i), Lang: d.Lang, At: at,
					Messages: []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, turn.User)},
				})
			}
			out = append(out, d)
		}
	}
	return out
}

// endOnly reports whether a dialogue labels what is known at its end, and not what each turn says.
func (d *dialogue) endOnly() bool {
	return len(d.Known)+len(d.Kept)+len(d.Gone)+len(d.Ended) > 0 &&
		!slices.ContainsFunc(d.Turns, func(t dialogueTurn) bool { return len(t.Says) > 0 })
}

// covers returns the patterns of a turn that a unit matches, as whole labels.
func (t dialogueTurn) covers(text string) (says, may []covered) {
	for i, p := range t.Says {
		if matchesPattern(p, text) {
			says = append(says, covered{Label: i, Share: 1, Whole: true})
		}
	}
	for i, p := range t.May {
		if matchesPattern(p, text) {
			may = append(may, covered{Label: len(t.Says) + i, Share: 1, Whole: true})
		}
	}
	return says, may
}

// matchesPattern reports whether a text matches a pattern of testdata/memory. Its README explains them.
func matchesPattern(pattern, text string) bool {
	for w := range strings.FieldsSeq(pattern) {
		rest, not := strings.CutPrefix(w, "!")
		var any []string
		for a := range strings.SplitSeq(rest, "|") {
			if inside, anywhere := strings.CutPrefix(a, "*"); anywhere {
				any = append(any, regexp.QuoteMeta(inside))
			} else {
				any = append(any, `(?:^|[^\p{L}\p{N}])`+regexp.QuoteMeta(a))
			}
		}
		if regexp.MustCompile(`(?i)(?:`+strings.Join(any, "|")+`)`).MatchString(text) == not {
			return false
		}
	}
	return true
}
