package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

// showDropped bounds the list of dropped items.
const showDropped = 20

// explain prints why items are in an answer or not, and how long each provider took.
func explain(w io.Writer, bold func(string) string, a resolve.Answer, q ragctx.ContextQuery, took time.Duration) {
	fmt.Fprintf(w, "%s %d of %s (%s), %s, %.1f ms\n", bold("answer"), a.TotalTokens, amount(q.MaxTokens, "token"),
		a.Tokenizer, amount(len(a.Items), "item"), float64(took.Microseconds())/1000)
	for _, b := range a.Blocks {
		fmt.Fprintf(w, "%s %s: %s, %s, sha256 %.12s\n", bold("block"), b.Name, amount(len(b.Items), "item"),
			amount(b.Tokens, "token"), b.Hash)
	}
	explainTimes(w, bold, a.Providers)
	for _, line := range corrected(a.Corrections) {
		fmt.Fprintf(w, "%s %s\n", bold("spelling"), line)
	}
	explainItems(w, bold, a.Items)
	explainCuts(w, bold, a)
	fmt.Fprintln(w, bold("providers"))
	table(w, func(row func(...any)) {
		row("name", "returned", "used", "tokens", "ms", "remarks")
		for _, p := range a.Providers {
			remarks := slices.Concat(nonEmpty(p.Error), nonEmpty(p.Note), p.Degraded)
			row(p.Name, p.Returned, p.Used, p.Tokens, fmt.Sprintf("%.1f", p.TookMS), printable(strings.Join(remarks, "; ")))
		}
	})
	if len(a.Degraded) > 0 {
		fmt.Fprintln(w, "without:", strings.Join(a.Degraded, ", "))
	}
}

// explainTimes prints the times that were read from the question. Providers with the same reading
// share a line.
func explainTimes(w io.Writer, bold func(string) string, providers []resolve.ProviderReport) {
	var lines []string
	names := make(map[string][]string)
	for _, p := range providers {
		if p.Time == nil {
			continue
		}
		line := timeRead(*p.Time)
		if names[line] == nil {
			lines = append(lines, line)
		}
		names[line] = append(names[line], p.Name)
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%s %s (%s)\n", bold("time"), printable(line), strings.Join(names[line], ", "))
	}
}

// timeRead returns a reading, such as: "last week" from 2023-11-06 to 2023-11-13: boost.
func timeRead(t ragctx.TimeReading) string {
	parts := []string{strconv.Quote(t.Words)}
	if t.Sessions != nil {
		parts = append(parts, "sessions", cmp.Or(strings.Join(t.Sessions, ", "), "that are not recorded"))
	}
	if !t.From.IsZero() {
		parts = append(parts, "from", t.From.Format(time.RFC3339))
	}
	if !t.To.IsZero() {
		parts = append(parts, "before", t.To.Format(time.RFC3339))
	}
	return strings.Join(parts, " ") + ": " + string(t.Use)
}

func explainItems(w io.Writer, bold func(string) string, items []ragctx.ContextItem) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintln(w, bold("items"))
	table(w, func(row func(...any)) {
		row("relevance", "tokens", "depth", "provider", "id", "place", "signals")
		for _, it := range items {
			row(fmt.Sprintf("%.3f", it.Relevance), it.TokenCount, it.Depth, it.Provider, printable(it.ID), placeOf(it), signals(it.Signals))
		}
	})
}

// placeOf returns the page and lines of an item in its document.
func placeOf(it ragctx.ContextItem) string {
	var parts []string
	for _, p := range [...]struct{ key, name string }{{"page", "page"}, {"lines", "lines"}} {
		if v, ok := it.Metadata[p.key]; ok {
			parts = append(parts, p.name+" "+printable(fmt.Sprint(v)))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

// explainCuts lists the shortened and the dropped items.
func explainCuts(w io.Writer, bold func(string) string, a resolve.Answer) {
	if len(a.Shortened) > 0 {
		fmt.Fprintln(w, bold("shortened"))
		table(w, func(row func(...any)) {
			row("reason", "to", "saved", "provider", "id")
			for _, s := range a.Shortened {
				row(s.Reason, s.Depth, s.Tokens, s.Provider, printable(s.ID))
			}
		})
	}
	if len(a.Dropped) == 0 {
		return
	}
	fmt.Fprintln(w, bold("dropped"))
	table(w, func(row func(...any)) {
		row("reason", "tokens", "provider", "id")
		for _, d := range a.Dropped[:min(len(a.Dropped), showDropped)] {
			row(d.Reason, d.Tokens, d.Provider, printable(d.ID))
		}
	})
	if more := len(a.Dropped) - showDropped; more > 0 {
		fmt.Fprintf(w, "  and %d more (--format json lists all)\n", more)
	}
}

// signals returns scores by name, such as "keyword 0.81 vector 0.44".
func signals(m map[string]float64) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %.3g", name, m[name]))
	}
	return cmp.Or(strings.Join(out, "  "), "-")
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// table writes aligned, indented rows.
func table(w io.Writer, fill func(row func(...any))) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fill(func(cells ...any) {
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = fmt.Sprint(c)
		}
		fmt.Fprintln(tw, "  "+strings.TrimRight(strings.Join(texts, "\t"), "\t"))
	})
	_ = tw.Flush() // errors of the terminal are ignored
}
