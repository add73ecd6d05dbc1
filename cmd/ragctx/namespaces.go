package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

const namespacesHelp = `A namespace holds documents, memories, ledgers and procedures apart from those of
others. One is made by the first thing that is stored in it; making it first is for
those that are to have quotas.`

func newNamespaces(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "namespaces",
		Short: "List, make, limit and erase namespaces",
		Long:  namespacesHelp,
		Example: `  ragctx namespaces list
  ragctx namespaces create billing --documents 1000 --text-bytes 50000000
  ragctx namespaces delete billing --erase`,
	}
	group(cmd)
	cmd.AddCommand(newNamespacesList(env), newNamespacesShow(env), newNamespacesCreate(env), newNamespacesLimit(env),
		newNamespacesDelete(env))
	return cmd
}

// oneNamespace completes a command about the namespace in its argument.
func oneNamespace(
	env lookupEnv, cmd *cobra.Command, do func(ctx context.Context, c *client, name string) (store.Namespace, error),
) *cobra.Command {
	var asJSON bool
	cmd.Args = exactly(1, "one argument, the name of a namespace")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
			n, err := do(ctx, c, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), n)
			}
			return writeNamespaces(cmd.OutOrStdout(), []store.Namespace{n})
		})
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func addQuotas(flags *pflag.FlagSet, q *store.Quotas) {
	flags.IntVar(&q.Documents, "documents", 0, "how many documents it may hold; 0 is no limit")
	flags.IntVar(&q.Memories, "memories", 0, "how many memories it may hold; 0 is no limit")
	flags.Int64Var(&q.TextBytes, "text-bytes", 0, "how many bytes of text they may have together; 0 is no limit")
}

func newNamespacesShow(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show what a namespace holds, and what it may",
		Example: "  ragctx namespaces show billing --json",
	}
	return oneNamespace(env, cmd, func(ctx context.Context, c *client, name string) (store.Namespace, error) {
		return c.DescribeNamespace(ctx, name)
	})
}

func newNamespacesCreate(env lookupEnv) *cobra.Command {
	var q store.Quotas
	cmd := &cobra.Command{Use: "create NAME", Short: "Make a namespace", Example: "  ragctx namespaces create billing --documents 1000"}
	addQuotas(cmd.Flags(), &q)
	return oneNamespace(env, cmd, func(ctx context.Context, c *client, name string) (store.Namespace, error) {
		return c.CreateNamespace(ctx, name, q)
	})
}

func newNamespacesLimit(env lookupEnv) *cobra.Command {
	var q store.Quotas
	cmd := &cobra.Command{
		Use: "limit NAME", Short: "Change the quotas of a namespace",
		Long:    "Limit changes all quotas of a namespace: one that is not given is none. What it holds beyond them stays.",
		Example: "  ragctx namespaces limit billing --documents 2000",
	}
	addQuotas(cmd.Flags(), &q)
	return oneNamespace(env, cmd, func(ctx context.Context, c *client, name string) (store.Namespace, error) {
		return c.SetQuotas(ctx, name, q)
	})
}

func newNamespacesList(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List namespaces and what they hold",
		Example: "  ragctx namespaces list --json",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				all, err := allNamespaces(ctx, c)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), all)
				}
				if len(all) == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), "no namespaces; the first thing that is stored in one makes it")
				}
				return writeNamespaces(cmd.OutOrStdout(), all)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func allNamespaces(ctx context.Context, c *client) ([]store.Namespace, error) {
	all, after := []store.Namespace{}, ""
	for {
		page, err := c.ListNamespaces(ctx, after, engine.MaxPage)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < engine.MaxPage {
			return all, nil
		}
		after = page[len(page)-1].Name
	}
}

func writeNamespaces(w io.Writer, all []store.Namespace) error {
	if len(all) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "NAMESPACE\tDOCUMENTS\tMEMORIES\tTEXT BYTES")
	for _, n := range all {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", printable(n.Name), ofLimit(int64(n.Documents), int64(n.Quotas.Documents)),
			ofLimit(int64(n.Memories), int64(n.Quotas.Memories)), ofLimit(n.TextBytes, n.Quotas.TextBytes))
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
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
		Short: "Erase a namespace with everything in it, for good",
		Long: `Delete removes a namespace with its documents, memories, turns, ledgers, procedures
and jobs, from the database, the indexes and their files. This cannot be undone, so it
asks for --erase.`,
		Example: "  ragctx namespaces delete billing --erase",
		Args:    exactly(1, "one argument, the name of a namespace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !erase {
				return badUsage("--erase: is not given; the namespace goes for good, so say so with it")
			}
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				e, err := c.EraseNamespace(ctx, args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "erased %s: %d documents, %d memories, %d turns, %d "+
					"messages, %d versions of procedures\n",
					printable(args[0]), e.Documents, e.Memories, e.Turns, e.Messages, e.Procedures)
				return err
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().BoolVar(&erase, "erase", false, "remove it for good")
	return cmd
}
