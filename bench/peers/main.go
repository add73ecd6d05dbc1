// Command peers prepares the data for the comparison with other systems, and serves the systems
// that are Go libraries; run.sh runs it.
//
//	peers judged SET OUT [-questions N]              a judged collection -> OUT
//	peers corpus OUT [-n CHUNKS] [-queries N] PATH…  documents (folders, .tar.gz) -> OUT
//	peers serve NAME                                 one system, for measure.py
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: peers judged|corpus|serve ...; see the package comment")

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "judged":
		questions := set.Int("questions", 300, "the most questions")
		if len(args) < 3 {
			return errUsage
		}
		if err := set.Parse(args[3:]); err != nil {
			return err
		}
		return exportJudged(ctx, args[1], args[2], *questions)
	case "corpus":
		chunks := set.Int("n", 20_000, "chunks, at least; the last document is whole")
		queries := set.Int("queries", 1000, "sentences of the documents to ask for")
		if err := set.Parse(args[2:]); err != nil {
			return err
		}
		return exportCorpus(ctx, args[1], set.Args(), *chunks, *queries)
	case "serve":
		p, err := newPeer(args[1])
		if err != nil {
			return err
		}
		return serve(ctx, p, os.Stdin, os.Stdout)
	}
	return errUsage
}

func newPeer(name string) (peer, error) {
	switch name {
	case "ragctx":
		return &ragctxPeer{}, nil
	case "bleve":
		return &blevePeer{}, nil
	case "chromem-go":
		return &chromemPeer{}, nil
	}
	return nil, fmt.Errorf("system %q is unknown", name)
}
