package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable writes a report for people.
func WriteTable(w io.Writer, r Report) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(tw, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	s := r.Setup
	row("server", "%s%s", s.Server, inProcess(s.InProcess))
	row("corpus", "documents: %d, chunks: %d, namespace: %s", s.Documents, s.Chunks, s.Namespace)
	row("queries", "%d distinct, %s", s.Distinct, s.Queries)
	row("budget", "%d tokens (%s)", s.MaxTokens, s.Tokenizer)
	row("load", "closed loop: %d clients, each waits for its answer; %d cores; %d requests of warm-up", r.Clients, s.Cores, r.Warmup)
	row("requests", "%d in %.2f s, %d failed%s, %d answers empty", r.Requests, r.Seconds, r.Failed, kinds(r.Errors), r.Empty)
	row("throughput", "%.1f requests/s", r.PerSecond)
	l := r.Latency
	row("latency ms", "p50 %.2f  p90 %.2f  p95 %.2f  p99 %.2f  max %.2f  mean %.2f", l.P50, l.P90, l.P95, l.P99, l.Max, l.Mean)
	row("answer", "mean %.0f bytes, %.0f tokens, %.1f items; max %d bytes, %d tokens, %d items",
		r.Bytes.Mean, r.Tokens.Mean, r.Items.Mean, r.Bytes.Max, r.Tokens.Max, r.Items.Max)
	if r.CPU != nil {
		row("cpu", "%.2f ms per request, server and clients together", r.CPU.PerRequestMS)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func inProcess(in bool) string {
	if in {
		return " (started for this run, in the same process)"
	}
	return ""
}

func kinds(errs map[string]int) string {
	if len(errs) == 0 {
		return ""
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(errs)) {
		out = append(out, fmt.Sprintf("%s: %d", k, errs[k]))
	}
	return " (" + strings.Join(out, ", ") + ")"
}
