package main

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/ragctx/ragctx/bench"
)

// chart is one chart of the HTML report.
type chart struct {
	Title   string
	Caption string
	Legend  []legend
	SVG     template.HTML
}

type legend struct {
	Class string
	Name  string
}

func legendOf(curves []curve) (out []legend) {
	for _, c := range curves {
		kind := "swatch"
		if c.dashed {
			kind = "swatch dashed"
		}
		if c.dots {
			kind = "swatch dots"
		}
		out = append(out, legend{class(kind, c.colour), c.name})
	}
	return out
}

// charts returns the charts of a report.
func charts(r bench.Report) (out []chart) {
	out = append(out, percentiles(r))
	out = append(out, waitingChart(r)...)
	out = append(out, byLoad(r)...)
	first := len(out)
	for i, m := range r.Loads {
		if len(m.Stages) > 0 {
			out = append(out, stageChart(r, i))
		}
	}
	if len(out) > first {
		out[first].Caption = stagesCaption
	}
	first = len(out)
	for _, m := range r.Loads {
		if len(m.Timeline) > 1 {
			out = append(out, timeChart(m))
		}
	}
	if len(out) > first {
		out[first].Caption = timesCaption
	}
	return out
}

// Captions of the first chart of its kind.
const (
	stagesCaption = "Bars end at the median, strokes mark p95, dots p99. Documents and memories are searched " +
		"side by side, and words and vectors " +
		"within each, so stages add up to more than engine, the whole; http is what is left to the client's latency."
	timesCaption = "A dotted line marks the start of a run. Between runs the other loads had their turn."
)

// percentiles draws each load's latencies from the median to the slowest.
func percentiles(r bench.Report) chart {
	var curves []curve
	deepest := 2.0
	for _, m := range r.Loads {
		c := curve{name: m.Load.String(), colour: colourOf(r, m.Load), dashed: m.Ingest != (bench.Ingest{})}
		for _, p := range m.Curve {
			depth := -math.Log10(1 - p.Percent/100)
			deepest = max(deepest, depth)
			c.points = append(c.points, [2]float64{depth, p.MS})
		}
		curves = append(curves, c)
	}
	x := percentAxis(deepest)
	return chart{
		Title: "Latency by percentile",
		Caption: "Each line ends at the slowest single request. The right half of the chart shows the slowest " +
			"tenth of the requests.",
		Legend: legendOf(curves), SVG: lineChart("latency by percentile", "ms", x, curves, nil),
	}
}

// colourOf returns the colour of a load, which is the same with and without an ingest.
func colourOf(r bench.Report, l bench.Load) int {
	l.Ingest = bench.Ingest{}
	var seen []bench.Load
	for _, o := range r.Loads {
		if o.Ingest = (bench.Ingest{}); !slices.Contains(seen, o.Load) {
			seen = append(seen, o.Load)
		}
	}
	return slices.Index(seen, l)
}

func percentAxis(deepest float64) axis {
	x := axis{label: "share of requests that took at most so long", high: deepest}
	for _, p := range []float64{0, 50, 90, 99, 99.9, 99.99, 99.999} {
		if depth := -math.Log10(1 - p/100); depth <= deepest+1e-9 {
			x.ticks = append(x.ticks, mark{depth, fmt.Sprintf("%g %%", p)})
		}
	}
	return x
}

// waitingChart compares latency since due with latency since sent, for the last open loop.
func waitingChart(r bench.Report) []chart {
	var last *bench.Measurement
	for i, m := range r.Loads {
		if m.Sent != nil && m.Sent.Count > 0 && len(m.Curve) > 0 {
			last = &r.Loads[i]
		}
	}
	if last == nil {
		return nil
	}
	due := curve{name: "from when they were due", colour: 0}
	for _, p := range last.Curve {
		due.points = append(due.points, [2]float64{-math.Log10(1 - p.Percent/100), p.MS})
	}
	curves := []curve{due, {name: "from when they were sent", colour: 1, dashed: true, points: sentCurve(*last.Sent)}}
	return []chart{{
		Title: "Time spent waiting: " + last.Load.String(),
		Caption: "The gap is time that requests waited for their turn to be sent. Callers wait that long, too, so " +
			"all other figures count it.",
		Legend: legendOf(curves), SVG: lineChart("latency since due and since sent", "ms",
			percentAxis(max(2, due.points[len(due.points)-1][0])), curves, nil),
	}}
}

// sentCurve returns the latencies that a load generator shows that counts only from sending.
func sentCurve(l bench.Latency) (out [][2]float64) {
	for _, p := range []struct{ percent, ms float64 }{
		{0, l.Min},
		{50, l.P50},
		{90, l.P90},
		{95, l.P95},
		{99, l.P99},
		{99.9, l.P999},
	} {
		if float64(l.Count)*(1-p.percent/100) >= 1 {
			out = append(out, [2]float64{-math.Log10(1 - p.percent/100), p.ms})
		}
	}
	return out
}

// byLoad draws throughput and latency against the load, if there are several loads of a kind.
func byLoad(r bench.Report) (out []chart) {
	for _, open := range []bool{false, true} {
		for _, ingest := range ingests(r) {
			var of []bench.Measurement
			for _, m := range r.Loads {
				if m.Ingest == ingest && m.Rate > 0 == open && !m.Repeated {
					of = append(of, m)
				}
			}
			if len(of) > 1 {
				out = append(out, growth(of, open, ingest)...)
			}
		}
	}
	return out
}

func ingests(r bench.Report) (out []bench.Ingest) {
	for _, m := range r.Loads {
		if !slices.Contains(out, m.Ingest) {
			out = append(out, m.Ingest)
		}
	}
	return out
}

func growth(of []bench.Measurement, open bool, ingest bench.Ingest) []chart {
	along, beside := func(m bench.Measurement) float64 { return float64(m.Clients) }, ""
	x := axis{label: "clients", low: math.Inf(1)}
	if open {
		x.label, along = "requests due per second", func(m bench.Measurement) float64 { return m.Rate }
	}
	if ingest != (bench.Ingest{}) {
		beside = ", beside an ingest"
	}
	slices.SortStableFunc(of, func(a, b bench.Measurement) int { return int(math.Copysign(1, along(a)-along(b))) })
	curves := []curve{{name: "p50", colour: 0}, {name: "p95", colour: 1}, {name: "p99", colour: 2}}
	rate := curve{name: "requests per second", colour: 3}
	for _, m := range of {
		at := along(m)
		x.low, x.high = min(x.low, at), max(x.high, at)
		x.ticks = append(x.ticks, mark{at, short(at)})
		for i, v := range []float64{m.Latency.P50, m.Latency.P95, m.Latency.P99} {
			curves[i].points = append(curves[i].points, [2]float64{at, v})
		}
		rate.points = append(rate.points, [2]float64{at, m.PerSecond})
	}
	margin := (x.high - x.low) * 0.04
	x.low, x.high = x.low-margin, x.high+margin
	return []chart{
		{
			Title: "Latency by load" + beside, Caption: "What more " + x.label + " cost each request.",
			Legend: legendOf(curves), SVG: lineChart("latency by load", "ms", x, curves, nil),
		},
		{
			Title: "Throughput by load" + beside, Caption: "Where the line stops rising, the processors are busy.",
			Legend: legendOf([]curve{rate}), SVG: lineChart("throughput by load", "per second", x, []curve{rate}, nil),
		},
	}
}

// leastP99 is the smallest number of requests for which p99 differs from the slowest request.
const leastP99 = 100

// timeChart draws the latencies of a load over time.
func timeChart(m bench.Measurement) chart {
	half, slow, worst := curve{name: "p50", colour: 0}, curve{name: "p99", colour: 2},
		curve{name: "slowest", colour: 1, dots: true}
	var rules []float64
	end := 0.0
	for i, t := range m.Timeline {
		if i > 0 && t.Run != m.Timeline[i-1].Run {
			rules = append(rules, t.Second)
			half.breaks, slow.breaks = append(half.breaks, len(half.points)), append(slow.breaks, len(slow.points))
		}
		if t.Count > 0 {
			half.points = append(half.points, [2]float64{t.Second, t.P50})
			slow.points = append(slow.points, [2]float64{t.Second, t.P99})
			worst.points = append(worst.points, [2]float64{t.Second, t.Max})
		}
		end = max(end, t.Second)
	}
	x := axis{label: "seconds, one run after the other", high: end}
	for _, t := range (scale{0, end, false, 1}).ticks() {
		x.ticks = append(x.ticks, mark{t, short(t)})
	}
	curves := []curve{worst, half, slow}
	if m.Requests < leastP99*len(m.Timeline) {
		curves = curves[:2] // p99 of few requests is the slowest one
	}
	return chart{
		Title:  "Along the runs: " + m.Load.String(),
		Legend: legendOf(curves), SVG: lineChart("latency along the runs", "ms", x, curves, rules),
	}
}
