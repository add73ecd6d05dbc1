package eval_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/bench/eval"
)

// reference returns the directory of the sets and of the reference scripts, or skips the test.
func reference(t *testing.T) (data, scripts string) {
	t.Helper()
	data = os.Getenv("RAGCTX_EVAL_DATA")
	if data == "" {
		t.Skip("RAGCTX_EVAL_DATA is not set: it names a directory of judged collections, with eval.py and " +
			"eval_spans.py in it or above it")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed; the reference scripts need it")
	}
	for _, dir := range []string{data, filepath.Dir(filepath.Clean(data))} {
		if _, err := os.Stat(filepath.Join(dir, "eval.py")); err == nil {
			return data, dir
		}
	}
	t.Skip("eval.py is neither in RAGCTX_EVAL_DATA nor above it")
	return "", ""
}

// printed parses a line of the scripts' output: a name, n=, and pairs of measure and value.
var printed = regexp.MustCompile(`(\S+@\S+) ([0-9.]+)`)

func script(t *testing.T, args ...string) map[string]map[string]float64 {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	groups := make(map[string]map[string]float64)
	for line := range strings.SplitSeq(string(out), "\n") {
		name, rest, ok := strings.Cut(line, "  n=")
		if !ok {
			continue
		}
		groups[name] = make(map[string]float64)
		for _, m := range printed.FindAllStringSubmatch(rest, -1) {
			v, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			groups[name][m[1]] = v
		}
	}
	return groups
}

// agree compares values with a script's, which have four digits.
func agree(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	for name, v := range got {
		w, ok := want[name]
		if !ok || math.Abs(v-w) > 0.5e-4+1e-9 {
			t.Errorf("%s, %s: %.6f, the script says %.4f", what, name, v, w)
		}
	}
}

// TestEqualsReference measures small real sets and compares with the reference scripts.
func TestEqualsReference(t *testing.T) {
	data, scripts := reference(t)
	all, err := eval.ListSets(data)
	if err != nil {
		t.Fatal(err)
	}
	var sets []string
	for _, s := range []string{"claudedocs", "chunking_eval"} {
		if slices.Contains(all, s) {
			sets = append(sets, s)
		}
	}
	if len(sets) == 0 {
		t.Skipf("%s holds none of the small sets", data)
	}
	out := t.TempDir()
	r := run(t, eval.Options{Data: data, Out: out, Sets: sets, Modes: []string{eval.ModeKeyword, eval.ModeHybrid}})
	for _, s := range r.Sets {
		dir := filepath.Join(data, s.Set)
		for _, m := range s.Modes {
			what := s.Set + " " + m.Mode
			args := []string{
				filepath.Join(scripts, "eval.py"), filepath.Join(out, s.Set+"."+m.Mode+".run.tsv"),
				filepath.Join(dir, "qrels.tsv"),
			}
			if len(m.Categories) > 0 {
				args = append(args, "--by", filepath.Join(dir, "groups.tsv"))
			}
			want := script(t, args...)
			for _, c := range append([]eval.Category{m.All}, m.Categories...) {
				agree(t, what+" "+c.Name, map[string]float64{
					"nDCG@10": c.NDCG10, "Recall@5": c.R5, "Recall@10": c.R10, "Recall@100": c.R100, "MRR@10": c.MRR10,
				}, want[c.Name])
			}
			if len(m.Categories) > 0 && len(want) != len(m.Categories)+1 {
				t.Errorf("%s: categories %v, the script has %v", what, m.Categories, slices.Sorted(maps.Keys(want)))
			}
			if m.Spans != nil {
				want := script(t, filepath.Join(scripts, "eval_spans.py"),
					filepath.Join(out, s.Set+"."+m.Mode+".spans.tsv"), filepath.Join(dir, "queries.jsonl"))
				agree(t, what+" spans", map[string]float64{
					"recall@5": m.Spans.Recall5, "precision@5": m.Spans.Precision5, "IoU@5": m.Spans.IoU5,
					"recall@2000ch": m.Spans.RecallIn2000, "recall@4000ch": m.Spans.RecallIn4000,
					"recall@8000ch": m.Spans.RecallIn8000,
				}, want["all"])
			}
		}
	}
}

// TestEqualsReferenceOnTies compares on generated rankings with many ties, negative grades and missing
// questions.
func TestEqualsReferenceOnTies(t *testing.T) {
	_, scripts := reference(t)
	dir := t.TempDir()
	var qrels, queries, file strings.Builder
	for q := range 30 {
		fmt.Fprintf(&queries, "{\"_id\":\"q%d\",\"text\":\"x\"}\n", q)
		for d := range 130 {
			if (q*7+d*13)%11 == 0 {
				fmt.Fprintf(&qrels, "q%d\td%d\t%d\n", q, d, (q+d)%5-1)
			}
			if q%9 > 0 && (q*d)%3 != 1 {
				fmt.Fprintf(&file, "q%d\td%d\t%.1f\n", q, d, float64((q*31+d*17)%12)/2)
			}
		}
	}
	for name, text := range map[string]string{"qrels.tsv": qrels.String(), "run.tsv": file.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	judged, err := eval.ReadQrels(strings.NewReader(qrels.String()))
	if err != nil {
		t.Fatal(err)
	}
	found, err := eval.ReadRun(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	want := script(t, filepath.Join(scripts, "eval.py"), filepath.Join(dir, "run.tsv"), filepath.Join(dir, "qrels.tsv"))
	c := eval.Mean(found, judged)
	agree(t, "ties", map[string]float64{
		"nDCG@10": c.NDCG10, "Recall@5": c.R5, "Recall@10": c.R10, "Recall@100": c.R100, "MRR@10": c.MRR10,
	}, want["all"])
}
