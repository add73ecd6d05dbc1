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
		Short: "List documents with the same or nearly the same text",
		Long: `Duplicates lists groups of documents with the same text, or with at least 80 % of their
runs of words in common. Answers show equal passages once. Nearly equal passages, such as
pages of an old and a new release, compete with each other. Leave one of them out with
'ragctx ingest --exclude', or give it a namespace of its own.`,
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
	prefixFlag(cmd.Flags(), &prefix)
	limitFlag(cmd.Flags(), &limit, 100, 1, engine.MaxPage)
	jsonFlag(cmd.Flags(), &asJSON)
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
		fmt.Fprintf(w, "%s, %s:\n", amount(len(g.IDs), "document"), how)
		for _, id := range g.IDs {
			fmt.Fprintf(w, "  %s\n", printable(id))
		}
	}
	if more := list.Total - len(list.Groups); more > 0 {
		fmt.Fprintf(w, "and %s more (--limit lists them)\n", amount(more, "group"))
	}
}
