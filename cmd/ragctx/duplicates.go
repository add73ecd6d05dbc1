package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
)

func newDocsDuplicates(env lookupEnv) *cobra.Command {
	var prefix string
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "duplicates",
		Short: "List documents that say the same, or nearly the same",
		Long: `Duplicates lists documents in groups that have the same text, or at least 80 % of
their runs of words in common. Answers show equal passages once in any case; nearly
equal ones (pages of an old and a new release, say) compete with each other, and one
of them is often not wanted: leave it out with 'ragctx ingest --exclude', or give it a
namespace of its own.`,
		Example: `  ragctx docs duplicates
  ragctx docs duplicates --prefix handbook/ --json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				list, err := c.Duplicates(ctx, s.Namespace, prefix, limit)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), list)
				}
				writeDuplicates(cmd.OutOrStdout(), list)
				return nil
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().StringVar(&prefix, "prefix", "", "only groups of which an id starts with this")
	countVar(cmd.Flags(), &limit, "limit", 100, 1, engine.MaxPage, "most groups to list, up to 1,000")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// writeDuplicates lists groups of documents.
func writeDuplicates(w io.Writer, list api.DuplicateList) {
	if list.Total == 0 {
		fmt.Fprintln(w, "no duplicates")
	}
	for _, g := range list.Groups {
		how := "the same"
		if !g.Exact {
			how = fmt.Sprintf("%.0f %% or more in common", 100*g.Similarity)
		}
		fmt.Fprintf(w, "%d documents, %s:\n", len(g.IDs), how)
		for _, id := range g.IDs {
			fmt.Fprintf(w, "  %s\n", printable(id))
		}
	}
	if more := list.Total - len(list.Groups); more > 0 {
		fmt.Fprintf(w, "and %d groups more (--limit lists them)\n", more)
	}
}
