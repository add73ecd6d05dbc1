package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ragctx/ragctx/bench"
)

// Unknown is the value of a missing figure of a [Reading].
const Unknown = -1

// Reading is the resource usage of a server's process at one moment. A figure that could not be
// read is [Unknown].
type Reading struct {
	Seconds    float64 `json:"seconds"` // since the start
	Operations int64   `json:"operations"`
	// Memory is the process's anonymous memory in RAM, without mapped files. Heap is the part that
	// the Go runtime has in use. Both in bytes.
	Memory     float64 `json:"memory_bytes"`
	Heap       float64 `json:"heap_bytes"`
	Goroutines float64 `json:"goroutines"`
	Threads    float64 `json:"threads"`
	Files      float64 `json:"open_files"`
	Disk       float64 `json:"disk_bytes"` // of the data directory
}

// NewReading returns a reading whose figures are all unknown.
func NewReading() Reading {
	return Reading{Memory: Unknown, Heap: Unknown, Goroutines: Unknown, Threads: Unknown, Files: Unknown, Disk: Unknown}
}

// SoakReport is the result of [RunSoak].
type SoakReport struct {
	Seconds float64 `json:"seconds"`
	History bool    `json:"history"`
	// Capacity is the rate of the closed loop, in operations per second; 0 if the rate was set.
	Capacity   float64                  `json:"capacity_per_second,omitempty"`
	Rate       float64                  `json:"rate"`       // operations due per second
	Operations map[string]int64         `json:"operations"` // succeeded, by kind
	Latency    map[string]bench.Latency `json:"latency_ms"` // by kind, since an operation was due
	All        bench.Latency            `json:"all_ms"`     // all kinds except erasures, for which no caller waits
	PerSecond  float64                  `json:"per_second"`
	Failed     int64                    `json:"failed"`
	Errors     map[string]int           `json:"errors,omitempty"` // by kind
	Growth     []Growth                 `json:"growth"`
	// Faults are the reasons why the soak failed; empty if it passed.
	Faults   []string  `json:"faults,omitempty"`
	Readings []Reading `json:"readings"`
}

// Growth is the growth of a quantity over the second half of a soak, when everything is warm: a
// line fitted by least squares.
type Growth struct {
	Name string  `json:"name"`
	Unit string  `json:"unit"`
	Mean float64 `json:"mean"` // over the second half
	// PerHour is the slope of the line, Error its standard error.
	PerHour float64 `json:"per_hour"`
	Error   float64 `json:"error"`
	Verdict Verdict `json:"verdict"`
}

// Verdict says whether a quantity grows.
type Verdict string

// The verdicts. A quantity grows if an hour would add more than growingShare of its mean and the
// slope is growingErrors times its standard error. If only the first holds, the readings vary too
// much for a verdict.
const (
	Steady   Verdict = "steady"
	Growing  Verdict = "grows"
	Unclear  Verdict = "unclear: soak for longer"
	TooShort Verdict = "too short to tell"
)

const (
	growingShare  = 0.10
	growingErrors = 3
	leastReadings = 10
	leastHours    = 4.9 / 60 // of the second half: ten minutes are enough in total
)

// series are the quantities of a reading, in the order in which they are shown.
var series = []struct {
	name, unit string
	of         func(Reading) float64
	scale      float64
}{
	{"memory", "MiB", func(r Reading) float64 { return r.Memory }, 1 << 20},
	{"heap", "MiB", func(r Reading) float64 { return r.Heap }, 1 << 20},
	{"goroutines", "", func(r Reading) float64 { return r.Goroutines }, 1},
	{"threads", "", func(r Reading) float64 { return r.Threads }, 1},
	{"open files", "", func(r Reading) float64 { return r.Files }, 1},
	{"disk", "MiB", func(r Reading) float64 { return r.Disk }, 1 << 20},
}

func (s *soak) report(readings []Reading) SoakReport {
	r := SoakReport{
		History: s.opts.History, Capacity: s.capacity, Rate: s.opts.Rate, Operations: make(map[string]int64),
		Latency: make(map[string]bench.Latency),
		Failed:  s.failures.Load(), Errors: s.errors, Readings: readings,
	}
	for k := range s.counts {
		name := operationKind(k).String()
		r.Operations[name], r.Latency[name] = s.counts[k].Load(), bench.LatencyOf(s.took[k])
	}
	r.All = bench.LatencyOf(slices.Concat(s.took[:eraseKind]...))
	if n := len(readings); n > 0 {
		r.Seconds = readings[n-1].Seconds
	}
	if r.Seconds > 0 {
		r.PerSecond = float64(s.sum()) / r.Seconds
	}
	for _, q := range series {
		if g, known := growthOf(readings, q.of, q.scale); known {
			g.Name, g.Unit = q.name, q.unit
			r.Growth = append(r.Growth, g)
		}
	}
	r.Faults = faults(r, s.opts.MaxTail)
	return r
}

// leastDone is the smallest share of the due operations that must be done. Below it, latencies
// describe a growing queue, whose longest are not much longer than the others.
const leastDone = .97

// leastJudged is the smallest number of operations of a kind whose p99 is judged.
const leastJudged = 100

// faults returns the reasons why a soak fails: failed operations, a server that falls behind,
// growth of any figure except disk, and a kind of operation whose tail is too long.
func faults(r SoakReport, maxTail float64) (out []string) {
	if r.Failed > 0 {
		out = append(out, fmt.Sprintf("%d operations failed%s", r.Failed, kinds(r.Errors)))
	}
	if due := r.Rate * leastDone; r.PerSecond < due && r.Seconds >= longSoak.Seconds() {
		out = append(out, fmt.Sprintf("the server fell behind: %.1f operations/s were done of %.1f that were "+
			"due", r.PerSecond, r.Rate))
	}
	for _, g := range r.Growth {
		if g.Verdict == Growing && g.Name != "disk" {
			out = append(out, fmt.Sprintf("%s%s: grows by %.2f ± %.2f per hour", g.Name, unit(g.Unit), g.PerHour, g.Error))
		}
	}
	for k := range operationKinds {
		if l := r.Latency[k.String()]; maxTail > 0 && l.Count >= leastJudged && l.P99 > maxTail*l.P50 {
			out = append(out, fmt.Sprintf("%s: p99 is %.1f times p50, more than %g", k, l.P99/l.P50, maxTail))
		}
	}
	return out
}

// growthOf fits a line to the second half of the readings.
func growthOf(readings []Reading, of func(Reading) float64, scale float64) (Growth, bool) {
	var x, y []float64
	for _, r := range readings[len(readings)/2:] {
		if v := of(r); v != Unknown {
			x, y = append(x, r.Seconds/3600), append(y, v/scale)
		}
	}
	if len(x) == 0 {
		return Growth{}, false
	}
	g := Growth{Verdict: TooShort}
	g.Mean, g.PerHour, g.Error = fitLine(x, y)
	switch {
	case len(x) < leastReadings || x[len(x)-1]-x[0] < leastHours:
	case g.PerHour <= growingShare*g.Mean:
		g.Verdict = Steady
	case g.PerHour > growingErrors*g.Error:
		g.Verdict = Growing
	default:
		g.Verdict = Unclear
	}
	return g, true
}

// fitLine returns the mean of y, and the slope of the least-squares line with its standard error.
// Both are 0 for fewer than three points.
func fitLine(x, y []float64) (mean, slope, stderr float64) {
	n := float64(len(x))
	var mx float64
	for i := range x {
		mx, mean = mx+x[i]/n, mean+y[i]/n
	}
	var xx, xy, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-mean
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	if n < 3 || xx == 0 {
		return mean, 0, 0
	}
	slope = xy / xx
	return mean, slope, math.Sqrt(max(yy-slope*xy, 0) / (n - 2) / xx)
}

// WriteSoakTable writes a report as text: at most the given number of readings, then the summary.
func WriteSoakTable(w io.Writer, r SoakReport, rows int) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "seconds\toperations\t")
	for _, q := range series {
		fmt.Fprint(tw, q.name, unit(q.unit), "\t")
	}
	fmt.Fprintln(tw)
	step := max(1, (len(r.Readings)+rows-1)/max(rows, 1))
	for i, at := range r.Readings {
		if i%step == 0 || i == len(r.Readings)-1 {
			fmt.Fprintf(tw, "%.0f\t%d\t", at.Seconds, at.Operations)
			for _, q := range series {
				fmt.Fprint(tw, shown(q.of(at), q.scale), "\t")
			}
			fmt.Fprintln(tw)
		}
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return writeGrowth(w, r)
}

func writeGrowth(w io.Writer, r SoakReport) error {
	what := "sessions were erased once they were old"
	if r.History {
		what = "nothing was erased"
	}
	fmt.Fprintf(w, "\n%.0f s, %.1f operations/s, %d failed%s; %s\n", r.Seconds, r.PerSecond, r.Failed,
		kinds(r.Errors), what)
	if r.Capacity > 0 {
		fmt.Fprintf(w, "%.1f operations/s were due, of %.1f that the server can do\n", r.Rate, r.Capacity)
	}
	latency := func(what string, l bench.Latency) {
		if l.Count > 0 {
			fmt.Fprintf(w, "%s: p50 %.1f ms, p99 %.1f ms (%.1f times), max %.1f ms\n", what, l.P50, l.P99, l.P99/l.P50, l.Max)
		}
	}
	for k := range operationKinds {
		latency(k.String(), r.Latency[k.String()])
	}
	latency("all but erasures", r.All)
	fmt.Fprintln(w, "second half, by a fitted line:")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range r.Growth {
		fmt.Fprintf(tw, "%s%s\tmean %.1f\t%+.2f ± %.2f per hour\t%s\n", g.Name, unit(g.Unit), g.Mean, g.PerHour,
			g.Error, g.Verdict)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for _, fault := range r.Faults {
		fmt.Fprintf(w, "FAULT %s\n", fault)
	}
	if len(r.Faults) == 0 {
		fmt.Fprintln(w, "passed")
	}
	return nil
}

func unit(u string) string {
	if u == "" {
		return ""
	}
	return ", " + u
}

func shown(v, scale float64) string {
	switch {
	case v == Unknown:
		return "-"
	case scale == 1:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v/scale)
}

// kinds lists errors with their numbers.
func kinds(errs map[string]int) string {
	if len(errs) == 0 {
		return ""
	}
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(errs)) {
		out = append(out, fmt.Sprintf("%s: %d", kind, errs[kind]))
	}
	return " (" + strings.Join(out, ", ") + ")"
}
