package index

import (
	"math"
	"slices"
	"time"
)

// recallAt is the depth at which recall is measured.
const recallAt = 10

// Recall is the share of the true nearest neighbors that searches found.
type Recall struct {
	// Value is the mean over Samples searches of the share of the ten nearest chunks that were
	// among the first ten found. A chunk as near as the tenth counts as one of them.
	Value float64 `json:"recall_at_10" doc:"mean share of the ten nearest chunks that were among the first ten found"`
	// Low and High bound the true mean with 95 % confidence: Wilson's interval (1927), with one
	// trial for each search. The hits of one search are correlated, so ten trials would make it too
	// narrow. A value within 0..1 varies at most as a coin of the same mean does, so one trial
	// makes it too wide if anything.
	Low     float64 `json:"low" doc:"lower end of the 95 % confidence interval of the mean"`
	High    float64 `json:"high" doc:"upper end of that interval"`
	Samples int     `json:"samples" doc:"searches compared with an exact one"`
	// Since is the time of the oldest sample.
	Since time.Time `json:"since,omitzero" doc:"time of the oldest sample"`
}

// confidence is the two-sided 95 % quantile of the normal distribution.
const confidence = 1.959963984540054

// recallOf returns the recall of samples ordered by time, or nil without samples.
func recallOf(samples []sample) *Recall {
	if len(samples) == 0 {
		return nil
	}
	r := &Recall{Samples: len(samples), Since: samples[0].at}
	for _, s := range samples {
		r.Value += s.share
	}
	r.Value /= float64(r.Samples)
	r.Low, r.High = wilson(r.Value, r.Samples)
	return r
}

// wilson returns the score interval of a share p among n trials.
func wilson(p float64, n int) (low, high float64) {
	trials, z2 := float64(n), confidence*confidence
	middle := (p + z2/(2*trials)) / (1 + z2/trials)
	half := confidence / (1 + z2/trials) * math.Sqrt(p*(1-p)/trials+z2/(4*trials*trials))
	return max(0, min(p, middle-half)), min(1, max(p, middle+half))
}

// comparison is a search and its exact repetition. The index may have changed between the two;
// chunks that only one of them could see do not count.
type comparison struct {
	got, exact []Scored // both to the same depth, best first
	depth      int
	// shared reports whether both searches could find a chunk when they began; alive whether it can
	// still be found.
	shared, alive func(id uint64) bool
}

// share returns the share of the ten nearest chunks that was found. It returns false if that is
// unknown: nothing can be found, or too much is new.
func (c comparison) share() (float64, bool) {
	want := make([]Scored, 0, recallAt)
	for _, h := range c.exact {
		if len(want) < recallAt && c.shared(h.ID) {
			want = append(want, h)
		}
	}
	if len(want) == 0 || len(want) < recallAt && len(c.exact) >= c.depth {
		return 0, false
	}
	wanted := func(id uint64) bool { return slices.ContainsFunc(want, func(w Scored) bool { return w.ID == id }) }
	found, ties, seen := 0, 0, 0
	for _, h := range c.got {
		if seen == recallAt {
			break
		}
		switch {
		case wanted(h.ID):
			found++
		case !c.shared(h.ID) || !c.alive(h.ID):
			continue
		case h.Score >= want[len(want)-1].Score:
			ties++
		}
		seen++
	}
	return float64(min(len(want), found+ties)) / float64(len(want)), true
}
