package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ragctx/ragctx/bench"
)

// Since returns the program and time of the older report.
func (c Comparison) Since() string { return c.Old.Program + ", " + c.Old.Time }

// Verdict summarises the change of the median latency, the only metric that is steady enough for a
// verdict.
func (c Comparison) Verdict() string {
	var slower, faster, few []string
	for _, ch := range c.Changes {
		if ch.Metric != comparedMetrics[0].name {
			continue
		}
		switch ch.Outcome {
		case Slower:
			slower = append(slower, ch.Load)
		case Faster:
			faster = append(faster, ch.Load)
		case TooFewRuns:
			few = append(few, ch.Load)
		default:
		}
	}
	switch {
	case len(slower) > 0 && len(faster) > 0:
		return fmt.Sprintf("slower with %s, faster with %s", strings.Join(slower, " and "), strings.Join(faster, " and "))
	case len(slower) > 0:
		return "slower"
	case len(faster) > 0:
		return "faster"
	case len(few) > 0:
		return string(TooFewRuns)
	default:
		return string(NotShown)
	}
}

// SlowerBy returns the largest slowdown of a latency that was shown, in percent, and its name; 0 if
// none was shown.
func (c Comparison) SlowerBy() (percent float64, what string) {
	for _, ch := range c.Changes {
		if ch.Outcome == Slower && (ch.Metric == "p50" || ch.Metric == "p99") && ch.Percent > percent {
			percent, what = ch.Percent, ch.Metric+" with "+ch.Load
		}
	}
	return percent, what
}

// Warnings returns the reasons to doubt a comparison.
func (c Comparison) Warnings() (out []string) {
	if len(c.Differences) > 0 {
		out = append(out, "the setups differ: "+strings.Join(c.Differences, "; "))
	}
	if c.Control.Outcome == Slower || c.Control.Outcome == Faster {
		out = append(out, fmt.Sprintf("the machine itself was %s: a fixed computation took %+.0f %%, so the same "+
			"may hold for the rest", c.Control.Outcome, c.Control.Percent))
	}
	if len(c.Unmatched) > 0 {
		out = append(out, "only one of the reports has "+strings.Join(c.Unmatched, " and "))
	}
	return out
}

// WriteComparison writes a comparison as text.
func WriteComparison(w io.Writer, c Comparison) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "load\t\told\tnew\tchange\t95 % interval\tp\t")
	for _, ch := range c.Changes {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%+.1f %%\t%s\t%.3f\t  %s\n", ch.Load, ch.Metric,
			bench.Milliseconds(ch.Old), bench.Milliseconds(ch.New), ch.Percent, ch.interval(), ch.P, ch.Outcome)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	for _, warning := range c.Warnings() {
		fmt.Fprintln(w, "note:", warning)
	}
	_, err := fmt.Fprintln(w, "verdict:", c.Verdict())
	return err
}

func (c Change) interval() string {
	if c.Low == 0 && c.High == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f to %+.1f %%", c.Low, c.High)
}
