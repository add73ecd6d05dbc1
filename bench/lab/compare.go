package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/ragctx/ragctx"

	"github.com/ragctx/ragctx/bench"
)

// Comparison is the difference between a report and an older one.
type Comparison struct {
	// Old is the setup of the older report.
	Old bench.Setup `json:"old"`
	// Differences lists the settings in which the two reports differ.
	Differences []string `json:"differences,omitempty"`
	// Control is the change of the fixed computation, and so of the machine itself.
	Control Change   `json:"control"`
	Changes []Change `json:"changes"`
	// Unmatched lists the loads that only one of the reports has.
	Unmatched []string `json:"alone,omitempty"`
}

// Change is the change of one metric of a load.
type Change struct {
	Load   string `json:"load,omitempty"`
	Metric string `json:"metric"`
	// Old and New are medians over the runs.
	Old float64 `json:"old"`
	New float64 `json:"new"`
	// Percent is the median change over all pairs of runs. Low and High are the ends of its 95 %
	// confidence interval; both are 0 if there are too few runs for one.
	Percent float64 `json:"percent"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	// P is the probability of at least this difference if both reports measured the same, corrected
	// for the number of loads.
	P       float64 `json:"p"`
	Outcome Outcome `json:"outcome"`

	least float64 // smallest possible P before the correction
}

// Outcome says whether a difference was shown.
type Outcome string

// The outcomes. A difference is shown if its corrected probability is at most surprise and its size
// at least leastChange. On a machine with other users, two measurements of the same program can
// differ by that much.
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

// comparedMetrics are the figures that are compared.
var comparedMetrics = []struct {
	name string
	of   func(bench.Figures) float64
	more Outcome // outcome if the figure is larger in the newer report
	// open says that the figure has a meaning in an open loop. Throughput has none: there it is the
	// requested rate.
	open bool
}{
	{"p50", func(f bench.Figures) float64 { return f.P50 }, Slower, true},
	{"p99", func(f bench.Figures) float64 { return f.P99 }, Slower, true},
	{"per second", func(f bench.Figures) float64 { return f.PerSecond }, Faster, false},
	{"cpu", func(f bench.Figures) float64 { return f.CPU }, Slower, true},
}

// Compare compares the runs of two reports load by load, which separates changes of the program
// from differences between runs. It cannot separate them from differences of the setup. If the
// setups differ, Compare returns [ragctx.ErrInvalid] unless anyway is set.
func Compare(old, now bench.Report, anyway bool) (Comparison, error) {
	c := Comparison{Old: old.Setup, Differences: differences(old, now)}
	if len(c.Differences) > 0 && !anyway {
		return c, differ(c.Differences)
	}
	var pairs [][2]bench.Measurement
	for _, m := range now.Loads {
		i := slices.IndexFunc(old.Loads, func(o bench.Measurement) bool { return o.Load == m.Load })
		if i < 0 {
			c.Unmatched = append(c.Unmatched, m.Load.String())
			continue
		}
		pairs = append(pairs, [2]bench.Measurement{old.Loads[i], m})
	}
	for _, m := range old.Loads {
		if !slices.ContainsFunc(now.Loads, func(n bench.Measurement) bool { return n.Load == m.Load }) {
			c.Unmatched = append(c.Unmatched, m.Load.String())
		}
	}
	if len(pairs) == 0 {
		return c, errNothingCommon()
	}
	for _, metric := range comparedMetrics {
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
	if ch, ok := change(thin(old.Control), thin(now.Control)); ok {
		ch.Metric = "control"
		family := []Change{ch}
		judge(family, Slower)
		c.Control = family[0]
	}
	return c, nil
}

func errNothingCommon() error {
	return ragctx.Invalid("compare", "the reports have no load in common; run ragctx bench with the same "+
		"--clients, --rate and --ingest")
}

func differ(differences []string) error {
	return ragctx.Invalid("compare", "the setups of the reports differ, so a comparison would mean little: "+
		"%s; use the same setup, or -anyway", strings.Join(differences, "; "))
}

// place returns the position of a change's load, for sorting.
func place(pairs [][2]bench.Measurement, c Change) int {
	return slices.IndexFunc(pairs, func(p [2]bench.Measurement) bool { return p[1].Load.String() == c.Load })
}

// figures returns one figure of each run.
func figures(m bench.Measurement, of func(bench.Figures) float64) []float64 {
	out := make([]float64, len(m.Runs))
	for i, f := range m.Runs {
		out[i] = of(f)
	}
	return out
}

// change estimates the change of a figure. It returns false if the figure is unknown in one of the
// runs.
func change(old, now []float64) (Change, bool) {
	unknown := func(v float64) bool { return !(v > 0) || math.IsInf(v, 1) }
	if len(old) == 0 || len(now) == 0 || slices.ContainsFunc(old, unknown) || slices.ContainsFunc(now, unknown) {
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

// judge sets the outcomes of one metric's changes. Among several loads one may differ by chance, so
// the probabilities are corrected (Holm, 1979).
func judge(changes []Change, more Outcome) {
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case changes[i].P < changes[j].P:
			return -1
		case changes[i].P > changes[j].P:
			return 1
		}
		return 0
	})
	least := 0.0
	for n, i := range order {
		c := &changes[i]
		least = max(least, min(1, c.P*float64(len(changes)-n)))
		c.P = least
		switch {
		case c.least*float64(len(changes)) > surprise:
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

// thin reduces values to at most MaxRepeat medians of neighbours. Each run of each load has a
// control of its own, and the rank test takes time that grows with the fourth power of their
// number.
func thin(values []float64) []float64 {
	n := len(values)
	if n <= bench.MaxRepeat {
		return values
	}
	out := make([]float64, bench.MaxRepeat)
	for i := range out {
		out[i] = median(values[i*n/bench.MaxRepeat : (i+1)*n/bench.MaxRepeat])
	}
	return out
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// differences lists the settings in which two reports differ, except the program and the time.
func differences(old, now bench.Report) (out []string) {
	a, b := old.Setup, now.Setup
	for _, f := range []struct {
		name     string
		old, now any
	}{
		{"machine", a.Machine, b.Machine},
		{"cores", a.Cores, b.Cores},
		{"server in the same process", a.InProcess, b.InProcess},
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

// printable replaces control characters, which could command a terminal: an older report may come
// from anywhere.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
