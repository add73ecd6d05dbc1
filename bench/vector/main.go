// Command vector compares vector indexes; run.sh runs it.
//
//	vector data clustered OUT [-n ROWS] [-dim D]     generated vectors -> OUT.fvecs, OUT.queries.fvecs
//	vector data texts OUT -from DIR                  real texts, embedded with the built-in table
//	vector serve INDEX BASE QUERIES LIMIT            one index, for compare
//	vector compare -o OUT [-hnswlib PROGRAM] SET...  all indexes on SET.fvecs
//	vector insert BASE QUERIES LIMIT                 searches during inserts, for compare
//	vector open DIR [-n N]                           fills DIR, or opens the index in it
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vector:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: vector data|serve|compare|insert|open ...; see the package comment")

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	switch args[0] {
	case "data":
		return makeData(ctx, args[1:])
	case "serve":
		return serveIndex(ctx, args[1:])
	case "compare":
		return compareAll(ctx, args[1:])
	case "insert":
		return searchDuringInserts(ctx, args[1:], os.Stdout)
	case "open":
		return openStored(ctx, args[1:], os.Stdout)
	}
	return errUsage
}

func makeData(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	set := flag.NewFlagSet("data", flag.ContinueOnError)
	n := set.Int("n", 100_000, "rows (texts: at most)")
	dim := set.Int("dim", 384, "components of generated vectors")
	from := set.String("from", os.Getenv("RAGCTX_EVAL_DATA"), "folder with dev/ and trees/ (default $RAGCTX_EVAL_DATA)")
	if err := set.Parse(args[2:]); err != nil {
		return err
	}
	base, queries := args[1]+baseFile, args[1]+queryFile
	switch args[0] {
	case "clustered":
		return writeClustered(base, queries, *n, 1000, *dim, 1)
	case "texts":
		return writeTexts(ctx, *from, base, queries, *n)
	}
	return errUsage
}

// File name extensions of a set of vectors.
const (
	baseFile  = ".fvecs"
	queryFile = ".queries.fvecs"
)

func serveIndex(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return errUsage
	}
	base, err := openMatrix(args[1])
	if err != nil {
		return err
	}
	queries, err := openMatrix(args[2])
	if err != nil {
		return err
	}
	limit, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	x, err := newIndex(args[0])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	err = serve(ctx, x, base.head(limit), queries, os.Stdin, os.Stdout)
	if c, ok := x.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}

// newIndex returns an index by its name; "graph/24/200" is a graph with M 24 and
// EfConstruction 200.
func newIndex(name string) (index, error) {
	if name, of, ok := strings.Cut(name, "/"); name == "graph" {
		x := &graphIndex{}
		if ok {
			if _, err := fmt.Sscanf(of, "%d/%d", &x.options.M, &x.options.EfConstruction); err != nil {
				return nil, fmt.Errorf("index graph/%s: %w", of, err)
			}
		}
		return x, nil
	}
	switch name {
	case "flat":
		return &storedIndex{graph: "flat"}, nil
	case "native":
		return &storedIndex{graph: "native"}, nil
	case "coder/hnsw":
		return &coderIndex{}, nil
	case "chromem-go":
		return &chromemIndex{}, nil
	}
	return nil, fmt.Errorf("index %q is unknown", name)
}
