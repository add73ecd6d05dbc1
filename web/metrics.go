package web

import (
	"bufio"
	"io"
	"math"
	"strconv"
	"strings"
)

// sample is a line of the metrics of /metrics.
type sample struct {
	name   string
	labels map[string]string
	value  float64
}

// readMetrics reads the text format of Prometheus as the server writes it, without comments.
func readMetrics(r io.Reader) (all []sample, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if at < 0 || err != nil {
			continue // a line of a form that the page does not show
		}
		name, labels, _ := strings.Cut(line[:at], "{")
		s := sample{name: name, value: value, labels: make(map[string]string)}
		for labels = strings.TrimSuffix(labels, "}"); labels != ""; {
			key, rest, ok := strings.Cut(labels, `="`)
			if !ok {
				break
			}
			quoted, err := strconv.QuotedPrefix(`"` + rest)
			if err != nil {
				break
			}
			s.labels[key], _ = strconv.Unquote(quoted)
			labels = strings.TrimPrefix(rest[len(quoted)-1:], ",")
		}
		all = append(all, s)
	}
	return all, lines.Err()
}

// histogram is a distribution of durations.
type histogram struct {
	count  float64
	limits []float64 // upper limits of the buckets, in seconds
	below  []float64 // how many durations are at most that long
}

// histograms returns the distributions of a metric by the values of some labels, joined by a space, and the
// values in the order of the metric.
func histograms(all []sample, name string, labels ...string) (by map[string]*histogram, order []string) {
	by = make(map[string]*histogram)
	for _, s := range all {
		suffix, ok := strings.CutPrefix(s.name, name)
		if !ok || suffix != "_bucket" && suffix != "_count" {
			continue
		}
		var values []string
		for _, l := range labels {
			values = append(values, s.labels[l])
		}
		key := strings.Join(values, " ")
		h := by[key]
		if h == nil {
			h = new(histogram)
			by[key], order = h, append(order, key)
		}
		if suffix == "_count" {
			h.count = s.value
			continue
		}
		limit, err := strconv.ParseFloat(s.labels["le"], 64)
		if err != nil {
			continue
		}
		h.limits, h.below = append(h.limits, limit), append(h.below, s.value)
	}
	return by, order
}

// quantile estimates the duration that a share of the durations do not exceed, in milliseconds.
func (h *histogram) quantile(share float64) float64 {
	low, lowBelow := 0.0, 0.0
	if h.count == 0 {
		return 0
	}
	for i, limit := range h.limits {
		if h.below[i] >= share*h.count && h.below[i] > lowBelow {
			if math.IsInf(limit, 1) {
				return 1000 * low
			}
			return 1000 * (low + (limit-low)*(share*h.count-lowBelow)/(h.below[i]-lowBelow))
		}
		low, lowBelow = limit, h.below[i]
	}
	return 1000 * low
}
