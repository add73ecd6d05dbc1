package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// k is the number of hits per query: recall is recall@10.
const k = 10

// widths are the values of ef that are measured.
var widths = []int{10, 12, 16, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640}

// contestant is an index and the measurements in which it takes part.
type contestant struct {
	name   string
	widths []int // empty: only the default
	once   bool  // slow: one round, few queries
	built  bool  // its build is measured
	scans  bool  // it has an exact scan
}

var contestants = []contestant{
	{name: "hnswlib", widths: widths, built: true, scans: true},
	{name: "graph", widths: widths, built: true, scans: true},
	{name: "native", built: true, scans: true},
	{name: "flat", scans: true},
	{name: "coder/hnsw", widths: []int{20, 80, 320}, once: true, built: true},
	{name: "chromem-go", once: true, built: true, scans: true},
}

// comparison runs all contestants on one set of vectors.
type comparison struct {
	set           string // path without extension
	limit         int
	rounds        int
	builds        int
	hnswlib       string
	names         []string
	tmp           string
	base, queries matrix
	truth         *truth
	progress      func(format string, args ...any)
}

func compareAll(ctx context.Context, args []string) error {
	var c comparison
	set := flag.NewFlagSet("compare", flag.ContinueOnError)
	out := set.String("o", "vector", "where the report goes: OUT.md and OUT.json")
	set.StringVar(&c.hnswlib, "hnswlib", "", "the program made from hnswlib/driver.cpp")
	set.IntVar(&c.rounds, "rounds", 5, "how often searches are repeated")
	set.IntVar(&c.builds, "builds", 3, "how often graphs are built; with 1, by one thread only")
	set.IntVar(&c.limit, "limit", 1<<30, "use the first rows of each set only")
	inserts := set.Int("inserts", 5, "how often searches beside inserts are measured, on the last set")
	million := set.String("million", "", "a folder with a stored index of a million vectors, created if it "+
		"is not there")
	only := set.String("only", "", "names of the indexes, with commas (default all)")
	if err := set.Parse(args); err != nil {
		return err
	}
	for name := range strings.SplitSeq(*only, ",") { // such as graph/24/200
		if strings.HasPrefix(name, "graph/") {
			contestants = append(contestants, contestant{name: name, widths: widths, built: true, scans: true})
		}
	}
	for _, x := range contestants {
		if (*only == "" || slices.Contains(strings.Split(*only, ","), x.name)) && (x.name != "hnswlib" || c.hnswlib != "") {
			c.names = append(c.names, x.name)
		}
	}
	tmp, err := os.MkdirTemp("", "vector-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	c.tmp = tmp
	c.progress = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	var r report
	for _, path := range set.Args() {
		c.set = strings.TrimSuffix(path, baseFile)
		s, err := c.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.set, err)
		}
		r.Sets = append(r.Sets, s)
		if err := r.save(*out); err != nil {
			return err
		}
	}
	if err := c.extras(ctx, &r, *inserts, *million); err != nil {
		return err
	}
	return r.save(*out)
}

// run measures one set: building, searching and scanning, each in turns.
func (c *comparison) run(ctx context.Context) (*setReport, error) {
	var err error
	if c.base, err = openMatrix(c.set + baseFile); err != nil {
		return nil, err
	}
	if c.queries, err = openMatrix(c.set + queryFile); err != nil {
		return nil, err
	}
	c.base, c.queries = c.base.head(c.limit), c.queries.head(1000)
	c.progress("%s: %d × %d", c.set, c.base.rows, c.base.dim)
	if c.truth, err = newTruth(c.set, c.base, c.queries, k); err != nil {
		return nil, err
	}
	s := &setReport{Name: filepath.Base(c.set), Rows: c.base.rows, Dim: c.base.dim, Queries: c.queries.rows}
	var running []*child
	defer func() {
		for _, x := range running {
			err = errors.Join(err, x.stop())
		}
	}()
	for _, x := range contestants {
		if slices.Contains(c.names, x.name) {
			s.Indexes = append(s.Indexes, &indexReport{contestant: x, Name: x.name})
		}
	}
	if running, err = c.build(ctx, s); err != nil {
		return nil, err
	}
	if err := c.search(s, running); err != nil {
		return nil, err
	}
	if err := c.scan(s, running); err != nil {
		return nil, err
	}
	s.conclude()
	return s, nil
}

// build builds every index several times with one thread and with two. It leaves the last process
// of one thread running.
func (c *comparison) build(ctx context.Context, s *setReport) ([]*child, error) {
	running := make([]*child, len(s.Indexes))
	for round := range c.builds {
		last := round == c.builds-1
		for i, x := range s.Indexes {
			for _, threads := range []int{2, 1} {
				keep := last && threads == 1
				if !keep && (c.builds == 1 || x.once || !x.built) {
					continue
				}
				p, err := c.buildOne(ctx, x, threads)
				if err != nil {
					return running, err
				}
				if keep {
					running[i] = p
				} else if err := p.stop(); err != nil {
					return running, err
				}
			}
		}
	}
	return running, nil
}

func (c *comparison) buildOne(ctx context.Context, x *indexReport, threads int) (*child, error) {
	argv := []string{os.Args[0], "serve", x.Name}
	if x.Name == "hnswlib" {
		argv = []string{c.hnswlib}
	}
	p, err := startChild(ctx, x.Name, append(argv, c.set+baseFile, c.set+queryFile, strconv.Itoa(c.base.rows)), c.tmp)
	if err != nil {
		return nil, err
	}
	m, err := p.do("build %d", threads)
	if err != nil {
		return nil, err
	}
	c.progress("  %-12s built with %d: %.1f s CPU, %.1f s, %.0f B/vector", x.Name, threads, m.CPU, m.Wall,
		float64(m.Bytes)/float64(c.base.rows))
	if threads == 1 {
		x.build1 = append(x.build1, m.CPU)
		x.bytes = append(x.bytes, float64(m.Bytes)/float64(c.base.rows))
	} else {
		x.build2 = append(x.build2, m.CPU)
	}
	return p, nil
}

// search asks all queries at all widths. The indexes take turns at each width, so that they see the
// same load of the machine.
func (c *comparison) search(s *setReport, running []*child) error {
	for round := range c.rounds {
		for step := range len(widths) + 1 {
			for turn := range running {
				i := (turn + round) % len(running)
				x, p := s.Indexes[i], running[i]
				ef, queries := 0, c.queries.rows
				if step > 0 {
					ef = widths[step-1]
				}
				if ef > 0 && !slices.Contains(x.widths, ef) {
					continue
				}
				if x.once {
					if round > 0 {
						continue
					}
					queries = min(queries, 200)
				}
				m, ids, err := p.ask("search", ef, queries, k)
				if err != nil {
					return err
				}
				x.point(ef).add(c.truth.recall(ids), m.CPU/float64(queries))
			}
		}
		c.progress("  searched %d of %d", round+1, c.rounds)
	}
	return nil
}

// scan measures exact scans with some queries, for the indexes that have one.
func (c *comparison) scan(s *setReport, running []*child) error {
	queries := min(c.queries.rows, 100)
	for range c.rounds {
		for i, x := range s.Indexes {
			if !x.scans {
				continue
			}
			m, ids, err := running[i].ask("exact", 0, queries, k)
			if err != nil {
				return err
			}
			x.scan.add(c.truth.recall(ids), m.CPU/float64(queries))
		}
	}
	return nil
}
