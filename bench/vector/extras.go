package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// extras measures searches during inserts on the last set, and the opening of a stored index.
func (c *comparison) extras(ctx context.Context, r *report, inserts int, million string) error {
	var runs []latencies
	for range inserts {
		var l latencies
		if err := ask(ctx, &l, "insert", c.set+baseFile, c.set+queryFile, strconv.Itoa(c.limit)); err != nil {
			return err
		}
		c.progress("beside inserts: %+v", l)
		runs = append(runs, l)
	}
	if len(runs) > 0 {
		r.Insert = medianLatencies(runs)
	}
	if million == "" {
		return nil
	}
	if _, err := os.Stat(million); err != nil {
		r.Filling = new(measured)
		if err := ask(ctx, r.Filling, "open", million); err != nil {
			return err
		}
		c.progress("filled: %+v", *r.Filling)
	}
	r.Opening = new(opening)
	err := ask(ctx, r.Opening, "open", million)
	c.progress("opened: %+v", *r.Opening)
	return err
}

// ask runs this program in a process of its own and decodes its output.
func ask(ctx context.Context, answer any, args ...string) error {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return json.Unmarshal(out, answer)
}

// medianLatencies returns the run whose ratio of the 99th percentiles is the median.
func medianLatencies(runs []latencies) *latencies {
	var ratios []float64
	for _, l := range runs {
		ratios = append(ratios, l.ratio())
	}
	middle := runs[0]
	for _, l := range runs {
		if abs(l.ratio()-median(ratios)) < abs(middle.ratio()-median(ratios)) {
			middle = l
		}
	}
	return &middle
}

func abs(x float64) float64 { return max(x, -x) }

// ratio is the p99 during inserts divided by the p99 without them.
func (l latencies) ratio() float64 { return l.BusyP99 / l.QuietP99 }

func (l latencies) String() string {
	return fmt.Sprintf("Searches beside continuous insert, GOMAXPROCS=2: p99 %.2f ms, quiet %.2f ms (%.1f×); "+
		"p50 %.3f ms, quiet %.3f ms; %.0f inserted and linked per second.",
		l.BusyP99, l.QuietP99, l.ratio(), l.BusyP50, l.QuietP50, l.Rate)
}

func (o opening) String() string {
	return fmt.Sprintf("%d vectors stored (%.2f GB): open in %.3f s, first answer after %.2f s (%.2f s CPU), "+
		"graph in use after %.2f s; %.1f s CPU, %.0f MB anonymous memory.",
		o.Units, float64(o.DiskBytes)/1e9, o.Open, o.First, o.FirstCPU, o.Graph, o.CPU, float64(o.Bytes)/1e6)
}
