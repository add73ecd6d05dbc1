package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log" //nolint:depguard // only to silence what dependencies print through it
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() { os.Exit(realMain()) }

// realMain runs the program with the process's arguments and streams. The first interrupt ends
// commands in order; the second one kills the process.
func realMain() int {
	log.SetOutput(io.Discard) // the search library logs there; its failures are returned as errors
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// run runs one command line and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(os.LookupEnv)
	root.SetArgs(args)
	root.SetIn(stdin)
	out, flush := terminalWriter(stdout)
	defer flush()
	root.SetOut(out)
	root.SetErr(stderr)
	strictBuiltins(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, args, err) })
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errInterrupted // the errors of interrupted calls do not matter
	}
	if !errors.Is(err, errSilent) {
		fmt.Fprintln(stderr, "ragctx:", escaped(withoutPackages(asWritten(cmd, withRemedy(err)))))
	}
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return exitUsage
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	default:
		return exitFailed
	}
}

// errInterrupted is the error of a command that the user ended.
var errInterrupted = errors.New("interrupted")

// errSilent sets the exit status and prints nothing.
var errSilent = errors.New("it failed")

// usageError is a mistake in the command line.
type usageError struct{ err error }

// Error implements error.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the mistake.
func (e *usageError) Unwrap() error { return e.err }

func badUsage(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// asUsage marks err, if any, as a mistake in the command line.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// packageErrors are the names of packages with which errors begin. The flag --index is none.
var packageErrors = regexp.MustCompile(
	`(^|[^-\w])(?:(?:atomicfile|blockmax|engine|events|extract|hnsw|index|keyword|ledger|procedures|vector): )+`)

// withoutPackages returns a message without names of packages, which mean nothing to users.
func withoutPackages(message string) string {
	return packageErrors.ReplaceAllString(message, "$1")
}

// oneLine joins the lines of joined errors.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
