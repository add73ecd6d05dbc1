// Command lab measures what only the makers of ragctx need.
//
//	lab soak -data DIR [flags]       keeps a server busy and checks whether it grows
//	lab report [flags] REPORT.json   shows a report of "ragctx bench --json", compares it, draws it
//
// "lab soak -h" and "lab report -h" list the flags.
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
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: lab soak|report ...; see the package comment")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case "soak":
		return runSoak(ctx, args[1:], os.Stdout)
	case "report":
		return runReport(args[1:], os.Stdout)
	}
	return errUsage
}
