package eval

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

// samples is the number of bootstrap samples.
const samples = 2000

// minQuestions is the number of questions below which no difference is marked: smaller sets do not show
// their own variance.
const minQuestions = 10

// Comparison holds the differences between two runs.
type Comparison struct {
	Sets []setDelta `json:"sets"`
	// Macro holds the mean differences over the ranking sets, one per mode.
	Macro []setDelta `json:"macro"`
}

// setDelta is the difference on one set in one mode.
type setDelta struct {
	Set  string `json:"set"`
	Mode string `json:"mode"`
	// N is the number of questions; for the macro mean, the number of sets.
	N int `json:"n"`
	// Questions is the number of questions; for the macro mean, over all its sets.
	Questions int `json:"questions"`

	NDCG10 Delta `json:"ndcg@10"`
	R10    Delta `json:"r@10"`
}

// Delta is a difference of means with its 95 % interval. P is the probability of such a difference
// by chance (two-sided, paired bootstrap over questions).
type Delta struct {
	A     float64 `json:"a"`
	B     float64 `json:"b"`
	Delta float64 `json:"delta"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	P     float64 `json:"p"`
}

// Significant reports whether p < .05.
func (d Delta) Significant() bool { return d.P < .05 }

// Compare compares the run files that exist in both result directories, a and b, on the sets in
// data.
func Compare(ctx context.Context, data, a, b string) (Comparison, error) {
	c := Comparison{Sets: []setDelta{}}
	names, err := ListSets(data)
	if err != nil {
		return c, err
	}
	drawn := make(map[string][]pairSamples) // of the ranking sets, by mode
	for _, name := range names {
		var set *Set
		for _, mode := range Modes() {
			if err := ctx.Err(); err != nil {
				return c, err
			}
			file := name + "." + mode + ".run.tsv"
			if !exists(filepath.Join(a, file)) || !exists(filepath.Join(b, file)) {
				continue
			}
			if set == nil {
				if set, err = OpenSet(filepath.Join(data, name)); err != nil {
					return c, err
				}
			}
			d, s, err := compareFiles(set, mode, filepath.Join(a, file), filepath.Join(b, file))
			if err != nil {
				return c, err
			}
			c.Sets = append(c.Sets, d)
			if slices.Contains(rankingSets[:], name) {
				drawn[mode] = append(drawn[mode], s)
			}
		}
	}
	if len(c.Sets) == 0 {
		return c, fmt.Errorf("%s and %s have no run file in common for the sets in %s", a, b, data)
	}
	for _, mode := range Modes() {
		if s := drawn[mode]; len(s) > 0 {
			c.Macro = append(c.Macro, macroDelta(mode, s))
		}
	}
	return c, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// pairSamples holds the bootstrapped differences of one set and their means.
type pairSamples struct {
	ndcg, r10 sampled
	questions int
}

type sampled struct {
	a, b  float64
	draws []float64
}

func compareFiles(set *Set, mode, a, b string) (setDelta, pairSamples, error) {
	var none pairSamples
	runA, err := readFile(a, ReadRun)
	if err != nil {
		return setDelta{}, none, err
	}
	runB, err := readFile(b, ReadRun)
	if err != nil {
		return setDelta{}, none, err
	}
	sa, sb := scoreRun(runA, set.Qrels), scoreRun(runB, set.Qrels)
	ids := headline(set)
	if ids == nil {
		ids = sa.ids()
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := sa[id]; return !ok })
	pick := func(value func(Measures) float64) sampled {
		x, y := make([]float64, len(ids)), make([]float64, len(ids))
		for i, id := range ids {
			x[i], y[i] = value(sa[id]), value(sb[id])
		}
		return bootstrap(set.Name, x, y)
	}
	s := pairSamples{
		ndcg: pick(func(m Measures) float64 { return m.NDCG10 }),
		r10:  pick(func(m Measures) float64 { return m.R10 }),

		questions: len(ids),
	}
	return setDelta{
		Set: set.Name, Mode: mode, N: len(ids), Questions: len(ids), NDCG10: s.ndcg.delta(),
		R10: s.r10.delta(),
	}, s, nil
}

// bootstrap draws questions with replacement (Efron and Tibshirani, "An Introduction to the
// Bootstrap", 1993) and returns the mean difference of each draw. Both runs are drawn together,
// because most of the variance between questions is common to them. The seed is a hash of the set's
// name: equal runs give equal results, and sets of equal size are drawn independently.
func bootstrap(name string, a, b []float64) sampled {
	s := sampled{a: meanOf(a), b: meanOf(b), draws: make([]float64, samples)}
	if len(a) == 0 {
		return s
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, name)             // a hash never fails
	rng := rand.New(rand.NewPCG(h.Sum64(), 1)) //nolint:gosec // drawing, not hiding
	for i := range s.draws {
		var sum float64
		for range a {
			q := rng.IntN(len(a))
			sum += b[q] - a[q]
		}
		s.draws[i] = sum / float64(len(a))
	}
	return s
}

func meanOf(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(len(x), 1))
}

// delta summarises the draws.
func (s sampled) delta() Delta {
	draws := slices.Sorted(slices.Values(s.draws))
	n := len(draws)
	var below, above int
	for _, d := range draws {
		if d <= 0 {
			below++
		}
		if d >= 0 {
			above++
		}
	}
	return Delta{
		A: s.a, B: s.b, Delta: s.b - s.a,
		Low: draws[n*25/1000], High: draws[n-1-n*25/1000],
		// One is added for the observed difference, so p is never 0 (Davison and Hinkley,
		// "Bootstrap Methods and their Application", 1997).
		P: math.Min(1, 2*float64(min(below, above)+1)/float64(n+1)),
	}
}

// macroDelta averages sets draw by draw.
func macroDelta(mode string, sets []pairSamples) setDelta {
	combine := func(pick func(pairSamples) sampled) Delta {
		all := sampled{draws: make([]float64, samples)}
		n := float64(len(sets))
		for _, s := range sets {
			x := pick(s)
			all.a += x.a / n
			all.b += x.b / n
			for i, d := range x.draws {
				all.draws[i] += d / n
			}
		}
		return all.delta()
	}
	questions := 0
	for _, s := range sets {
		questions += s.questions
	}
	return setDelta{
		Set: "macro", Mode: mode, N: len(sets), Questions: questions,
		NDCG10: combine(func(p pairSamples) sampled { return p.ndcg }),
		R10:    combine(func(p pairSamples) sampled { return p.r10 }),
	}
}

// WriteComparison writes a comparison as text; a and b name the two runs.
func WriteComparison(w io.Writer, c Comparison, a, b string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "set\tmode\tn\tnDCG@10 %s\t%s\tdelta\tp\tR@10 %s\t%s\tdelta\tp\n", a, b, a, b)
	for _, d := range slices.Concat(c.Sets, c.Macro) {
		fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%s\n", d.Set, d.Mode, d.N, d.cells(d.NDCG10), d.cells(d.R10))
	}
	fmt.Fprintf(tw, "\n* p < .05 over at least %d questions, paired bootstrap, %d samples\n", minQuestions, samples)
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

func (s setDelta) cells(d Delta) string {
	mark := ""
	if d.Significant() && s.Questions >= minQuestions {
		mark = "*"
	}
	return fmt.Sprintf("%.4f\t%.4f\t%+.4f%s\t%.3f", d.A, d.B, d.Delta, mark, d.P)
}
