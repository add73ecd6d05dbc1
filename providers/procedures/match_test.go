package procedures_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed/minilm"
	"github.com/ragctx/ragctx/providers/procedures"
)

// shelf is a source with a fixed set of procedures.
type shelf []procedures.PublishedProcedure

func (s shelf) Published(context.Context, ragctx.ContextQuery) ([]procedures.PublishedProcedure, error) {
	return s, nil
}

// asked is a question and the procedure that answers it, or "".
type asked struct{ question, procedure string }

func questions(t testing.TB) (s shelf, list []asked) {
	t.Helper()
	text, err := os.ReadFile("testdata/procedures.txt")
	if err != nil {
		t.Fatal(err)
	}
	current := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		name, trigger, procedure := strings.Cut(strings.TrimPrefix(line, "= "), ": ")
		switch {
		case line == "" || line[0] == '#':
		case line == "!":
			current = ""
		case line[0] == '=' && procedure:
			current = name
			s = append(s, procedures.NewPublishedProcedure(procedures.ID{Name: name, Version: 1}, trigger, time.Time{}))
		default:
			list = append(list, asked{line, current})
		}
	}
	return s, list
}

// later returns questions that the numbers were not set on.
func later(t testing.TB) (list []asked) {
	t.Helper()
	text, err := os.ReadFile("testdata/later.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if procedure, question, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && line[0] != '#' {
			list = append(list, asked{question, strings.TrimPrefix(procedure, "!")})
		}
	}
	return list
}

// TestMatching measures the questions of testdata: it is more important that one that
// has no procedure gets none than that every procedure is found.
func TestMatching(t *testing.T) {
	s, list := questions(t)
	for name, list := range map[string][]asked{"set": list, "later": later(t)} {
		t.Run(name, func(t *testing.T) { measure(t, s, list) })
	}
}

func measure(t *testing.T, s shelf, list []asked) {
	p := procedures.NewProvider(s, minilm.Default)
	var found, others, positives, negatives, disturbed int
	for _, a := range list {
		res, err := p.Query(t.Context(), ragctx.NewQuery(a.question).WithDefaults())
		if err != nil {
			t.Fatal(err)
		}
		if a.procedure == "" {
			negatives++
			if len(res.Items) > 0 {
				disturbed++
				t.Logf("%q gets %s (%.2f)", a.question, res.Items[0].Source, res.Items[0].Relevance)
			}
			continue
		}
		positives++
		others += len(res.Items)
		if slices.ContainsFunc(res.Items, func(it ragctx.ContextItem) bool { return it.Source == procedures.SourceOf(a.procedure) }) {
			found++
			others--
		} else {
			t.Logf("%q does not get %s", a.question, a.procedure)
		}
	}
	t.Logf("found %d of %d; others as well %d; of %d questions without a procedure %d get one", found, positives,
		others, negatives, disturbed)
	if 10*found < 7*positives || 10*others > positives || 10*disturbed > negatives {
		t.Error("matching has become worse")
	}
}

func BenchmarkQuery(b *testing.B) {
	s, list := questions(b)
	var many shelf
	for range 50 { // 1,000 procedures
		many = append(many, s...)
	}
	p := procedures.NewProvider(many, minilm.Default)
	for i := 0; b.Loop(); i++ {
		if _, err := p.Query(b.Context(), ragctx.NewQuery(list[i%len(list)].question)); err != nil {
			b.Fatal(err)
		}
	}
}
