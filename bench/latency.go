package bench

import (
	"math"
	"slices"
	"time"
)

// Latency summarises durations in milliseconds. Percentiles are exact (nearest rank).
type Latency struct {
	Count int     `json:"count"`
	Min   float64 `json:"min"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
}

// LatencyOf sorts and summarises times in milliseconds.
func LatencyOf(times []float64) Latency {
	if len(times) == 0 {
		return Latency{}
	}
	slices.Sort(times)
	var sum float64
	for _, t := range times {
		sum += t
	}
	at := func(p float64) float64 { return percentile(times, p) }
	return Latency{
		Count: len(times), Min: times[0], Mean: sum / float64(len(times)),
		P50: at(50), P90: at(90), P95: at(95), P99: at(99), P999: at(99.9), Max: times[len(times)-1],
	}
}

// percentile returns the smallest value that is at least as large as p percent of the sorted,
// non-empty values (nearest rank). It is always a measured value, never an interpolated one.
func percentile(sorted []float64, p float64) float64 {
	rank := int(math.Ceil(p*float64(len(sorted))/100 - 1e-9)) // 99.9 % of 1000 is 999, not slightly more
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Point is a percentile and its latency.
type Point struct {
	Percent float64 `json:"percent"`
	MS      float64 `json:"ms"`
}

// curveOf returns percentiles that are evenly spaced on a logarithmic scale of 1-p, so the tail is
// as detailed as the middle. It ends where a single value is left.
func curveOf(sorted []float64) (out []Point) {
	if len(sorted) == 0 {
		return nil
	}
	const perDecade = 8
	for i := 0; ; i++ {
		above := math.Pow(10, -float64(i)/perDecade)
		if above*float64(len(sorted)) < 1 {
			break
		}
		p := 100 * (1 - above)
		out = append(out, Point{p, percentile(sorted, p)})
	}
	return out
}

// Moment is a short part of a run. Count is the number of requests due in it; failed ones have no
// latency.
type Moment struct {
	Run    int     `json:"run"`
	Second float64 `json:"second"` // when the moment begins, since the start of the first run
	Count  int     `json:"count"`
	Failed int     `json:"failed,omitempty"`
	P50    float64 `json:"p50"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// moments is the largest number of moments for all runs of a load together. momentRequests is the
// mean number of requests that each has at least.
const (
	moments        = 120
	momentRequests = 10
)

// timelineOf divides runs into moments of equal length.
func timelineOf(runs []run) (out []Moment) {
	var total time.Duration
	requests := 0
	for _, r := range runs {
		total, requests = total+r.took, requests+len(r.samples)
	}
	parts := min(max(requests/momentRequests, 1), moments)
	width := max(total/time.Duration(parts), time.Millisecond)
	var before time.Duration
	for n, r := range runs {
		bins := make([][]float64, r.took/width+1)
		lost := make([]int, len(bins))
		for _, s := range r.samples {
			i := min(max(int(s.at/width), 0), len(bins)-1)
			if s.err != nil {
				lost[i]++
			} else {
				bins[i] = append(bins[i], millis(s.took))
			}
		}
		for i, b := range bins {
			if len(b)+lost[i] > 0 {
				l := LatencyOf(b)
				at := before + time.Duration(i)*width
				out = append(out, Moment{n, at.Seconds(), l.Count, lost[i], l.P50, l.P99, l.Max})
			}
		}
		before += r.took
	}
	return out
}
