package facts

import (
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
)

var testTime = time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC) // a Saturday

func says(s string) ragctx.Turn { return ragctx.Turn{Prompt: s} }

// TestExamples checks every rule on its own examples: those it must match, nearly always
// above the gate, and those it must not match.
func TestExamples(t *testing.T) {
	n, all, passed := 0, 0, 0
	for _, l := range languages() {
		for _, r := range l.rules {
			if len(r.yes) == 0 || len(r.no) == 0 {
				t.Errorf("%s.%s has no examples", l.code, r.name)
			}
			rule := l.code + "." + r.name
			for _, s := range r.yes {
				n++
				all++
				likely, passes := finds(s, rule)
				if passes {
					passed++
				}
				if !likely {
					t.Errorf("%s finds nothing in %q; %s", rule, s, summary(Explain(says(s), testTime)))
				}
			}
			for _, s := range r.no {
				n++
				if _, passes := finds(s, rule); passes {
					t.Errorf("%s: %q says nothing, but: %s", rule, s, summary(Explain(says(s), testTime)))
				}
			}
		}
	}
	t.Logf("%d examples; of %d that say something, %d pass the gate", n, all, passed)
	if passed*100 < all*97 {
		t.Error("too many do not")
	}
}

// finds reports whether a rule finds something that is at least likely to be worth
// remembering, and whether it passes the gate.
func finds(s, rule string) (likely, passes bool) {
	found := Explain(says(s), testTime)
	passes = slices.ContainsFunc(found.Facts, func(f Fact) bool { return f.Rule == rule })
	return passes || slices.ContainsFunc(found.Below, func(f Fact) bool { return f.Rule == rule && f.Confidence >= supported }), passes
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
