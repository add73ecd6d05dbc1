package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/bench/eval"
	"github.com/ragctx/ragctx/engine"
)

const pond = "The pond freezes in January.\n\nHerons leave the pond when it freezes. "

// collections writes two small sets: a dialogue in two conversations, and documents with reference
// spans, one of them empty.
func collections(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"talk/corpus.jsonl": `{"_id":"a/1","title":"","text":"Mara: My heron is called ` +
			`Otto.","metadata":{"conversation":"a","session":1,"date_time":"1:56 pm on 8 May, 2023","speaker":"Mara"}}
{"_id":"a/2","title":"","text":"Piet: Otto is a fine name.","metadata":{"conversation":"a","session":1,"date_time":"01:57:04 PM on Monday 08 May, 2023","speaker":"Piet"}}
{"_id":"a/3","title":"","text":"Mara: I moved to Bergen.","metadata":{"conversation":"a","session":2,"date_time":"June-15-2023","speaker":"Mara"}}
{"_id":"b/1","title":"","text":"user: I live in Lisbon.","metadata":{"conversation":"b","batch":1,"role":"user","time_anchor":"March-15-2024"}}
{"_id":"b/2","title":"","text":"assistant: Noted: Lisbon.","metadata":{"conversation":"b","batch":1,"role":"assistant"}}
`,
		"talk/queries.jsonl": `{"_id":"q1","text":"what is the heron called","metadata":{"conversation":"a"}}
{"_id":"q2","text":"where does she live, Bergen or Lisbon","metadata":{"conversation":"a"}}
{"_id":"q3","text":"what was said in the first session","metadata":{"conversation":"a"}}
{"_id":"q4","text":"Lisbon","metadata":{"conversation":"b"}}
`,
		"talk/qrels.tsv":  "query-id\tcorpus-id\tscore\nq1\ta/1\t1\nq2\ta/3\t1\nq3\ta/1\t1\nq3\ta/2\t1\nq4\tb/1\t1\n",
		"talk/groups.tsv": "q1\tfact\nq2\tfact\nq3\ttime:session\nq4\tfact\n",
		"pages/corpus.jsonl": fmt.Sprintf("{\"_id\":\"p:1#x\",\"title\":\"Pond\",\"text\":%q}\n", strings.Repeat(pond, 40)) +
			`{"_id":"p:2","title":"Hill","text":"Hares live on the hill."}` + "\n" + `{"_id":"p:3","title":"","text":""}` + "\n",
		"pages/queries.jsonl": `{"_id":"q1","text":"when do herons ` +
			`leave","metadata":{"doc":"p:1#x","spans":[[30,69]]}}` + "\n",
		"pages/qrels.tsv": "q1\tp:1#x\t1\nq9\tp:2\t1\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, o eval.Options) eval.Report {
	t.Helper()
	r, err := eval.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found returns the run files of a result directory.
func found(t *testing.T, out string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	names, err := filepath.Glob(filepath.Join(out, "*.tsv*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(n)] = string(b)
	}
	return files
}

func TestRun(t *testing.T) {
	data, out := collections(t), t.TempDir()
	r := run(t, eval.Options{Data: data, Out: out})
	if len(r.Sets) != 2 || r.Sets[0].Set != "pages" || r.Sets[1].Set != "talk" {
		t.Fatalf("sets %+v", r.Sets)
	}
	pages, talk := r.Sets[0], r.Sets[1]
	if pages.Via != eval.ViaDocs || pages.Ingest.Entries != 2 || pages.Ingest.Refused != 1 ||
		len(pages.Ingest.Refusals) != 1 || !strings.Contains(pages.Ingest.Refusals[0].Why, "empty") {
		t.Errorf("pages went in as %+v", pages)
	}
	keyword := pages.Modes[0]
	// q9 is judged and never asked: it counts 0.
	if keyword.All.N != 2 || keyword.All.MRR10 != .5 || keyword.Spans == nil || keyword.Spans.RecallIn8000 == 0 {
		t.Errorf("pages: %+v %+v", keyword, keyword.Spans)
	}
	if talk.Via != eval.ViaTurns || talk.Scopes != 2 || talk.Ingest.Chunks != 5 || talk.DataBytes == 0 {
		t.Errorf("talk went in as %+v", talk)
	}
	fact := talk.Modes[2].Categories[0]
	if fact.Name != "fact" || fact.N != 3 || fact.R5 != 1 {
		t.Errorf("talk, hybrid: %+v", talk.Modes[2])
	}
	if talk.TimeQuestions != 1 || talk.TimeSets != nil {
		t.Errorf("time sets %+v of %d questions, want none measured of 1", talk.TimeSets, talk.TimeQuestions)
	}
	nameless := run(t, eval.Options{
		Data: data, Out: t.TempDir(), Sets: []string{"talk"},
		Modes: []string{"hybrid"}, Via: eval.ViaNameless,
	}).Sets[0]
	if nameless.Via != eval.ViaNameless || nameless.Ingest.Chunks != 5 || nameless.Modes[0].Categories[0].N != 3 {
		t.Errorf("talk without names: %+v", nameless)
	}
	var table bytes.Buffer
	if err := eval.WriteTable(&table, r); err != nil || !strings.Contains(table.String(), "n/a") {
		t.Errorf("table (%v):\n%s", err, &table)
	}
	for name, text := range found(t, out) {
		if strings.HasPrefix(name, "talk.") && strings.Contains(text, "q4\ta/") {
			t.Errorf("%s: a question was answered from another conversation", name)
		}
	}
	var stored eval.Report
	b, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err == nil {
		err = json.Unmarshal(b, &stored)
	}
	if err != nil || len(stored.Sets) != 2 {
		t.Errorf("report.json: %v, %d sets", err, len(stored.Sets))
	}
}

func TestRunsAreEqual(t *testing.T) {
	data, a, b := collections(t), t.TempDir(), t.TempDir()
	run(t, eval.Options{Data: data, Out: a})
	first := found(t, a)
	if len(first) != 9 {
		t.Fatalf("%d run files: %v", len(first), slices.Sorted(maps.Keys(first)))
	}
	again := run(t, eval.Options{Data: data, Out: a, Sets: []string{"talk"}})
	if again.Sets[0].Ingest.Chunks != 5 {
		t.Errorf("the second run forgot the first ingest: %+v", again.Sets[0].Ingest)
	}
	if !maps.Equal(first, found(t, a)) {
		t.Error("the same question was answered differently")
	}
	run(t, eval.Options{Data: data, Out: b})
	if !maps.Equal(first, found(t, b)) {
		t.Error("a new ingest changed the run files")
	}
}

func TestInterruptedIngestGoesOn(t *testing.T) {
	data, whole, cut := collections(t), t.TempDir(), t.TempDir()
	sets := []string{"talk"}
	run(t, eval.Options{Data: data, Out: whole, Sets: sets})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := eval.Run(ctx, eval.Options{Data: data, Out: cut, Sets: sets, Progress: func(p eval.Progress) {
		if p.Done == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("a canceled run ended with %v", err)
	}
	if len(found(t, cut)) > 0 {
		t.Error("a canceled run left run files")
	}
	r := run(t, eval.Options{Data: data, Out: cut, Sets: sets})
	if a, b := found(t, whole), found(t, cut); !maps.Equal(a, b) {
		t.Errorf("the run files differ from those of one ingest:\n%v\n%v", a, b)
	}
	if i := r.Sets[0].Ingest; i.Entries != 5 || i.Chunks > 5 {
		t.Errorf("ingested %+v", i)
	}
}

func TestChangedCorpusIsIngestedAgain(t *testing.T) {
	data, out := collections(t), t.TempDir()
	o := eval.Options{Data: data, Out: out, Sets: []string{"pages"}, Modes: []string{eval.ModeKeyword}}
	run(t, o)
	more := []byte(`{"_id":"p:4","title":"Herons","text":"When do herons leave? In winter herons leave."}` + "\n")
	if err := os.WriteFile(filepath.Join(data, "pages", "corpus.jsonl"), more, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, o)
	for name, text := range found(t, out) {
		if strings.Contains(text, "p:1") || !strings.Contains(text, "p:4") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestForeignDirectoryIsKept(t *testing.T) {
	data, out := collections(t), t.TempDir()
	mine := filepath.Join(out, "talk.turns.data", "letter.txt")
	if err := os.MkdirAll(filepath.Dir(mine), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := eval.Run(t.Context(), eval.Options{Data: data, Out: out, Sets: []string{"talk"}, Fresh: true})
	if !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

// TestTimeSets replaces the engine's reading of times by a stand-in.
func TestTimeSets(t *testing.T) {
	data := collections(t)
	for _, c := range []struct {
		ids  []string
		read bool
		want eval.TimeSets
	}{
		{[]string{"a/2", "a/1"}, true, eval.TimeSets{N: 1, Read: 1, Precision: 1, Recall: 1, Exact: 1}},
		{[]string{"a/1", "a/3"}, true, eval.TimeSets{N: 1, Read: 1, Precision: .5, Recall: .5}},
		{nil, false, eval.TimeSets{N: 1}},
	} {
		var now time.Time
		r := run(t, eval.Options{
			Data: data, Out: t.TempDir(), Sets: []string{"talk"}, Modes: []string{eval.ModeKeyword},
			Within: func(_ context.Context, _ *engine.Engine, q ragctx.ContextQuery) ([]string, bool, error) {
				now = q.Now
				return c.ids, c.read, nil
			},
		})
		if got := r.Sets[0].TimeSets; got == nil || *got != c.want {
			t.Errorf("%v: %+v, want %+v", c.ids, got, c.want)
		}
		if want := time.Date(2023, 6, 15, 0, 0, 0, 0, time.UTC); !now.Equal(want) {
			t.Errorf("asked at %v, want the time of the last session, %v", now, want)
		}
	}
}

func TestBadOptions(t *testing.T) {
	data := collections(t)
	for _, o := range []eval.Options{
		{Out: "x"},
		{Data: data},
		{Data: t.TempDir(), Out: "x"},
		{Data: data, Out: "x", Sets: []string{"nowhere"}},
		{Data: data, Out: "x", Modes: []string{"telepathy"}},
		{Data: data, Out: "x", Via: "pigeon"},
	} {
		if _, err := eval.Run(t.Context(), o); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestBrokenSet(t *testing.T) {
	for name, text := range map[string]string{
		"corpus.jsonl":  `{"_id":"a`,
		"queries.jsonl": `{"_id":"","text":"x"}`,
		"qrels.tsv":     "a\tb\t1\na\tb\n",
	} {
		data := collections(t)
		if err := os.WriteFile(filepath.Join(data, "pages", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := eval.OpenSet(filepath.Join(data, "pages")); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompare(t *testing.T) {
	data, a, b := t.TempDir(), t.TempDir(), t.TempDir()
	set := filepath.Join(data, "cisi")
	var corpus, queries, qrels, good, bad strings.Builder
	corpus.WriteString(`{"_id":"d","text":"x"}` + "\n")
	for i := range 40 {
		fmt.Fprintf(&queries, "{\"_id\":\"q%d\",\"text\":\"x\"}\n", i)
		fmt.Fprintf(&qrels, "q%d\td\t1\n", i)
		fmt.Fprintf(&good, "q%d\td\t%d\n", i, i)
		if i%4 > 0 {
			fmt.Fprintf(&bad, "q%d\te\t2\nq%d\td\t1\n", i, i)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(set, "corpus.jsonl"):      corpus.String(),
		filepath.Join(set, "queries.jsonl"):     queries.String(),
		filepath.Join(set, "qrels.tsv"):         qrels.String(),
		filepath.Join(a, "cisi.hybrid.run.tsv"): bad.String(),
		filepath.Join(b, "cisi.hybrid.run.tsv"): good.String(),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := eval.Compare(t.Context(), data, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Sets) != 1 || len(c.Macro) != 1 {
		t.Fatalf("%+v", c)
	}
	d := c.Sets[0].NDCG10
	if d.B != 1 || !d.Significant() || d.Delta <= 0 || d.Low > d.Delta || d.High < d.Delta || c.Sets[0].R10.A != .75 {
		t.Errorf("a better run: %+v", c.Sets[0])
	}
	if c.Macro[0].NDCG10 != d {
		t.Errorf("the macro of one set is %+v, the set %+v", c.Macro[0].NDCG10, d)
	}
	same, err := eval.Compare(t.Context(), data, b, b)
	if err != nil || same.Sets[0].NDCG10.P != 1 || same.Sets[0].NDCG10.Delta != 0 {
		t.Errorf("equal runs: %+v %v", same, err)
	}
	var table bytes.Buffer
	if err := eval.WriteComparison(&table, c, "before", "after"); err != nil || !strings.Contains(table.String(), "*") {
		t.Errorf("%v\n%s", err, &table)
	}
	if _, err := eval.Compare(t.Context(), data, a, t.TempDir()); err == nil {
		t.Error("nothing in common, and no error")
	}
}
