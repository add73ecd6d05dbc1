package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// leastTail is the smallest number of requests for which p99.9 differs from the slowest.
const leastTail = 1000

// steadyFactor is the factor by which the control may vary on an idle machine.
const steadyFactor = 1.5

// WriteTable writes a report as text.
func WriteTable(w io.Writer, r Report) error {
	if err := writeFacts(w, r); err != nil {
		return err
	}
	for _, part := range []func(io.Writer, Report){writeLoads, writeStages, writeErrors} {
		fmt.Fprintln(w)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		part(tw, r)
		if err := tw.Flush(); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

func writeFacts(w io.Writer, r Report) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range facts(r) {
		fmt.Fprintf(tw, "%s\t%s\n", f.name, f.text)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// fact is one line about the setup.
type fact struct{ name, text string }

// facts returns the lines that hold for all loads of a report.
func facts(r Report) []fact {
	s := r.Setup
	out := []fact{
		{"server", s.Server + inProcess(s.InProcess)},
		{"corpus", fmt.Sprintf("documents: %d, chunks: %d, namespace: %s; %s", s.Documents, s.Chunks, s.Namespace, s.Corpus)},
		{"queries", fmt.Sprintf("%d distinct, %s", s.Distinct, s.Queries)},
		{"answers", fmt.Sprintf("at most %d tokens (%s) and %d items", s.MaxTokens, s.Tokenizer, s.MaxResults)},
		{"machine", fmt.Sprintf("%s, %d cores", s.Machine, s.Cores)},
		{"runs", fmt.Sprintf("%d of each load, %s, in turns; %d requests of warm-up", r.Repeat, runLength(r), r.Warmup)},
	}
	if w := r.Ingest; w != nil {
		out = append(out, fact{"ingest alone", rates(*w)})
	}
	if d := r.Sizes; d != nil {
		out = append(out, fact{"disk", fmt.Sprintf("%s: database %s, keyword index %s, vector index %s, other %s",
			mebibytes(d.Total()), mebibytes(d.Database), mebibytes(d.Keyword), mebibytes(d.Vector), mebibytes(d.Other))})
	}
	if c := r.Recall; c != nil {
		out = append(out, fact{"recall@10", fmt.Sprintf("%.3f (%.3f to %.3f with 95 %% confidence, of %d searches "+
			"of the vector index compared with exact ones; median %s ms, exact %s ms)",
			c.Value, c.Low, c.High, c.Samples, Milliseconds(c.P50MS), Milliseconds(c.ExactP50MS))})
	}
	if low, high, ok := spread(r.Control); ok {
		text := fmt.Sprintf("a fixed computation took %s to %s ms before the runs", Milliseconds(low), Milliseconds(high))
		if high > steadyFactor*low {
			text += ": the machine was NOT steady, so latencies include its other work; CPU time does so less"
		}
		out = append(out, fact{"control", text})
	}
	return out
}

func runLength(r Report) string {
	var parts []string
	if r.Requests > 0 {
		parts = append(parts, fmt.Sprintf("%d requests", r.Requests))
	}
	if r.Seconds > 0 {
		parts = append(parts, fmt.Sprintf("%g s", r.Seconds))
	}
	return strings.Join(parts, " or ") + " each"
}

func spread(all []float64) (low, high float64, ok bool) {
	if len(all) == 0 {
		return 0, 0, false
	}
	return slices.Min(all), slices.Max(all), true
}

func rates(w Written) string {
	text := fmt.Sprintf("%.1f documents/s, %.0f chunks/s, %.2f MB/s (%d documents in %.1f s, p50 %s ms, p99 %s ms",
		w.DocumentsPerSecond, w.ChunksPerSecond, w.BytesPerSecond/1e6, w.Documents, w.Seconds, Milliseconds(w.Latency.P50),
		Milliseconds(w.Latency.P99))
	if w.CPU > 0 {
		text += fmt.Sprintf(", %.3f ms of CPU time per chunk", w.CPU)
	}
	if w.Failed > 0 {
		text += fmt.Sprintf(", %d FAILED%s", w.Failed, kinds(w.Errors))
	}
	return text + ")"
}

func writeLoads(w io.Writer, r Report) {
	fmt.Fprintln(w, "load\trequests\tfailed\tper second\tp50 ms\tp95\tp99\tp99.9\tmax\tcpu ms\tmemory\t")
	for _, m := range r.Loads {
		l := m.Latency
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", m.Load, m.Requests, m.Failed, m.PerSecond,
			Milliseconds(l.P50), Milliseconds(l.P95), Milliseconds(l.P99), tail(l), Milliseconds(l.Max), cpu(m.CPU), memory(m.Memory))
	}
}

func writeStages(w io.Writer, r Report) {
	if len(stageNames(r)) == 0 {
		fmt.Fprintln(w, "the server does not report its stages\t")
		return
	}
	fmt.Fprintln(w, "load\tstage\tp50 ms\tp95\tp99\tp99.9\tof requests\t")
	for _, m := range r.Loads {
		name := m.Load.String()
		for _, s := range m.Stages {
			l := s.Latency
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", name, s.Name, Milliseconds(l.P50), Milliseconds(l.P95),
				Milliseconds(l.P99), tail(l), l.Count)
			name = ""
		}
	}
}

// stageNames returns the stages of all loads.
func stageNames(r Report) (names []string) {
	for _, m := range r.Loads {
		for _, s := range m.Stages {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// writeErrors writes the remarks on each load.
func writeErrors(w io.Writer, r Report) {
	for _, m := range r.Loads {
		for _, line := range remarks(m) {
			fmt.Fprintf(w, "%s: %s\n", m.Load, line)
		}
	}
}

// remarks returns the lines that explain a load's figures.
func remarks(m Measurement) (out []string) {
	out = append(out, fmt.Sprintf("answers have %.0f bytes, %.0f tokens and %.1f items in the mean; %d are empty",
		m.Bytes.Mean, m.Tokens.Mean, m.Items.Mean, m.Empty))
	out = append(out, fromCacheRemark(m))
	if m.Degraded > 0 {
		out = append(out, fmt.Sprintf("%d answers are DEGRADED: a provider or an index is missing, "+
			"so they are faster than complete answers", m.Degraded))
	}
	if m.Failed > 0 {
		out = append(out, fmt.Sprintf("%d requests FAILED%s; they have no latency", m.Failed, kinds(m.Errors)))
	}
	if m.Late != nil {
		out = append(out, fmt.Sprintf("latency counts from when a request was due; from when it was sent p50 is %s "+
			"ms, p99 %s ms, max %s ms. "+
			"The load generator was late by p50 %s ms, p99 %s ms, max %s ms; %d requests waited as %d were under way",
			Milliseconds(m.Sent.P50), Milliseconds(m.Sent.P99), Milliseconds(m.Sent.Max), Milliseconds(m.Late.P50),
			Milliseconds(m.Late.P99), Milliseconds(m.Late.Max), m.Waited, m.Clients))
	}
	if m.Own != nil {
		out = append(out, fmt.Sprintf("written during the runs, %g documents/s wanted: %s", m.Own.Wanted, rates(*m.Own)))
	}
	if m.Same != nil {
		out = append(out, fmt.Sprintf("written during the runs into the queried namespace, %g documents/s wanted: "+
			"%s", m.Same.Wanted, rates(*m.Same)))
	}
	return out
}

// fromCacheRemark says how many answers came from the answer cache, and the latencies of both
// groups.
func fromCacheRemark(m Measurement) string {
	switch {
	case m.FromCache == nil:
		return "the server does not report which answers came from its answer cache"
	case m.FromCache.Count == 0:
		return "no answer came from the answer cache: every question was searched for"
	}
	text := fmt.Sprintf("%.1f %% of the answers came from the answer cache (p50 %s ms, p99 %s ms)",
		100*float64(m.FromCache.Count)/float64(max(m.Succeeded, 1)), Milliseconds(m.FromCache.P50), Milliseconds(m.FromCache.P99))
	if m.Searched.Count > 0 {
		text += fmt.Sprintf("; the others were searched for (p50 %s ms, p99 %s ms)", Milliseconds(m.Searched.P50),
			Milliseconds(m.Searched.P99))
	}
	return text
}

// Milliseconds formats milliseconds with three significant digits.
func Milliseconds(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}

// tail returns p99.9 if there are enough requests, else a dash.
func tail(l Latency) string {
	if l.Count < leastTail {
		return "-"
	}
	return Milliseconds(l.P999)
}

func cpu(c *CPU) string {
	if c == nil {
		return "-"
	}
	return Milliseconds(c.PerRequestMS)
}

func memory(m *Memory) string {
	if m == nil {
		return "-"
	}
	return mebibytes(m.Anon) + " + " + mebibytes(m.File)
}

func mebibytes(n float64) string { return fmt.Sprintf("%.1f MiB", n/(1<<20)) }

func inProcess(in bool) string {
	if in {
		return " (started for this run, in the same process, so CPU time and memory include both sides)"
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
