package eval

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the ablation as a page, with the command that generates it.
func (a Ablation) WriteMarkdown(w io.Writer, command string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `# What each feature is worth

Made by `+"`%s`"+`, not by hand. The first row is the engine as it is, with the embedder %s;
the others say by how much a variant is better or worse, in thousandths. Yardsticks are nDCG@10 over the `+
		`questions by which a set is judged, and for spans the recall
within so many characters. A star marks what chance hardly explains (paired bootstrap over questions, %d `+
		`samples, two-sided p < .05; sets of fewer than %d questions get none).
With so many cells, one in twenty stars is chance all the same: read a lone star under 5 as none.

`, command, a.Embedder, samples, fewest)
	a.head(b, "variant")
	fmt.Fprintf(b, "| **as shipped** |")
	for _, v := range a.Shipped {
		fmt.Fprintf(b, " %s |", points(v))
	}
	fmt.Fprintln(b)
	a.rows(b, false)
	fmt.Fprintf(b, "\nWhat is there but not on by default:\n\n")
	a.head(b, "with")
	a.rows(b, true)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write ablation: %w", err)
	}
	return nil
}

func (a Ablation) head(w io.Writer, first string) {
	fmt.Fprintf(w, "| %s | %s |\n|%s\n", first, strings.Join(a.Yardsticks, " | "), strings.Repeat("---|"+
		"", 1+len(a.Yardsticks)))
}

func (a Ablation) rows(w io.Writer, adds bool) {
	for _, r := range a.Rows {
		if r.Adds != adds {
			continue
		}
		fmt.Fprintf(w, "| %s |", r.Name)
		for i, d := range r.Deltas {
			fmt.Fprintf(w, " %s |", thousandths(d, r.Few[i]))
		}
		fmt.Fprintln(w)
	}
}

// points formats a mean without its leading zero, as papers do.
func points(v float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0") }

func thousandths(d Delta, few bool) string {
	if d.Delta == 0 {
		return "0"
	}
	mark := ""
	if d.Significant() && !few {
		mark = "\\*"
	}
	s := fmt.Sprintf("%+.0f", 1000*d.Delta)
	if s == "+0" || s == "-0" {
		s = "0"
	}
	return s + mark
}
