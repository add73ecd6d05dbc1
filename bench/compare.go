package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/ragctx/ragctx"
)

// Comparison says how a report differs from an older one.
type Comparison struct {
	// Old is the setup of the older report.
	Old Setup `json:"old"`
	// Differences name what makes the reports hard to compare.
	Differences []string `json:"differences,omitempty"`
	// Control is the fixed computation: how the machine itself has changed.
	Control Change   `json:"control"`
	Changes []Change `json:"changes"`
	// Alone are loads that only one of the reports has.
	Alone []string `json:"alone,omitempty"`
}

// Change is how a figure of a load differs.
type Change struct {
	Load   string `json:"load,omitempty"`
	Metric string `json:"metric"`
	// Old and New are medians over the runs.
	Old float64 `json:"old"`
	New float64 `json:"new"`
	// Percent is by how much the figure is more now, as the median of all pairs of runs;
	// Low and High are the ends of its 95 % confidence interval. High is 0 with Low where
	// the runs are too few for one.
	Percent float64 `json:"percent"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	// P is the probability of such a difference, or a greater one, if there were none,
	// corrected for the number of loads.
	P       float64 `json:"p"`
	Outcome Outcome `json:"outcome"`

	least float64 // that P can be, before it is corrected
}

// Outcome says whether a difference is shown.
type Outcome string

// The outcomes. A difference is shown if there would hardly be one of that size by
// chance (surprise) and if it is no less than leastChange, which two measurements
// of the same program on a machine that others use reach as well.
const (
	Slower     Outcome = "slower"
	Faster     Outcome = "faster"
	NotShown   Outcome = "no difference shown"
	TooFewRuns Outcome = "too few runs to show any"
)

const (
	surprise    = 0.05
	leastChange = 2 // percent
)

// metrics are what is compared.
var metrics = []struct {
	name string
	of   func(Figures) float64
	more Outcome // what it means that there is more of it
	// open says that the figure means something in an open loop: there throughput is
	// what was asked for.
	open bool
}{
	{"p50", func(f Figures) float64 { return f.P50 }, Slower, true},
	{"p99", func(f Figures) float64 { return f.P99 }, Slower, true},
	{"per second", func(f Figures) float64 { return f.PerSecond }, Faster, false},
	{"cpu", func(f Figures) float64 { return f.CPU }, Slower, true},
}

// Compare compares the runs of two reports, load by load, which tells differences
// of the program from those between runs. Reports whose setups differ cannot tell
// it from those: then it returns [ragctx.ErrInvalid], unless anyway is set.
func Compare(old, now Report, anyway bool) (Comparison, error) {
	c := Comparison{Old: old.Setup, Differences: differences(old, now)}
	if len(c.Differences) > 0 && !anyway {
		return c, differ(c.Differences)
	}
	var pairs [][2]Measurement
	for _, m := range now.Loads {
		i := slices.IndexFunc(old.Loads, func(o Measurement) bool { return o.Load == m.Load })
		if i < 0 {
			c.Alone = append(c.Alone, m.Load.String())
			continue
		}
		pairs = append(pairs, [2]Measurement{old.Loads[i], m})
	}
	for _, m := range old.Loads {
		if !slices.ContainsFunc(now.Loads, func(n Measurement) bool { return n.Load == m.Load }) {
			c.Alone = append(c.Alone, m.Load.String())
		}
	}
	if len(pairs) == 0 {
		return c, errNothingCommon()
	}
	for _, metric := range metrics {
		var family []Change
		for _, p := range pairs {
			if p[0].Rate > 0 && !metric.open {
				continue
			}
			if ch, ok := change(figures(p[0], metric.of), figures(p[1], metric.of)); ok {
				ch.Load, ch.Metric = p[1].Load.String(), metric.name
				family = append(family, ch)
			}
		}
		judge(family, metric.more)
		c.Changes = append(c.Changes, family...)
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return place(pairs, a) - place(pairs, b) })
	if ch, ok := change(thinned(old.Control), thinned(now.Control)); ok {
		ch.Metric = "control"
		family := []Change{ch}
		judge(family, Slower)
		c.Control = family[0]
	}
	return c, nil
}

// Comparable finds what would keep the report of a run from being compared with an
// older one, before it is made; anyway is as for [Compare].
func Comparable(old Report, o Options, anyway bool) error {
	o = o.withDefaults()
	if found := differences(old, newReport(o)); len(found) > 0 && !anyway {
		return differ(found)
	}
	if !slices.ContainsFunc(old.Loads, func(m Measurement) bool { return slices.Contains(o.Loads, m.Load) }) {
		return errNothingCommon()
	}
	return nil
}

func errNothingCommon() error {
	return ragctx.Invalid("compare", "the reports have no load in common; ask with the same --clients, --rate and --ingest")
}

func differ(differences []string) error {
	return ragctx.Invalid("compare", "the reports are of different setups, so a difference would say little: %s; use the same ones, or --compare-anyway", strings.Join(differences, "; "))
}

// place orders changes by their loads.
func place(pairs [][2]Measurement, c Change) int {
	return slices.IndexFunc(pairs, func(p [2]Measurement) bool { return p[1].Load.String() == c.Load })
}

// figures returns a figure of all runs.
func figures(m Measurement, of func(Figures) float64) []float64 {
	out := make([]float64, len(m.Runs))
	for i, f := range m.Runs {
		out[i] = of(f)
	}
	return out
}

// change estimates a difference, and is false where a figure is not known.
func change(old, now []float64) (Change, bool) {
	known := func(v float64) bool { return !(v > 0) || math.IsInf(v, 1) }
	if len(old) == 0 || len(now) == 0 || slices.ContainsFunc(old, known) || slices.ContainsFunc(now, known) {
		return Change{}, false
	}
	c := Change{Old: median(old), New: median(now), P: rankTest(old, now), least: leastChance(len(old), len(now))}
	percent := func(factor float64) float64 { return 100 * (factor - 1) }
	estimate, low, high := ratio(old, now)
	c.Percent = percent(estimate)
	if !math.IsInf(high, 1) {
		c.Low, c.High = percent(low), percent(high)
	}
	return c, true
}

// judge sets the outcomes of a metric's changes. Of several loads one may seem to
// differ by chance, so their probabilities are corrected (Holm, 1979).
func judge(family []Change, more Outcome) {
	order := make([]int, len(family))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case family[i].P < family[j].P:
			return -1
		case family[i].P > family[j].P:
			return 1
		}
		return 0
	})
	least := 0.0
	for n, i := range order {
		c := &family[i]
		least = max(least, min(1, c.P*float64(len(family)-n)))
		c.P = least
		switch {
		case c.least*float64(len(family)) > surprise:
			c.Outcome = TooFewRuns
		case c.P > surprise || math.Abs(c.Percent) < leastChange:
			c.Outcome = NotShown
		case c.Percent > 0:
			c.Outcome = more
		case more == Slower:
			c.Outcome = Faster
		default:
			c.Outcome = Slower
		}
	}
}

// thinned returns medians of neighbours, no more of them than a load has runs: there is a
// control before each run of each load, and what the rank test takes grows with the fourth
// power.
func thinned(values []float64) []float64 {
	n := len(values)
	if n <= MaxRepeat {
		return values
	}
	out := make([]float64, MaxRepeat)
	for i := range out {
		out[i] = median(values[i*n/MaxRepeat : (i+1)*n/MaxRepeat])
	}
	return out
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// differences names what differs between the setups of two reports, beside the
// program and the time.
func differences(old, now Report) (out []string) {
	a, b := old.Setup, now.Setup
	for _, f := range []struct {
		name     string
		old, now any
	}{
		{"machine", a.Machine, b.Machine},
		{"cores", a.Cores, b.Cores},
		{"server in the process that asks", a.InProcess, b.InProcess},
		{"corpus", a.Corpus, b.Corpus},
		{"documents", a.Documents, b.Documents},
		{"chunks", a.Chunks, b.Chunks},
		{"namespace", a.Namespace, b.Namespace},
		{"queries", a.Queries, b.Queries},
		{"texts of the queries", a.QueriesHash, b.QueriesHash},
		{"max_tokens", a.MaxTokens, b.MaxTokens},
		{"max_results", a.MaxResults, b.MaxResults},
		{"tokenizer", a.Tokenizer, b.Tokenizer},
		{"seed", a.Seed, b.Seed},
		{"warm-up", old.Warmup, now.Warmup},
		{"requests in a run", old.Requests, now.Requests},
		{"seconds in a run", old.Seconds, now.Seconds},
	} {
		if f.old != f.now {
			out = append(out, printable(fmt.Sprintf("%s: was %v, is %v", f.name, f.old, f.now)))
		}
	}
	return out
}

// printable replaces what would command a terminal: an older report may be anyone's.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
