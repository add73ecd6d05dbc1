package main

import (
	"fmt"
	"html/template"
	"math"

	"github.com/ragctx/ragctx/bench"
)

// Sizes of the charts with one named row per value.
const (
	rowHeight  = 26
	rowNames   = 90
	barHeight  = 14
	forestName = 230
)

// stageChart draws the latency of each stage of one load.
func stageChart(r bench.Report, at int) chart {
	m := r.Loads[at]
	load := colourOf(r, m.Load)
	p := &picture{width: chartWidth, height: float64(len(m.Stages))*rowHeight + marginBelow}
	bottom := p.height - marginBelow + 4
	highest := 0.0
	for _, s := range m.Stages {
		highest = max(highest, s.Latency.P99)
	}
	// Bars begin at 0, so the scale is never logarithmic.
	xs := scale{0, max(highest*1.04, 0.001), false, chartWidth - rowNames - marginRight}
	for _, t := range xs.ticks() {
		x := rowNames + xs.at(t)
		p.line("grid", x, 0, x, bottom)
		p.below(x, bottom+15, short(t))
	}
	for i, s := range m.Stages {
		l, y := s.Latency, float64(i)*rowHeight+rowHeight/2
		title := fmt.Sprintf("%s: p50 %s ms, p95 %s ms, p99 %s ms", s.Name, bench.Milliseconds(l.P50),
			bench.Milliseconds(l.P95), bench.Milliseconds(l.P99))
		p.text("name", "end", rowNames-8, y+4, s.Name)
		p.line(class("whisker", load), rowNames+xs.at(l.P50), y, rowNames+xs.at(l.P99), y)
		p.bar(class("fill", load), rowNames, y-barHeight/2, xs.at(l.P50), barHeight, title)
		p.line(class("end", load), rowNames+xs.at(l.P95), y-5, rowNames+xs.at(l.P95), y+5)
		p.dot(class("dot", load), rowNames+xs.at(l.P99), y, 3, title)
	}
	p.text("axis", "end", chartWidth-marginRight, p.height-4, "ms")
	return chart{
		Title: "Stages: " + m.Load.String(),
		SVG:   p.svg("stages of " + m.Load.String()),
	}
}

// forestPlot draws each change with its confidence interval around the line of no change.
func forestPlot(changes []Change) template.HTML {
	const left = forestName
	p := &picture{width: chartWidth, height: float64(len(changes))*rowHeight + marginBelow}
	bottom := p.height - marginBelow + 4
	reach := float64(2 * leastChange)
	for _, c := range changes {
		reach = max(reach, math.Abs(c.Percent))
		if math.Abs(c.Low) < 300 && math.Abs(c.High) < 300 {
			reach = max(reach, math.Abs(c.Low), math.Abs(c.High))
		}
	}
	xs := scale{-reach * 1.05, reach * 1.05, false, chartWidth - left - marginRight}
	clip := func(v float64) float64 { return left + xs.at(min(max(v, xs.low), xs.high)) }
	p.bar("same", clip(-leastChange), 0, clip(leastChange)-clip(-leastChange), bottom,
		"smaller changes are not counted as differences")
	for _, t := range xs.ticks() {
		x := left + xs.at(t)
		p.line("grid", x, 0, x, bottom)
		p.below(x, bottom+15, signed(t))
	}
	p.line("rule", clip(0), 0, clip(0), bottom)
	for i, c := range changes {
		y := float64(i)*rowHeight + rowHeight/2
		title := fmt.Sprintf("%s, %s: %+.1f %% (%s), %s", c.Load, c.Metric, c.Percent, c.interval(), c.Outcome)
		p.text("name", "end", left-8, y+4, clipped(c.Load+", "+c.Metric))
		kind := "unclear"
		switch c.Outcome {
		case Slower:
			kind = "bad"
		case Faster:
			kind = "good"
		default:
		}
		if c.Low != 0 || c.High != 0 {
			p.line("interval "+kind, clip(c.Low), y, clip(c.High), y)
		}
		p.dot("point "+kind, clip(c.Percent), y, 4, title)
	}
	p.text("axis", "end", chartWidth-marginRight, p.height-4, "% more than before")
	return p.svg("changes with their intervals")
}

func signed(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%+g", v)
}

// clipped shortens a name to the width that its column has.
func clipped(name string) string {
	const most = 36
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}
