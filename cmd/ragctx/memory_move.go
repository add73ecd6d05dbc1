package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

func newMemoryPrune(env lookupEnv) *cobra.Command {
	var scope memoryScope
	var dry bool
	p := ragctx.DefaultPrunePolicy()
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete old and unimportant memories",
		Long: "Prune deletes memories that are older than --max-age and below --min-importance. With\n" +
			"--max-items it also deletes the memories with the lowest score beyond that number. Pinned\n" +
			"memories stay. It prints the deleted memories; 'ragctx memory undo' restores them.",
		Example: `  ragctx memory prune --dry-run --all-users
  ragctx memory prune --max-age 180d --min-importance 0.3
  ragctx memory prune --user ada --max-items 1000`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := scope.filter()
			if err != nil {
				return err
			}
			if !(p.MinImportance >= 0 && p.MinImportance <= 1) {
				return badUsage("--min-importance: is %v; use 0 to 1", p.MinImportance)
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				pruned, err := c.PruneMemories(ctx, s.Namespace, f, p, dry)
				if err != nil {
					return err
				}
				for _, id := range pruned.IDs {
					fmt.Fprintln(cmd.OutOrStdout(), printable(id))
				}
				verb := "pruned"
				if dry {
					verb = "would prune"
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", verb, amount(len(pruned.IDs), "memory"))
				if pruned.More {
					fmt.Fprintln(cmd.ErrOrStderr(), "there are more; run it again")
				}
				return nil
			})
		},
	}
	flags := cmd.Flags()
	scope.add(flags)
	flags.Var(ttlFlag{&p.MaxAge}, "max-age", "delete unimportant memories that are older, such as 90d")
	flags.Float64Var(&p.MinImportance, "min-importance", p.MinImportance, "delete old memories below this importance, 0 to 1")
	countVar(flags, &p.MaxItems, "max-items", 0, 0, noLimit, "how many memories to keep; 0 is all")
	dryRunFlag(flags, &dry)
	return cmd
}

func newMemoryExport(env lookupEnv) *cobra.Command {
	var f memoryFlags
	var history bool
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write memories as JSON lines",
		Long: "Export writes memories with their origin, one JSON object per line, for 'ragctx memory\n" +
			"import'. Without FILE, or with -, they go to standard output.",
		Example: `  ragctx memory export memories.ndjson --all-users
  ragctx memory export --user ada --history | jq .content`,
		Args: between(0, 1, "at most one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				write := func(w io.Writer) error { return c.ExportMemories(ctx, s.Namespace, filter, history, w) }
				if len(args) == 0 || args[0] == "-" {
					return write(cmd.OutOrStdout())
				}
				return atomicfile.WriteFile(atomicfile.OS{}, args[0], write)
			})
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&history, "history", false, "add the history of each memory")
	return cmd
}

func newMemoryImport(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Store memories that were exported",
		Long: "Import stores the memories of an export in the namespace, with their ids, times and\n" +
			"types. It skips and names invalid lines; then the exit status is 1. Importing again\n" +
			"changes nothing. " +
			"FILE - is standard input.",
		Example: `  ragctx memory import memories.ndjson
  ragctx memory export --namespace old --all-users | ragctx memory import - --data ./new`,
		Args: exactly(1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				r := io.NopCloser(cmd.InOrStdin())
				if args[0] != "-" {
					f, err := os.Open(args[0])
					if err != nil {
						return err
					}
					r = f
				}
				defer r.Close()
				done, err := c.ImportMemories(ctx, s.Namespace, r)
				return errors.Join(err, printMemoryImport(cmd.OutOrStdout(), cmd.ErrOrStderr(), done))
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	return cmd
}

// printMemoryImport prints the result of an import. Lines that failed are an error.
func printMemoryImport(stdout, stderr io.Writer, done api.MemoryImport) error {
	for _, e := range done.Errors {
		id := e.ID
		if id != "" {
			id = " (" + printable(id) + ")"
		}
		fmt.Fprintf(stderr, "line %d%s: %s\n", e.Line, id, printable(e.Error))
	}
	if _, err := fmt.Fprintf(stdout, "%d created, %d replaced, %d unchanged, %d failed\n", done.Created, done.Replaced,
		done.Unchanged, done.Failed); err != nil {
		return err
	}
	return notImported(done.Failed)
}

// notImported returns the error of an import in which n lines failed.
func notImported(n int) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s not imported; see above", amount(n, "line"))
}

// expiryOf returns the time ttl from now; the zero time is never.
func expiryOf(now time.Time, ttl time.Duration) time.Time {
	if ttl == 0 {
		return time.Time{}
	}
	return now.Add(ttl)
}
