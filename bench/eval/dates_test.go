package eval_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/bench/eval"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// dialogue writes a set with turns of one conversation and the given dates.
func dialogue(t *testing.T, dir, name string, stamps ...string) {
	t.Helper()
	var corpus strings.Builder
	for i, s := range stamps {
		const line = `{"_id":"e%d","title":"","text":"Heron %[1]d.","metadata":{"conversation":"c","session":1,"date_time":%q}}`
		fmt.Fprintf(&corpus, line+"\n", i, s)
	}
	files := map[string]string{
		"corpus.jsonl":  corpus.String(),
		"queries.jsonl": `{"_id":"q","text":"heron","metadata":{"conversation":"c"}}` + "\n",
		"qrels.tsv":     "q\te0\t1\n",
	}
	if err := os.MkdirAll(filepath.Join(dir, name), 0o750); err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// occurred returns the days of the turns that a run ingested.
func occurred(t *testing.T, out, set string) (days []string) {
	t.Helper()
	eng, err := engine.Open(t.Context(), engine.Options{Dir: filepath.Join(out, set+".turns.data"), PauseJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	found, _, err := eng.Memories().List(t.Context(), "c", store.MemoryFilter{Order: store.ByID})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range found {
		days = append(days, m.Occurred.Format("2006-01-02 15:04:05"))
	}
	return days
}

// TestTimesOfTurns ingests turns with dates in common formats of programs.
func TestTimesOfTurns(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	dialogue(t, data, "dots", "29.12.2023, 22:42:04", "30.12.2023, 08:00:00")
	dialogue(t, data, "slashes", "3/4/2023 10:00", "29/4/2023 10:00")
	dialogue(t, data, "unclear", "3/4/2023 10:00", "2023/05/20 (Sat) 02:21", "some day", "5/4/2023", "20 mai 2023 à 13h56")
	var log, table bytes.Buffer
	r := run(t, eval.Options{
		Data: data, Out: out, Modes: []string{eval.Modes()[0]},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	want := map[string][]string{
		"dots":    {"2023-12-29 22:42:04", "2023-12-30 08:00:00"},
		"slashes": {"2023-04-03 10:00:00", "2023-04-29 10:00:00"},
		"unclear": {
			"2026-01-01 00:00:00", "2023-05-20 02:21:00", "2023-05-20 02:21:00", "2023-05-20 02:21:00",
			"2023-05-20 13:56:00",
		},
	}
	for _, s := range r.Sets {
		if diff := cmp.Diff(want[s.Set], occurred(t, out, s.Set)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.Set, diff)
		}
	}
	undated := r.Sets[2].Undated
	if r.Sets[0].Undated != nil || r.Sets[1].Undated != nil || len(undated) != 2 || undated[0].Count != 2 ||
		strings.Join(undated[0].IDs, " ") != "e0 e3" || undated[0].Such != "3/4/2023 10:00" || undated[1].Such != "some day" {
		t.Errorf("%+v", undated)
	}
	if err := eval.WriteTable(&table, r); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{`2: "3/4/2023 10:00" is ambiguous`, `: e0, e3`, `1: "some day" is not a readable time`} {
		if !strings.Contains(table.String(), w) {
			t.Errorf("the table does not say %q:\n%s", w, &table)
		}
	}
	if s := log.String(); !strings.Contains(s, "level=WARN") ||
		!strings.Contains(s, "set=unclear entries=2") || strings.Contains(s, "set=dots") {
		t.Errorf("the log:\n%s", &log)
	}
}

// TestRefusedEntries: refused entries are counted by reason, with their ids.
func TestRefusedEntries(t *testing.T) {
	data := t.TempDir()
	dialogue(t, data, "library", "1.1.2023")
	var corpus strings.Builder
	for i := range 8 {
		fmt.Fprintf(&corpus, `{"_id":"empty%d","title":" ","text":""}`+"\n", i)
	}
	corpus.WriteString(`{"_id":"e0","title":"A heron of a title","text":""}` + "\n")
	fmt.Fprintf(&corpus, `{"_id":"long","title":%q,"text":"x"}`+"\n", strings.Repeat("x", 3000))
	if err := os.WriteFile(filepath.Join(data, "library", "corpus.jsonl"), []byte(corpus.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, eval.Options{Data: data, Out: t.TempDir()})
	in := r.Sets[0].Ingest
	if in.Entries != 1 || in.Refused != 9 || len(in.Refusals) != 2 || in.Refusals[0].Count != 8 ||
		len(in.Refusals[0].IDs) != 5 || in.Refusals[1].IDs[0] != "long" {
		t.Errorf("%+v", in)
	}
	for _, m := range r.Sets[0].Modes {
		if m.All.R5 != 1 {
			t.Errorf("%s does not find a title: %+v", m.Mode, m.All)
		}
	}
	var table bytes.Buffer
	if err := eval.WriteTable(&table, r); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{
		"library, entries refused, which no search can find: 9 of 10\n",
		"  8: text: is empty or white space, and there is no title", "empty0, empty1, empty2, empty3, empty4 and 3 more\n",
	} {
		if !strings.Contains(table.String(), w) {
			t.Errorf("the table does not say %q:\n%s", w, &table)
		}
	}
}
