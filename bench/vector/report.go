package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// levels are the recalls at which the indexes are compared.
var levels = []float64{.90, .95, .99}

// reference is the index with which the others are compared.
const reference = "hnswlib"

// report is the result of a comparison.
type report struct {
	Sets    []*setReport `json:"sets"`
	Insert  *latencies   `json:"beside_inserts,omitempty"`
	Filling *measured    `json:"filling,omitempty"`
	Opening *opening     `json:"opening,omitempty"`
}

type setReport struct {
	Name    string         `json:"name"`
	Rows    int            `json:"rows"`
	Dim     int            `json:"dimensions"`
	Queries int            `json:"queries"`
	Indexes []*indexReport `json:"indexes"`
}

// indexReport holds the measurements of one index. Times are medians of CPU time.
type indexReport struct {
	contestant
	build1, build2, bytes []float64
	scan                  point

	Name   string   `json:"name"`
	Build1 float64  `json:"build_seconds_one_thread,omitempty"`
	Build2 float64  `json:"build_seconds_two_threads,omitempty"`
	Bytes  float64  `json:"bytes_per_vector"`
	Exact  float64  `json:"exact_ms,omitempty"`
	Points []*point `json:"points"`
	At     []level  `json:"at,omitempty"`
}

// point is the result at one search width.
type point struct {
	Ef     int     `json:"ef"` // 0: the default
	Recall float64 `json:"recall"`
	CPU    float64 `json:"us_per_query"`
	// Ratio is the number of queries per hnswlib query at the same recall and CPU time.
	Ratio float64 `json:"ratio,omitempty"`
	cpu   []float64
}

func (p *point) add(recall, cpu float64) {
	p.Recall = recall
	p.cpu = append(p.cpu, cpu)
	p.CPU = median(p.cpu) * 1e6
}

// level is the cost of a query at a recall.
type level struct {
	Recall  float64 `json:"recall"`
	Queries float64 `json:"queries_per_cpu_second"` // 0: not reached
	Ratio   float64 `json:"ratio,omitempty"`        // to hnswlib's
}

func (x *indexReport) point(ef int) *point {
	for _, p := range x.Points {
		if p.Ef == ef {
			return p
		}
	}
	x.Points = append(x.Points, &point{Ef: ef})
	return x.Points[len(x.Points)-1]
}

// conclude computes the figures of the table.
func (s *setReport) conclude() {
	var ref *indexReport
	for _, x := range s.Indexes {
		x.Build1, x.Build2, x.Bytes, x.Exact = median(x.build1), median(x.build2), median(x.bytes), x.scan.CPU/1000
		if !x.built {
			x.Build1 = 0
		}
		if x.Name == reference {
			ref = x
		}
	}
	for _, x := range s.Indexes {
		for _, r := range levels {
			l := level{Recall: r}
			if us := x.costAt(r); us > 0 && len(x.widths) > 0 {
				l.Queries = 1e6 / us
				l.Ratio = ref.costAt(r) / us
			}
			x.At = append(x.At, l)
		}
		for _, p := range x.Points {
			p.Ratio = ref.costAt(p.Recall) / p.CPU
		}
	}
}

// costAt returns the microseconds of a query at a recall, interpolated between the two nearest
// widths. The logarithm of the cost is about linear in the logarithm of the missed share. It
// returns 0 if the recall is not reached.
func (x *indexReport) costAt(recall float64) float64 {
	if x == nil {
		return 0
	}
	points := slices.DeleteFunc(slices.Clone(x.Points), func(p *point) bool { return p.Ef == 0 })
	slices.SortFunc(points, func(a, b *point) int { return cmp.Compare(a.Ef, b.Ef) })
	for i, p := range points {
		if p.Recall < recall {
			continue
		}
		if i == 0 || p.Recall == points[i-1].Recall {
			return p.CPU
		}
		missed := func(r float64) float64 { return math.Log(max(1-r, 1e-5)) }
		low := points[i-1]
		share := (missed(recall) - missed(low.Recall)) / (missed(p.Recall) - missed(low.Recall))
		return math.Exp(math.Log(low.CPU) + share*(math.Log(p.CPU)-math.Log(low.CPU)))
	}
	return 0
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
}

// save writes OUT.json and OUT.md.
func (r *report) save(out string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out+".json", append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(out+".md", []byte(r.markdown()), 0o644)
}

func (r *report) markdown() string {
	var b strings.Builder
	for _, s := range r.Sets {
		fmt.Fprintf(&b, "%s: %d vectors of %d components, %d queries\n\n", s.Name, s.Rows, s.Dim, s.Queries)
		b.WriteString("| index | queries/s at .90 | at .95 | at .99 | defaults: recall, queries/s | build, CPU " +
			"s (1, 2 threads) | B/vector | exact scan |\n")
		b.WriteString("|---|---|---|---|---|---|---|---|\n")
		for _, x := range s.Indexes {
			fmt.Fprintf(&b, "| %s |", x.Name)
			for _, l := range x.At {
				fmt.Fprintf(&b, " %s |", rate(l.Queries, l.Ratio))
			}
			p := x.point(0)
			fmt.Fprintf(&b, " %s, %s | %s | %.0f | %s |\n", strings.TrimPrefix(fmt.Sprintf("%.3f", p.Recall), "0"),
				rate(1e6/p.CPU, p.Ratio), x.building(s), x.Bytes, x.scanning())
		}
		b.WriteByte('\n')
	}
	if r.Insert != nil {
		fmt.Fprintf(&b, "%s\n\n", r.Insert)
	}
	if r.Filling != nil {
		fmt.Fprintf(&b, "Filling it took %.0f s CPU, %.0f s.\n\n", r.Filling.CPU, r.Filling.Wall)
	}
	if r.Opening != nil {
		fmt.Fprintf(&b, "%s\n", r.Opening)
	}
	return b.String()
}

func rate(queries, ratio float64) string {
	switch {
	case queries == 0:
		return ""
	case ratio == 0:
		return fmt.Sprintf("%.0f", queries)
	}
	return fmt.Sprintf("%.0f (%.2f×)", queries, ratio)
}

func (x *indexReport) building(s *setReport) string {
	if x.Build1 == 0 {
		return ""
	}
	text := fmt.Sprintf("%.1f", x.Build1)
	if x.Build2 > 0 {
		text += fmt.Sprintf(", %.1f", x.Build2)
	}
	at := slices.IndexFunc(s.Indexes, func(x *indexReport) bool { return x.Name == reference })
	if at < 0 {
		return text
	}
	return fmt.Sprintf("%s (%.2f×)", text, x.Build1/s.Indexes[at].Build1)
}

func (x *indexReport) scanning() string {
	if x.Exact == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f ms", x.Exact)
}
