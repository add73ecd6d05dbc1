package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/ledger"
)

func newLedgerExport(env lookupEnv) *cobra.Command {
	var m messageFlags
	cmd := clusterCommand(env, &cobra.Command{
		Use:   "export CLUSTER [FILE]",
		Short: "Write messages as JSON lines",
		Long: "Export writes the messages of a cluster in order, one JSON object per line, for\n" +
			"'ragctx ledger import'. Without FILE, or with -, they go to standard output.",
		Example: `  ragctx ledger export issue-17 issue-17.ndjson
  ragctx ledger export issue-17 --topic VALIDATION_RESULT | jq .data`,
	}, between(1, 2, "one CLUSTER and at most one FILE"), func(ctx context.Context, cmd *cobra.Command, c *client,
		f ledger.Filter, args []string,
	) error {
		if last, err := c.LastMessage(ctx, f.Namespace, f.Cluster); err != nil || last == 0 {
			return cmp.Or(err, noCluster(f.Cluster))
		}
		write := func(w io.Writer) error { return c.ExportMessages(ctx, ledger.Query{Filter: m.narrow(f)}, w) }
		if len(args) == 0 || args[0] == "-" {
			return write(cmd.OutOrStdout())
		}
		return atomicfile.WriteFile(atomicfile.OS{}, args[0], write)
	})
	m.add(cmd.Flags())
	return cmd
}

func newLedgerImport(env lookupEnv) *cobra.Command {
	return clusterCommand(env, &cobra.Command{
		Use:   "import CLUSTER FILE",
		Short: "Append messages that were exported",
		Long: "Import appends the messages of an export, or of a ledger of Zeroshot as JSON lines, with\n" +
			"their ids and times. It skips and names lines that are invalid or of another cluster;\n" +
			"then the exit status is 1. Importing again changes nothing. FILE - is standard input.",
		Example: `  ragctx ledger import issue-17 issue-17.ndjson
  ragctx ledger export issue-17 | ragctx ledger import issue-17 - --data ./new`,
	}, exactly(2, "one CLUSTER and one FILE"), func(ctx context.Context, cmd *cobra.Command, c *client,
		f ledger.Filter, args []string,
	) error {
		r := io.NopCloser(cmd.InOrStdin())
		if args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			r = file
		}
		defer r.Close()
		done, err := c.ImportMessages(ctx, f.Namespace, f.Cluster, r)
		return errors.Join(err, printImported(cmd.OutOrStdout(), cmd.ErrOrStderr(), done))
	})
}

// printImported prints the result of an import. Lines that failed are an error.
func printImported(stdout, stderr io.Writer, done ledger.Imported) error {
	for _, e := range done.Errors {
		fmt.Fprintf(stderr, "line %d: %s\n", e.Line, printable(e.Error))
	}
	if _, err := fmt.Fprintf(stdout, "%d imported, %d unchanged, %d failed\n", done.Imported, done.Unchanged, done.Failed); err != nil {
		return err
	}
	return notImported(done.Failed)
}
