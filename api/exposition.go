package api

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/internal/trace"
)

// expositionType is the media type of an [exposition].
const expositionType = "text/plain; version=0.0.4; charset=utf-8"

// exposition writes metrics in the Prometheus text format 0.0.4: for each family its description,
// then its series, one per line.
type exposition struct{ buf bytes.Buffer }

// labels are alternating names and values, in the order of writing.
type labels []string

// series is a line: a value with the labels that distinguish it within its family.
type series struct {
	labels labels
	value  float64
}

// Escapes of the format. A quoted value has one more than a help text.
var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// gauge writes a family of values that go up and down; nothing without series.
func (e *exposition) gauge(name, help string, all ...series) { e.family(name, "gauge", help, all) }

// counter writes a family of values that only increase during the process. Its name ends in _total.
func (e *exposition) counter(name, help string, all ...series) { e.family(name, "counter", help, all) }

func (e *exposition) family(name, kind, help string, all []series) {
	if len(all) == 0 {
		return
	}
	e.head(name, kind, help)
	for _, s := range all {
		e.line(name, s.labels, s.value)
	}
}

func (e *exposition) head(name, kind, help string) {
	e.buf.WriteString("# HELP " + name + " " + helpEscapes.Replace(help) + "\n# TYPE " + name + " " + kind + "\n")
}

func (e *exposition) line(name string, l labels, value float64) {
	e.buf.WriteString(name)
	open := "{"
	for pair := range slices.Chunk(l, 2) {
		e.buf.WriteString(open + pair[0] + `="` + labelEscapes.Replace(pair[1]) + `"`)
		open = ","
	}
	if len(l) > 0 {
		e.buf.WriteByte('}')
	}
	e.buf.WriteString(" " + number(value) + "\n")
}

// number returns the shortest text that parses to the same value.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// durations is one series of a histogram.
type durations struct {
	labels labels
	trace.Durations
}

// histogram writes a family of durations in seconds with the buckets of [trace.DurationBounds].
func (e *exposition) histogram(name, help string, all ...durations) {
	if len(all) == 0 {
		return
	}
	e.head(name, "histogram", help)
	for _, d := range all {
		under := uint64(0)
		for i, bound := range trace.DurationBounds() {
			under += d.Buckets[i]
			e.line(name+"_bucket", d.with("le", number(bound.Seconds())), float64(under))
		}
		e.line(name+"_bucket", d.with("le", "+Inf"), float64(d.Count))
		e.line(name+"_sum", d.labels, d.Sum.Seconds())
		e.line(name+"_count", d.labels, float64(d.Count))
	}
}

func (d durations) with(name, value string) labels {
	return append(slices.Clip(d.labels), name, value)
}
