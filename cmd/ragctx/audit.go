package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

const auditHelp = `Audit shows what servers of the data directory were asked to change, the newest
first: when, with which key, what, and the status of the answer. There are names in it
and no contents. What commands do to a data directory that no server has open is not
noted.`

func newAudit(env lookupEnv) *cobra.Command {
	var f store.AuditFilter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show what was changed, and by whom",
		Long:  auditHelp,
		Example: `  ragctx audit --limit 20
  ragctx audit --key KEY_ID --json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				entries, err := c.AuditLog(ctx, f)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), entries)
				}
				if len(entries) == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), "nothing is noted that these conditions see")
				}
				return writeAudit(cmd.OutOrStdout(), entries)
			})
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	flags.StringVar(&f.Key, "key", "", "only what was asked with the API key of this id")
	flags.StringVar(&f.Namespace, "of", "", "only what is about this namespace")
	countVar(flags, &f.Limit, "limit", engine.DefaultPage, 1, engine.MaxPage, "how many")
	flags.BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func writeAudit(w io.Writer, entries []store.AuditEntry) error {
	if len(entries) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "AT\tKEY\tOPERATION\tNAMESPACE\tABOUT\tSTATUS\tREQUEST")
	for _, e := range entries {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", localTime(e.At), printable(cmp.Or(e.KeyName, e.Key, "-")), e.Operation,
			printable(cmp.Or(e.Namespace, "-")), printable(cmp.Or(e.Target, "-")), e.Status, printable(e.Request))
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
}
