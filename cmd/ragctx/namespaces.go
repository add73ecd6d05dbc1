package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

const namespacesHelp = `A namespace isolates documents, memories, ledgers and procedures from other namespaces. The
first write into a namespace makes it. 'ragctx namespaces create' makes one with quotas.`

func newNamespaces(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "namespaces",
		Short: "List, make and erase namespaces",
		Long:  namespacesHelp,
		Example: `  ragctx namespaces list
  ragctx namespaces create billing --documents 1000 --text-bytes 50000000
  ragctx namespaces delete billing --erase`,
	}
	group(cmd)
	cmd.AddCommand(newNamespacesList(env), newNamespacesCreate(env), newNamespacesDelete(env))
	return cmd
}

func newNamespacesCreate(env lookupEnv) *cobra.Command {
	var q store.Quotas
	var asJSON bool
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a namespace with quotas",
		Long: "Create makes a namespace, which may have quotas. A request to the route of the second\n" +
			"example changes them.",
		Example: `  ragctx namespaces create billing --documents 1000
  ragctx api PUT /v1/namespaces/billing/quotas -d '{"documents": 2000}'`,
		Args: exactly(1, "one argument, the name of a namespace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				n, err := c.CreateNamespace(ctx, args[0], q)
				return show(cmd.OutOrStdout(), asJSON, []store.Namespace{n}, err, writeNamespaces)
			})
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	countVar(flags, &q.Documents, "documents", 0, 0, noLimit, "how many documents it may hold; 0 is no limit")
	countVar(flags, &q.Memories, "memories", 0, 0, noLimit, "how many memories it may hold; 0 is no limit")
	flags.Int64Var(&q.TextBytes, "text-bytes", 0, "how many bytes of text it may hold; 0 is no limit")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func newNamespacesList(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List namespaces and their contents",
		Example: "  ragctx namespaces list --json",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				all, err := allNamespaces(ctx, c)
				if err == nil && len(all) == 0 && !asJSON {
					fmt.Fprintln(cmd.ErrOrStderr(), "no namespaces; the first write into one makes it")
				}
				return show(cmd.OutOrStdout(), asJSON, all, err, writeNamespaces)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func allNamespaces(ctx context.Context, c *client) ([]store.Namespace, error) {
	return allPages(func(last store.Namespace) ([]store.Namespace, error) {
		return c.ListNamespaces(ctx, last.Name, engine.MaxPage)
	})
}

func writeNamespaces(w io.Writer, all []store.Namespace) error {
	return writeTable(w, "NAMESPACE\tDOCUMENTS\tMEMORIES\tTEXT BYTES", all, func(n store.Namespace) []any {
		return []any{
			n.Name, ofLimit(int64(n.Documents), int64(n.Quotas.Documents)),
			ofLimit(int64(n.Memories), int64(n.Quotas.Memories)), ofLimit(n.TextBytes, n.Quotas.TextBytes),
		}
	})
}

// ofLimit writes a count and its limit.
func ofLimit(n, most int64) string {
	if most == 0 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%d of %d", n, most)
}

func newNamespacesDelete(env lookupEnv) *cobra.Command {
	var erase bool
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Erase a namespace with everything in it",
		Long: `Delete erases a namespace with its documents, memories, turns, ledgers, procedures and
jobs from the database, the indexes and their files. This cannot be undone, so the command
requires --erase.`,
		Example: "  ragctx namespaces delete billing --erase",
		Args:    exactly(1, "one argument, the name of a namespace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !erase {
				return errEraseMissing()
			}
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				_, err := c.DescribeNamespace(ctx, args[0])
				if err != nil {
					return err
				}
				e, err := c.EraseNamespace(ctx, args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "erased %s: %s, %s, %s, %s, %s of procedures\n",
					printable(args[0]), amount(e.Documents, "document"), amount(e.Memories, "memory"), amount(e.Turns, "turn"),
					amount(e.Messages, "message"), amount(e.Procedures, "version"))
				return err
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	eraseFlag(cmd.Flags(), &erase)
	return cmd
}
