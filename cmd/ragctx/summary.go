package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
)

// showSkipped bounds the files listed per reason, unless all are requested.
const showSkipped = 3

// showTypes bounds the file types that are counted separately.
const showTypes = 8

// writeSummary prints the result of an ingest.
func writeSummary(w io.Writer, r engine.IngestReport, took time.Duration, all bool) {
	fmt.Fprintf(w, "%d created, %d replaced, %d unchanged, %d deleted\n", r.Created, r.Replaced, r.Unchanged, r.Deleted)
	if r.Chunks > 0 {
		fmt.Fprintf(w, "%s from %s in %s (%.0f chunks/s)\n", amount(r.Chunks, "chunk"), size(r.Bytes), seconds(took), rate(r.Chunks, took))
	}
	writeSkipped(w, r.Skipped, all)
	writeLeftOut(w, r.LeftOut)
}

// writeLeftOut prints the files that were not read, in a line.
func writeLeftOut(w io.Writer, l docs.LeftOut) {
	var parts []string
	exts := slices.SortedFunc(maps.Keys(l.Types), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.Types[b], l.Types[a]), cmp.Compare(a, b))
	})
	hint := ""
	for i, ext := range exts {
		switch {
		case i == showTypes:
			parts = append(parts, fmt.Sprintf("%d other types", len(exts)-i))
		case i > showTypes:
		case ext == "":
			parts = append(parts, fmt.Sprintf("%d without an extension", l.Types[ext]))
		case ext == "*":
			parts = append(parts, amount(l.Types[ext], "other"))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", l.Types[ext], ext))
			hint = cmp.Or(hint, fmt.Sprintf("; --include '*.%s' takes such files, and no others", ext))
		}
	}
	for _, p := range []struct {
		n    int
		what string
	}{{l.Hidden, "hidden"}, {l.Ignored, "ignored by git"}, {l.Excluded, "excluded"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "left out: %s%s\n", strings.Join(parts, ", "), hint)
	}
}

// reason is a reason with the files that were skipped for it.
type reason struct {
	text  string
	paths []string
}

// byReason groups skipped files by reason, the most frequent first.
func byReason(skipped []engine.Skipped) []reason {
	at := make(map[string]int)
	var out []reason
	for _, s := range skipped {
		i, ok := at[s.Reason]
		if !ok {
			i = len(out)
			at[s.Reason] = i
			out = append(out, reason{text: s.Reason})
		}
		out[i].paths = append(out[i].paths, s.Path)
	}
	for _, r := range out {
		slices.Sort(r.paths)
	}
	slices.SortFunc(out, func(a, b reason) int {
		return cmp.Or(cmp.Compare(len(b.paths), len(a.paths)), cmp.Compare(a.text, b.text))
	})
	return out
}

// writeSkipped lists skipped files by reason.
func writeSkipped(w io.Writer, skipped []engine.Skipped, all bool) {
	if len(skipped) == 0 {
		return
	}
	fmt.Fprintf(w, "%d skipped:\n", len(skipped))
	for _, r := range byReason(skipped) {
		fmt.Fprintf(w, "  %d: %s\n", len(r.paths), printable(r.text))
		shown := r.paths
		if !all && len(shown) > showSkipped {
			shown = shown[:showSkipped]
		}
		for _, p := range shown {
			fmt.Fprintf(w, "     %s\n", printable(p))
		}
		if more := len(r.paths) - len(shown); more > 0 {
			fmt.Fprintf(w, "     and %d more (--verbose lists all)\n", more)
		}
	}
}

// printable returns s with control characters replaced, so that a file's name cannot control the
// terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// size returns a number of bytes in a fitting unit.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}

// writeJSON prints v with indents.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
