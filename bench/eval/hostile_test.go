package eval_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/bench/eval"
)

func rewrite(t *testing.T, data, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(data, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestChangedScopeIsIngestedAgain: questions that no longer name conversations move the entries to
// other namespaces.
func TestChangedScopeIsIngestedAgain(t *testing.T) {
	data := collections(t)
	o := eval.Options{Data: data, Out: t.TempDir(), Sets: []string{"talk"}, Modes: []string{eval.ModeKeyword}}
	run(t, o)
	rewrite(t, data, "talk/queries.jsonl", `{"_id":"q4","text":"Lisbon"}`+"\n")
	rewrite(t, data, "talk/qrels.tsv", "q4\tb/1\t1\n")
	if r := run(t, o).Sets[0]; r.Scopes != 1 || r.Modes[0].All.R5 != 1 {
		t.Errorf("after the change: %d scopes, %+v", r.Scopes, r.Modes[0].All)
	}
}

func TestRepeatedNamesCountOnce(t *testing.T) {
	r := run(t, eval.Options{
		Data: collections(t), Out: t.TempDir(),
		Sets: []string{"pages", "pages"}, Modes: []string{eval.ModeKeyword, eval.ModeKeyword},
	})
	if len(r.Sets) != 1 || len(r.Sets[0].Modes) != 1 {
		t.Errorf("%d sets, %d modes", len(r.Sets), len(r.Sets[0].Modes))
	}
}

func TestBadIDs(t *testing.T) {
	for _, name := range []string{"corpus.jsonl", "queries.jsonl"} {
		for text, want := range map[string]string{
			`{"_id":"a","text":"x"}` + "\n" + `{"_id":"a","text":"y"}`: "entry 2",
			`{"_id":"a\rb","text":"x"}`:                                `"a b"`,
		} {
			data := collections(t)
			rewrite(t, data, "pages/"+name, text)
			_, err := eval.OpenSet(filepath.Join(data, "pages"))
			if !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), name) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s, %q: %v", name, text, err)
			}
		}
	}
}

// TestRefusedQuestion has one question that the engine refuses.
func TestRefusedQuestion(t *testing.T) {
	data := collections(t)
	long := strings.Repeat("herons ", ragctx.MaxQueryBytes)
	rewrite(t, data, "pages/queries.jsonl", `{"_id":"q1","text":"when do herons `+
		`leave"}`+"\n"+`{"_id":"q9","text":"`+long+`"}`+"\n")
	r := run(t, eval.Options{Data: data, Out: t.TempDir(), Sets: []string{"pages"}, Modes: []string{eval.ModeKeyword}})
	m := r.Sets[0].Modes[0]
	if m.Refused != 1 || m.Reason == "" || m.All.N != 2 || m.All.R5 != .5 {
		t.Errorf("%+v", m)
	}
	var table strings.Builder
	if err := eval.WriteTable(&table, r); err != nil || !strings.Contains(table.String(), "refused, which count 0: 1") {
		t.Errorf("%v\n%s", err, table.String())
	}
}

// TestScopesAsNumbers: conversations may be numbers in questions and entries.
func TestScopesAsNumbers(t *testing.T) {
	data := collections(t)
	rewrite(t, data, "pages/corpus.jsonl", `{"_id":"a","text":"x","metadata":{"conversation":1}}`)
	rewrite(t, data, "pages/queries.jsonl", `{"_id":"q1","text":"x","metadata":{"conversation":1}}`)
	s, err := eval.OpenSet(filepath.Join(data, "pages"))
	if err != nil || s.Field != "conversation" {
		t.Errorf("%+v %v", s, err)
	}
}

func TestByteOrderMark(t *testing.T) {
	data := collections(t)
	for _, name := range []string{"talk/corpus.jsonl", "talk/queries.jsonl", "talk/groups.tsv"} {
		b, err := os.ReadFile(filepath.Join(data, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		rewrite(t, data, name, "\ufeff"+string(b))
	}
	rewrite(t, data, "talk/qrels.tsv", "\ufeffq1\ta/1\t1\n")
	s, err := eval.OpenSet(filepath.Join(data, "talk"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Qrels["q1"]["a/1"] != 1 || s.Groups[0].Questions[0] != "q1" || s.Docs != 5 {
		t.Errorf("%+v", s)
	}
}
