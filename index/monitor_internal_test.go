package index

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestWilson compares with values that were worked out by hand from the formula.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		p         float64
		n         int
		low, high float64
	}{
		{1, 1000, .99617, 1},
		{.98, 1000, .96931, .98702},
		{.5, 10, .23659, .76341},
		{0, 10, 0, .27753},
		{1, 1, .20655, 1},
	} {
		low, high := wilson(c.p, c.n)
		if math.Abs(low-c.low) > 1e-5 || math.Abs(high-c.high) > 1e-5 {
			t.Errorf("%v of %d: %.5f to %.5f, want %.5f to %.5f", c.p, c.n, low, high, c.low, c.high)
		}
	}
}

// TestWilsonHoldsTheTruth draws recalls of searches whose hits come and go together
// and counts how often the interval has their mean.
func TestWilsonHoldsTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, truth := range []float64{.5, .9, .98} {
		held := 0
		for range 2000 {
			var samples []sample
			for range 200 {
				s := sample{}
				for group := 0; group < recallAt; group += 5 { // five hits at a time
					if rng.Float64() < truth {
						s.share += .5
					}
				}
				samples = append(samples, s)
			}
			if r := recallOf(samples); r.Low <= truth && truth <= r.High {
				held++
			}
		}
		if held < 1900 {
			t.Errorf("mean %v: in %d of 2000 intervals", truth, held)
		}
	}
}

// TestShare compares searches of an index that changes between the two with
// searches of what both could see.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := uint64(rapid.IntRange(0, 40).Draw(t, "units"))
		score := make([]float64, n) // few values, so there are ties
		for i := range score {
			score[i] = float64(rapid.IntRange(0, 12).Draw(t, "score"))
		}
		state := rapid.SliceOfN(rapid.SampledFrom([]string{"old", "old", "old", "new", "gone", "missed"}), int(n), int(n)).Draw(t, "state")
		depth := 100
		list := func(states ...string) (hits []Scored) {
			for i := range n {
				if slices.Contains(states, state[i]) {
					hits = append(hits, Scored{ID: i, Score: score[i]})
				}
			}
			slices.SortFunc(hits, func(a, b Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
			return hits
		}
		got, ok := comparison{
			got: list("old", "gone"), exact: list("old", "new", "missed"), depth: depth,
			shared: func(id uint64) bool { return state[id] != "new" },
			alive:  func(id uint64) bool { return state[id] != "gone" },
		}.share()
		truth, found := list("old", "missed"), list("old")
		truth = truth[:min(len(truth), recallAt)]
		if len(truth) == 0 {
			if ok {
				t.Fatalf("a share of nothing: %v", got)
			}
			return
		}
		as := 0
		for _, h := range found[:min(len(found), recallAt)] {
			if h.Score >= truth[len(truth)-1].Score {
				as++
			}
		}
		if want := float64(min(as, len(truth))) / float64(len(truth)); !ok || math.Abs(got-want) > 1e-9 {
			t.Fatalf("share %v, %t, want %v", got, ok, want)
		}
	})
}

// TestShareIsNotToldFromTooLittle has more new chunks than a search gives.
func TestShareIsNotToldFromTooLittle(t *testing.T) {
	c := comparison{
		got: []Scored{{1, .5}}, exact: []Scored{{7, .9}, {8, .8}}, depth: 2,
		shared: func(id uint64) bool { return id < 5 }, alive: func(uint64) bool { return true },
	}
	if share, ok := c.share(); ok {
		t.Errorf("share %v of what is not in sight", share)
	}
}

func TestWindowSlides(t *testing.T) {
	at := time.Unix(0, 0)
	g := NewRecallMonitor(MonitorOptions{Now: func() time.Time { at = at.Add(time.Second); return at }})
	part := g.child()
	for range monitorWindow {
		g.sampled(0)
	}
	for range monitorWindow / 4 {
		part.sampled(1)
	}
	r := g.Measurements().Recall
	if r.Samples != monitorWindow || r.Value != .25 || r.Since.Unix() != 1+monitorWindow/4 {
		t.Errorf("the whole: %+v", r)
	}
	if r := part.Measurements().Recall; r.Samples != monitorWindow/4 || r.Value != 1 || r.High != 1 || r.Low >= 1 {
		t.Errorf("the part: %+v", r)
	}
}

// TestSamplerKeepsLimits lets searches come as fast as they can for five minutes.
func TestSamplerKeepsLimits(t *testing.T) {
	for _, c := range []struct {
		took time.Duration
		opts MonitorOptions
		most int
	}{
		{0, MonitorOptions{}, 600},
		{time.Millisecond, MonitorOptions{}, 600},
		{50 * time.Millisecond, MonitorOptions{}, 3000 / 50},
		{50 * time.Millisecond, MonitorOptions{Load: .1}, 600},
		{time.Millisecond, MonitorOptions{PerSecond: .1}, 30},
	} {
		at := time.Unix(0, 0)
		c.opts.Now = func() time.Time { return at }
		s := NewRecallMonitor(c.opts).sampler
		n := 0
		for at.Before(time.Unix(300, 0)) {
			if s.begin() {
				n++
				if s.begin() {
					t.Fatal("two at a time")
				}
				at = at.Add(c.took)
				s.end(c.took)
			}
			at = at.Add(time.Millisecond)
		}
		if n > c.most+1 || n < c.most*9/10 {
			t.Errorf("%v, %+v: %d in five minutes, want %d", c.took, c.opts, n, c.most)
		}
	}
}

func TestShareOfSearches(t *testing.T) {
	for share, want := range map[float64]int{0: 100, .2: 2000, 1: 10000, -1: 0} {
		n, i := 0, 0
		g := NewRecallMonitor(MonitorOptions{Share: share, Draw: func() float64 { i++; return float64(i%10000) / 10000 }})
		for range 10000 {
			if g.sampler.chosen() {
				n++
			}
		}
		if n != want {
			t.Errorf("share %v: %d of 10,000, want %d", share, n, want)
		}
	}
}
