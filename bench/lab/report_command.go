package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/bench"
)

// runReport shows a report of "ragctx bench --json".
func runReport(args []string, stdout io.Writer) error {
	set := flag.NewFlagSet("report", flag.ContinueOnError)
	older := set.String("old", "", "compare with this earlier report")
	anyway := set.Bool("anyway", false, "compare reports of different setups, too")
	failIfSlower := set.Float64("fail-if-slower", 0, "fail if p50 or p99 is shown to be slower by this many percent")
	page := set.String("html", "", "write a page with charts to this file")
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() != 1 {
		return errUsage
	}
	r, err := readReport(set.Arg(0))
	if err != nil {
		return err
	}
	if err := bench.WriteTable(stdout, r); err != nil {
		return err
	}
	var c *Comparison
	if *older != "" {
		if c, err = compareWith(*older, r, *anyway); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\ncompared with %s (%s):\n", *older, printable(c.Since()))
		if err := WriteComparison(stdout, *c); err != nil {
			return err
		}
	}
	if *page != "" {
		var b bytes.Buffer
		if err := WriteHTML(&b, r, c); err != nil {
			return err
		}
		if err := os.WriteFile(*page, b.Bytes(), 0o600); err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	if c == nil || *failIfSlower <= 0 {
		return nil
	}
	if percent, metric := c.SlowerBy(); percent >= *failIfSlower {
		return fmt.Errorf("slower: %s takes %.1f %% more than in %s", metric, percent, *older)
	}
	return nil
}

func compareWith(older string, r bench.Report, anyway bool) (*Comparison, error) {
	old, err := readReport(older)
	if err != nil {
		return nil, err
	}
	c, err := Compare(old, r, anyway)
	return &c, err
}

func readReport(name string) (bench.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return bench.Report{}, err
	}
	defer f.Close()
	r, err := ReadReport(f)
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// maxReport bounds the size of a report.
const maxReport = 64 << 20

// ReadReport reads a JSON report. It returns [ragctx.ErrInvalid] for another version.
func ReadReport(in io.Reader) (bench.Report, error) {
	b, err := io.ReadAll(io.LimitReader(in, maxReport+1))
	if err != nil {
		return bench.Report{}, err
	}
	if len(b) > maxReport {
		return bench.Report{}, ragctx.TooLarge("report", "is longer than %d bytes", maxReport)
	}
	var head struct {
		Format  string
		Version int
		Loop    string
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return bench.Report{}, ragctx.Invalid("report", "is not JSON as 'ragctx bench --json' writes it: %v", err)
	}
	switch {
	case head.Format == "" && head.Loop != "":
		return bench.Report{}, ragctx.Invalid("report", "has version 1 and a single run, which is too few for a comparison; "+
			"measure again with the older program and this one's bench")
	case head.Format != bench.Format:
		return bench.Report{}, ragctx.Invalid("report", "was not written by 'ragctx bench --json'")
	case head.Version != bench.Version:
		return bench.Report{}, ragctx.Invalid("report", "is of version %d, and this program reads version %d; measure "+
			"again", head.Version, bench.Version)
	}
	var r bench.Report
	if err := json.Unmarshal(b, &r); err != nil {
		return r, ragctx.Invalid("report", "is damaged: %v", err)
	}
	for i, m := range r.Loads {
		if len(m.Runs) == 0 || len(m.Runs) > bench.MaxRepeat {
			return r, ragctx.Invalid(fmt.Sprintf("report: loads[%d]", i), "has %d runs; use 1 to %d", len(m.Runs), bench.MaxRepeat)
		}
	}
	return r, nil
}
