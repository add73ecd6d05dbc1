package bench

import (
	"math"
	"slices"
	"time"
)

// Report is the outcome of a run. Latencies are in milliseconds and over the
// requests that succeeded; percentiles are exact, from all of them.
type Report struct {
	Setup Setup `json:"setup"`
	// Loop is always "closed".
	Loop    string `json:"loop"`
	Clients int    `json:"clients"`
	Warmup  int    `json:"warmup"`

	Requests  int            `json:"requests"`
	Succeeded int            `json:"succeeded"`
	Failed    int            `json:"failed"`
	Errors    map[string]int `json:"errors,omitempty"` // by kind
	// Empty counts answers without items.
	Empty int `json:"empty"`

	Seconds float64 `json:"seconds"`
	// PerSecond counts the requests that succeeded.
	PerSecond float64 `json:"per_second"`
	Latency   Latency `json:"latency_ms"`
	Bytes     Size    `json:"answer_bytes"`
	Tokens    Size    `json:"answer_tokens"`
	Items     Size    `json:"answer_items"`
	// CPU is nil when the server's CPU time is not known.
	CPU *CPU `json:"cpu,omitempty"`
}

// Setup says what was measured. The caller of [Run] knows it.
type Setup struct {
	Server string `json:"server"`
	// InProcess says that the server ran in the process that asked.
	InProcess bool   `json:"in_process"`
	Namespace string `json:"namespace"`
	Documents int    `json:"documents"`
	Chunks    int    `json:"chunks"`
	// Queries says where the queries come from; Distinct is how many there are.
	Queries   string `json:"queries"`
	Distinct  int    `json:"distinct_queries"`
	MaxTokens int    `json:"max_tokens"`
	Tokenizer string `json:"tokenizer"`
	Cores     int    `json:"cores"`
}

// Latency summarises durations in milliseconds.
type Latency struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// Size summarises one quantity of the answers.
type Size struct {
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

// CPU is the CPU time of the server's process. In process it includes the
// clients, which encode, send, receive and decode beside it.
type CPU struct {
	Seconds      float64 `json:"seconds"`
	PerRequestMS float64 `json:"ms_per_request"`
}

func newCPU(d time.Duration, requests int) *CPU {
	c := &CPU{Seconds: d.Seconds()}
	if requests > 0 {
		c.PerRequestMS = millis(d) / float64(requests)
	}
	return c
}

func summarize(samples []sample, took time.Duration) Report {
	r := Report{Loop: "closed", Requests: len(samples), Seconds: took.Seconds()}
	var times []time.Duration
	for _, s := range samples {
		if s.err != nil {
			r.Failed++
			if r.Errors == nil {
				r.Errors = make(map[string]int)
			}
			r.Errors[s.class]++
			continue
		}
		r.Succeeded++
		if s.items == 0 {
			r.Empty++
		}
		times = append(times, s.took)
		r.Bytes.add(s.bytes)
		r.Tokens.add(s.tokens)
		r.Items.add(s.items)
	}
	r.Latency = latencyOf(times)
	if n := float64(r.Succeeded); n > 0 {
		r.Bytes.Mean /= n
		r.Tokens.Mean /= n
		r.Items.Mean /= n
		if took > 0 {
			r.PerSecond = n / took.Seconds()
		}
	}
	return r
}

// add sums up in Mean until it is divided.
func (s *Size) add(n int) {
	s.Mean += float64(n)
	s.Max = max(s.Max, n)
}

// latencyOf sorts times.
func latencyOf(times []time.Duration) Latency {
	if len(times) == 0 {
		return Latency{}
	}
	slices.Sort(times)
	var sum float64
	for _, t := range times {
		sum += millis(t)
	}
	at := func(p float64) float64 { return millis(percentile(times, p)) }
	return Latency{
		Min: millis(times[0]), Mean: sum / float64(len(times)),
		P50: at(50), P90: at(90), P95: at(95), P99: at(99), Max: millis(times[len(times)-1]),
	}
}

// percentile returns the smallest value that at least p percent of the sorted,
// non-empty values do not exceed (the nearest-rank method): always a value that
// was measured, never one in between.
func percentile(sorted []time.Duration, p float64) time.Duration {
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
