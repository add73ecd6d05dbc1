package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

func newSessionsExport(env lookupEnv) *cobra.Command {
	return sessionCommand(env, &cobra.Command{
		Use: "export SESSION [FILE]", Short: "Write a session as JSON lines",
		Long: "Export writes a session with all branches, but without its observations, one JSON object per\n" +
			"line, for 'ragctx sessions import'. Without FILE, or with -, it goes to standard output.",
		Example: "  ragctx sessions export s-42 s-42.jsonl",
	}, between(1, 2, "one SESSION and at most one FILE"), func(ctx context.Context, t sessionClient) error {
		write := func(w io.Writer) error { return t.ExportSession(ctx, t.key, w) }
		if len(t.args) == 0 || t.args[0] == "-" {
			return write(t.out)
		}
		return atomicfile.WriteFile(atomicfile.OS{}, t.args[0], write)
	})
}

func newSessionsImport(env lookupEnv) *cobra.Command {
	return sessionCommand(env, &cobra.Command{
		Use: "import SESSION FILE", Short: "Make a session that was exported",
		Long: "Import makes a session from an export, or from a file of Cognesy, with its ids and times. It\n" +
			"skips and names lines that it cannot read; then the exit status is 1. FILE - is standard\n" +
			"input.",
		Example: "  ragctx sessions import s-42 s-42.jsonl\n  ragctx sessions export s-42 | ragctx sessions import s-42 - --data ./new",
	}, exactly(2, "one SESSION and one FILE"), func(ctx context.Context, t sessionClient) error {
		r := io.NopCloser(t.in)
		if t.args[0] != "-" {
			f, err := os.Open(t.args[0])
			if err != nil {
				return err
			}
			r = f
		}
		defer r.Close()
		done, err := t.ImportSession(ctx, t.key, r)
		if err != nil {
			return err
		}
		for _, q := range done.Quarantined {
			fmt.Fprintf(t.err, "line %d: %s\n", q.Line, printable(q.Reason))
		}
		return errors.Join(t.say(false, nil, "%s imported, %s skipped", amount(done.Session.Messages, "message"),
			amount(done.Failed, "line")),
			notImported(done.Failed))
	})
}
