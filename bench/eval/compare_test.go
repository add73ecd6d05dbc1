package eval

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestDrawsAreIndependent: equal differences under two names are drawn differently.
func TestDrawsAreIndependent(t *testing.T) {
	a, b := make([]float64, 50), make([]float64, 50)
	for i := range b {
		b[i] = float64(i % 7)
	}
	one := bootstrap("cisi", a, b)
	if !slices.Equal(one.draws, bootstrap("cisi", a, b).draws) {
		t.Error("equal runs compare differently")
	}
	if slices.Equal(one.draws, bootstrap("cosqa", a, b).draws) {
		t.Error("two sets are drawn alike")
	}
	if p := one.delta().P; p <= 0 || p > 2./samples {
		t.Errorf("p is %g, want the least that %d samples can show", p, samples)
	}
}

func TestFewQuestionsGetNoStar(t *testing.T) {
	for n, want := range map[int]bool{minQuestions - 1: false, minQuestions: true} {
		var out bytes.Buffer
		d := setDelta{N: n, Questions: n, NDCG10: Delta{P: .01, Delta: .5}}
		if err := WriteComparison(&out, Comparison{Sets: []setDelta{d}}, "a", "b"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "+0.5000*"); got != want {
			t.Errorf("%d questions: star %v", n, got)
		}
	}
}
