package facts

import (
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
)

var testTime = time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC) // a Saturday

func says(s string) ragctx.Turn { return ragctx.Turn{Prompt: s} }

// TestExamples holds every rule to its own examples: what it must find, though the
// weights may not be sure enough of one that stands alone, and what it must leave alone.
func TestExamples(t *testing.T) {
	n := 0
	for _, l := range languages() {
		for _, r := range l.rules {
			if len(r.yes) == 0 || len(r.no) == 0 {
				t.Errorf("%s.%s has no examples", l.code, r.name)
			}
			rule := l.code + "." + r.name
			for _, s := range r.yes {
				n++
				if !sees(s, rule) {
					t.Errorf("%s finds nothing in %q; %s", rule, s, summary(Explain(says(s), testTime)))
				}
			}
			for _, s := range r.no {
				n++
				if finds(s, rule) {
					t.Errorf("%s: %q says nothing, but: %s", rule, s, summary(Explain(says(s), testTime)))
				}
			}
		}
	}
	t.Logf("%d examples", n)
}

// sees is finds, whatever the confidence.
func sees(s, rule string) bool {
	found := Explain(says(s), testTime)
	return slices.ContainsFunc(slices.Concat(found.Facts, found.Below), func(f Fact) bool { return f.Rule == rule })
}

func finds(s, rule string) bool {
	for _, f := range Extract(says(s), testTime) {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

func summary(f Found) (s string) {
	for _, x := range f.Facts {
		s += " + " + x.Rule + ": " + x.Content
	}
	for _, x := range f.Below {
		s += " - " + x.Rule + ": " + x.Content + " (" + x.Reason + ")"
	}
	return s
}
