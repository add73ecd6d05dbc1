package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"

	"github.com/ragctx/ragctx/bench"
)

// TestRankTest compares with the definition: among all choices of the first sample's values, the share
// of those with ranks at least as extreme.
func TestRankTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.IntRange(0, 6) // so that some are equal
		a := rapid.SliceOfN(value, 1, 5).Draw(t, "a")
		b := rapid.SliceOfN(value, 1, 5).Draw(t, "b")
		all := slices.Concat(floats(a), floats(b))
		ranks := make([]float64, len(all))
		for i, v := range all {
			for _, o := range all {
				if o < v {
					ranks[i]++
				} else if o == v {
					ranks[i] += 0.5
				}
			}
		}
		sum := 0.0
		for i := range a {
			sum += ranks[i]
		}
		var below, above, ways float64
		for set := range 1 << len(all) {
			n, s := 0, 0.0
			for i := range all {
				if set>>i&1 == 1 {
					n, s = n+1, s+ranks[i]
				}
			}
			if n != len(a) {
				continue
			}
			ways++
			if s <= sum {
				below++
			}
			if s >= sum {
				above++
			}
		}
		want := min(1, 2*min(below, above)/ways)
		if got := rankTest(floats(a), floats(b)); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v and %v: %v, want %v", a, b, got, want)
		}
	})
}

func floats(in []int) (out []float64) {
	for _, v := range in {
		out = append(out, float64(v))
	}
	return out
}

// TestUnsurprising compares with the published critical values of U at .05, two-sided (Mann and
// Whitney 1947; Milton 1964).
func TestUnsurprising(t *testing.T) {
	for _, c := range []struct{ n, m, want int }{
		{3, 3, -1},
		{4, 4, 0},
		{5, 5, 2},
		{5, 8, 6},
		{8, 5, 6},
		{10, 10, 23},
		{20, 20, 127},
	} {
		if got := acceptedU(c.n, c.m); got != c.want {
			t.Errorf("%d and %d: %d, want %d", c.n, c.m, got, c.want)
		}
	}
	if p := leastChance(5, 5); math.Abs(p-2./252) > 1e-12 {
		t.Errorf("five and five: %v", p)
	}
	a, b := []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}
	if p := rankTest(a, b); math.Abs(p-leastChance(5, 5)) > 1e-12 {
		t.Errorf("apart: %v", p)
	}
}

func TestRatio(t *testing.T) {
	estimate, low, high := ratio([]float64{1, 2, 4, 8, 16}, []float64{2, 4, 8, 16, 32})
	if estimate != 2 || low >= 2 || high <= 2 || low <= 0 {
		t.Errorf("twice as much is %v (%v to %v)", estimate, low, high)
	}
	if _, low, high := ratio([]float64{1, 1, 1}, []float64{2, 2, 2}); low != 0 || !math.IsInf(high, 1) {
		t.Errorf("three runs have an interval: %v to %v", low, high)
	}
}

// made returns a report of loads with 1, 2, … clients. Their runs vary by a share of their median.
func made(seed uint64, loads, runs int, median, noise float64) bench.Report {
	r := rand.New(rand.NewPCG(seed, 1))
	rep := bench.Report{Format: bench.Format, Version: bench.Version, Setup: bench.Setup{Machine: "m", QueriesHash: "q"}}
	for n := range loads {
		m := bench.Measurement{Load: bench.Load{Clients: n + 1}}
		for range runs {
			v := median * math.Exp(noise*r.NormFloat64())
			m.Runs = append(m.Runs, bench.Figures{P50: v, P95: 2 * v, P99: 3 * v, PerSecond: 1000 / v})
			rep.Control = append(rep.Control, 5*math.Exp(0.01*r.NormFloat64()))
		}
		rep.Loads = append(rep.Loads, m)
	}
	return rep
}

func compared(t *testing.T, old, now bench.Report) Comparison {
	t.Helper()
	c, err := Compare(old, now, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestVerdicts judges many generated runs with a known difference and checks the error rates.
func TestVerdicts(t *testing.T) {
	const times = 60
	shown := func(loads int, factor, noise float64) map[string]int {
		counts := make(map[string]int)
		for seed := range uint64(times) {
			c := compared(t, made(2*seed, loads, 5, 10, noise), made(2*seed+1, loads, 5, 10*factor, noise))
			counts[c.Verdict()]++
		}
		return counts
	}
	for _, loads := range []int{1, 4} {
		if same := shown(loads, 1, 0.03); same[string(NotShown)] < times*90/100 {
			t.Errorf("%d loads, no difference: %v", loads, same)
		}
	}
	if c := shown(1, 1.05, 0.01); c["slower"] < times*95/100 {
		t.Errorf("5 %% slower, steady: %v", c)
	}
	if c := shown(1, 1/1.05, 0.01); c["faster"] < times*95/100 {
		t.Errorf("5 %% faster, steady: %v", c)
	}
	if c := shown(1, 1.05, 0.2); c[string(NotShown)] < times*85/100 {
		t.Errorf("5 %% slower, noisy: %v", c)
	}
	if c := shown(1, 1.005, 0.0001); c[string(NotShown)] != times {
		t.Errorf("half a percent: %v", c)
	}
}

func TestCompare(t *testing.T) {
	old, now := made(1, 2, 5, 10, 0.01), made(2, 2, 5, 11, 0.01)
	c := compared(t, old, now)
	if percent, what := c.SlowerBy(); c.Verdict() != "slower" || percent < 8 || percent > 12 ||
		!strings.Contains(what, "client") {
		t.Errorf("%s, %v, %s", c.Verdict(), percent, what)
	}
	// p50, p99 and throughput of two loads; CPU time is unknown.
	if len(c.Changes) != 6 || c.Changes[0].Load != "1 client" || c.Changes[3].Load != "2 clients" {
		t.Errorf("%+v", c.Changes)
	}
	for _, ch := range c.Changes {
		if ch.Outcome != Slower || ch.Low > ch.Percent || ch.High < ch.Percent {
			t.Errorf("%+v", ch)
		}
	}
	if c := compared(t, now, old); c.Verdict() != "faster" {
		t.Errorf("the other way: %s", c.Verdict())
	}
	for _, runs := range []int{1, 3} {
		if c := compared(t, made(1, 1, runs, 10, 0), made(2, 1, runs, 100, 0)); c.Verdict() != string(TooFewRuns) {
			t.Errorf("%d runs: %s", runs, c.Verdict())
		}
	}
	now.Control = []float64{9, 9.1, 9.2, 9.3, 9.4}
	if w := compared(t, old, now).Warnings(); len(w) != 1 || !strings.Contains(w[0], "the machine itself was slower") {
		t.Errorf("warnings are %q", w)
	}
	now.Loads[1].Clients = 7
	if c := compared(t, old, now); strings.Join(c.Unmatched, ", ") != "7 clients, 2 clients" || len(c.Changes) != 3 {
		t.Errorf("%+v", c)
	}
}

// A report of many loads with many runs has more controls than a rank test can take.
func TestCompareManyControls(t *testing.T) {
	old, now := made(1, 1, 5, 10, 0.01), made(2, 1, 5, 10, 0.01)
	old.Control, now.Control = make([]float64, 10_007), make([]float64, bench.MaxRepeat+1)
	for i := range old.Control {
		old.Control[i] = 5 + float64(i%7)/100
	}
	for i := range now.Control {
		now.Control[i] = 6 + float64(i%7)/100
	}
	if c := compared(t, old, now).Control; c.Outcome != Slower || math.Abs(c.Percent-20) > 1 ||
		math.Abs(c.Old-5.03) > 0.01 {
		t.Errorf("%+v", c)
	}
}

func TestCompareRefuses(t *testing.T) {
	old, now := made(1, 1, 5, 10, 0.01), made(2, 1, 5, 10, 0.01)
	now.Setup.Machine, now.Setup.Chunks = "another", 9
	_, err := Compare(old, now, false)
	if !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "machine: was m, is another; "+
		"chunks: was 0, is 9") {
		t.Errorf("other setups: %v", err)
	}
	if c, err := Compare(old, now, true); err != nil || len(c.Warnings()) != 1 {
		t.Errorf("anyway: %+v, %v", c, err)
	}
	now = made(2, 1, 5, 10, 0.01)
	now.Loads[0].Rate = 5
	if _, err := Compare(old, now, false); err == nil || !strings.Contains(err.Error(), "no load in common") {
		t.Errorf("other loads: %v", err)
	}
	// Text of an older report cannot control a terminal.
	old.Setup.Machine = "m\x1b[2J"
	if _, err := Compare(old, now, false); err == nil || !strings.Contains(err.Error(), "machine: was m\uFFFD[2J, is m") {
		t.Errorf("a machine with a command in its name: %v", err)
	}
	old.Setup.Machine = now.Setup.Machine
	// Comparing programs of different versions is the purpose.
	now = made(2, 1, 5, 10, 0.01)
	now.Setup.Program, now.Setup.Time, now.Setup.Server = "v2", "later", "http://elsewhere"
	compared(t, old, now)
}

func TestReadReport(t *testing.T) {
	b, err := json.Marshal(made(1, 1, 5, 10, 0.01))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := ReadReport(bytes.NewReader(b)); err != nil || len(r.Loads[0].Runs) != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	for text, want := range map[string]string{
		`{"loop": "closed", "clients": 4}`:         "report: has version 1",
		`{"format": "ragctx-bench", "version": 9}`: "report: is of version 9",
		`{"format": "other"}`:                      "report: was not written by",
		`[]`:                                       "report: is not JSON",
		``:                                         "report: is not JSON",
		`{"format": "ragctx-bench", "version": 3, "loads": 4}`:    "report: is damaged",
		`{"format": "ragctx-bench", "version": 3, "loads": [{}]}`: "report: loads[0]: has 0 runs",
	} {
		if _, err := ReadReport(strings.NewReader(text)); !errors.Is(err, ragctx.ErrInvalid) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzReadReport: reading, comparing and writing any report never panics.
func FuzzReadReport(f *testing.F) {
	good, _ := json.Marshal(made(1, 2, 4, 10, 0.1))
	f.Add(good)
	f.Add([]byte(`{"format": "ragctx-bench", "version": 3, "loads": [{"clients": 1, "runs": [{"p50_ms": -1}]}], ` +
		`"control_ms": [0, 1e308]}`))
	now := made(1, 2, 4, 10, 0.1)
	f.Fuzz(func(t *testing.T, b []byte) {
		old, err := ReadReport(bytes.NewReader(b))
		if err != nil {
			return
		}
		c, err := Compare(old, now, true)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := errors.Join(WriteComparison(&out, c), WriteHTML(&out, old, &c)); err != nil {
			t.Error(err)
		}
	})
}
