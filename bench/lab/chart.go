package main

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Charts are SVG. Their colours are classes of the page, so that they are readable in light and
// dark mode. Units are about one pixel.
const (
	chartWidth  = 640
	chartHeight = 280
	marginLeft  = 56
	marginRight = 16
	marginTop   = 10
	marginBelow = 40
)

// scale maps values to positions on an axis of the given length.
type scale struct {
	low, high float64
	log       bool
	length    float64
}

// logFrom is the ratio of the largest to the smallest value from which an axis is logarithmic.
const logFrom = 20

// scaleOf returns a scale that begins at 0, or at the smallest value where the scale is
// logarithmic.
func scaleOf(values []float64, length float64) scale {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 {
			low = min(low, v)
		}
		high = max(high, v)
	}
	if high == 0 {
		return scale{0, 1, false, length}
	}
	if high/low > logFrom {
		return scale{low * 0.8, high * 1.2, true, length}
	}
	return scale{0, high * 1.08, false, length}
}

func (s scale) at(v float64) float64 {
	if s.log {
		v = max(v, s.low)
		return s.length * math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return s.length * (v - s.low) / (s.high - s.low)
}

// ticks returns about five round values on the scale.
func (s scale) ticks() (out []float64) {
	if s.log {
		for _, steps := range [][]float64{{1, 2, 5}, {1}} {
			out = out[:0]
			for e := math.Floor(math.Log10(s.low)); e <= math.Log10(s.high); e++ {
				for _, m := range steps {
					if v := m * math.Pow(10, e); v >= s.low && v <= s.high {
						out = append(out, v)
					}
				}
			}
			if len(out) <= 9 {
				break
			}
		}
		return out
	}
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/4)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (s.high-s.low)/(step*m) <= 6 {
			step *= m
			break
		}
	}
	for n := math.Ceil(s.low / step); n*step <= s.high; n++ {
		out = append(out, n*step)
	}
	return out
}

// picture is an SVG under construction.
type picture struct {
	b      strings.Builder
	width  float64
	height float64
}

func (p *picture) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&p.b, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (p *picture) text(class, anchor string, x, y float64, text string) {
	fmt.Fprintf(&p.b, `<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y,
		html.EscapeString(text))
}

func (p *picture) dot(class string, x, y, r float64, title string) {
	fmt.Fprintf(&p.b, `<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"><title>%s</title></circle>`, class, x, y,
		r, html.EscapeString(title))
}

func (p *picture) bar(class string, x, y, width, height float64, title string) {
	fmt.Fprintf(&p.b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s</title></rect>`,
		class, x, y, max(width, 0.5), height, html.EscapeString(title))
}

func (p *picture) path(class string, points [][2]float64) {
	p.b.WriteString(`<path class="` + class + `" d="`)
	for i, at := range points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&p.b, "%s%.1f %.1f", command, at[0], at[1])
	}
	p.b.WriteString(`"/>`)
}

// svg returns the picture with a text for screen readers.
func (p *picture) svg(label string) template.HTML {
	return template.HTML(fmt.Sprintf( //nolint:gosec // every text in it was escaped
		`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s</svg>`, p.width, p.height,
		html.EscapeString(label), p.b.String()))
}

// below writes a label below the axis. At the right end it is right-aligned, so that it is not cut
// off.
func (p *picture) below(x, y float64, label string) {
	if x > p.width-2*marginRight {
		p.text("tick", "end", p.width-2, y, label)
		return
	}
	p.text("tick", "middle", x, y, label)
}

// curve is a line of a chart.
type curve struct {
	name   string
	colour int
	dashed bool
	dots   bool // draws the points without a line
	points [][2]float64
	breaks []int // indexes of points that are not joined to the previous one
}

// axis labels the horizontal axis of a chart.
type axis struct {
	label string
	low   float64
	high  float64
	ticks []mark
}

type mark struct {
	at    float64
	label string
}

// colours is the number of colours that the page defines.
const colours = 8

func class(kind string, colour int) string { return kind + " c" + strconv.Itoa(colour%colours) }

// lineChart draws curves. unit is the unit of the values; rules are the x positions of vertical
// lines.
func lineChart(label, unit string, x axis, curves []curve, rules []float64) template.HTML {
	p := &picture{width: chartWidth, height: chartHeight}
	wide, high := float64(chartWidth-marginLeft-marginRight), float64(chartHeight-marginTop-marginBelow)
	var values []float64
	for _, c := range curves {
		for _, at := range c.points {
			values = append(values, at[1])
		}
	}
	ys := scaleOf(values, high)
	xs := scale{x.low, x.high, false, wide}
	if x.high <= x.low {
		xs.high = x.low + 1
	}
	place := func(at [2]float64) [2]float64 {
		return [2]float64{marginLeft + xs.at(at[0]), marginTop + high - ys.at(at[1])}
	}
	for _, t := range ys.ticks() {
		y := place([2]float64{x.low, t})[1]
		p.line("grid", marginLeft, y, chartWidth-marginRight, y)
		p.text("tick", "end", marginLeft-6, y+4, short(t))
	}
	for _, t := range x.ticks {
		at := marginLeft + xs.at(t.at)
		p.line("grid", at, marginTop, at, marginTop+high)
		p.below(at, marginTop+high+16, t.label)
	}
	for _, r := range rules {
		at := marginLeft + xs.at(r)
		p.line("rule", at, marginTop, at, marginTop+high)
	}
	p.text("axis", "end", chartWidth-marginRight, chartHeight-4, x.label)
	if ys.log {
		unit += ", logarithmic"
	}
	p.text("axis", "start", 2, chartHeight-4, unit)
	for _, c := range curves {
		c.draw(p, place)
	}
	return p.svg(label)
}

func (c curve) draw(p *picture, place func([2]float64) [2]float64) {
	kind := "curve"
	if c.dashed {
		kind = "curve dashed"
	}
	var part [][2]float64
	for i, at := range c.points {
		part = append(part, place(at))
		if !c.dots && (i == len(c.points)-1 || slices.Contains(c.breaks, i+1)) {
			p.path(class(kind, c.colour), part)
			part = nil
		}
	}
	if c.dots || len(c.points) <= 12 {
		for _, at := range c.points {
			on := place(at)
			p.dot(class("dot", c.colour), on[0], on[1], 2.5, c.name+": "+short(at[1]))
		}
	}
}

// short formats a value for an axis.
func short(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}
