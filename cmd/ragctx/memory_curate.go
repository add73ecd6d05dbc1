package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

func newMemoryDelete(env lookupEnv) *cobra.Command {
	var user string
	var erase bool
	cmd := &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete memories",
		Long: "Delete takes memories out of every answer; questions about an earlier time still find\n" +
			"them, and undo brings them back. With --erase they are removed for good, with their\n" +
			"history and the turns that they were made of.",
		Example: `  ragctx memory delete ID
  ragctx memory delete --erase ID`,
		Args: atLeast(1, "the ID of a memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				return deleteMemories(ctx, cmd.OutOrStdout(), c, s.Namespace, args, viewer(user), erase)
			})
		},
	}
	viewerFlag(cmd.Flags(), &user)
	cmd.Flags().BoolVar(&erase, "erase", false, "remove them for good, which cannot be undone")
	return cmd
}

// deleteMemories deletes as many memories as possible, and the error names the others.
func deleteMemories(ctx context.Context, w io.Writer, c *client, namespace string, ids []string, by engine.Viewer, erase bool) error {
	var errs []error
	for _, id := range ids {
		var err error
		verb := "deleted"
		if erase {
			verb = "erased"
			_, err = c.EraseMemory(ctx, namespace, id, by.User, by.Anyone)
		} else {
			err = c.DeleteMemory(ctx, namespace, id, by.User, by.Anyone)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", ragctx.Clip(id), err))
			continue
		}
		fmt.Fprintln(w, verb, printable(id))
	}
	return errors.Join(errs...)
}

func newMemoryTag(env lookupEnv) *cobra.Command {
	var scope memoryScope
	var remove []string
	cmd := &cobra.Command{
		Use:   "tag [ID [TAG...]]",
		Short: "Add and remove tags of a memory, or count all tags",
		Long: "Tag adds the TAGs to a memory and takes away those of --remove, and prints what it has\n" +
			"then. Without an ID it lists the tags of the memories in scope, with how many carry each.",
		Example: `  ragctx memory tag
  ragctx memory tag ID style french
  ragctx memory tag ID --remove draft`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := scope.filter()
			if err != nil {
				return err
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				if len(args) == 0 {
					f.Limit = engine.MaxPage
					return writeTags(ctx, cmd.OutOrStdout(), c, s.Namespace, f)
				}
				p := memory.Patch{AddTags: args[1:], RemoveTags: remove}
				m, _, err := c.ReviseMemory(ctx, s.Namespace, args[0], viewer(scope.user), p)
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), printable(strings.Join(m.Tags, ", ")))
				}
				return err
			})
		},
	}
	scope.add(cmd.Flags())
	cmd.Flags().StringArrayVar(&remove, "remove", nil, "tag to take away; may be repeated")
	return cmd
}

func writeTags(ctx context.Context, w io.Writer, c *client, namespace string, f store.MemoryFilter) error {
	f.Limit = engine.MaxPage
	var last store.TagCount
	for {
		tags, err := c.MemoryTags(ctx, namespace, f, last)
		if err != nil {
			return err
		}
		for _, t := range tags {
			fmt.Fprintf(w, "%7d  %s\n", t.Count, printable(t.Tag))
			last = t
		}
		if len(tags) < f.Limit {
			return nil
		}
	}
}

func newMemoryStats(env lookupEnv) *cobra.Command {
	var scope memoryScope
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Count memories by tier, type, kind and state",
		Example: "  ragctx memory stats --all-users",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := scope.filter()
			if err != nil {
				return err
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				st, err := c.MemoryStats(ctx, s.Namespace, f)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), st)
				}
				return writeStats(cmd.OutOrStdout(), st)
			})
		},
	}
	scope.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func writeStats(w io.Writer, st store.MemoryStats) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(n int, what string) { fmt.Fprintf(tw, "%d\t  %s\n", n, what) }
	row(st.LongTerm, "memories")
	row(st.ShortTerm, "short-term, the newest of them")
	for _, t := range slices.Sorted(maps.Keys(st.ByType)) {
		row(st.ByType[t], printable(t))
	}
	for _, k := range slices.Sorted(maps.Keys(st.ByKind)) {
		row(st.ByKind[k], printable(k)+", found in turns")
	}
	row(st.Quarantined, "in quarantine")
	row(st.Superseded, "earlier versions and deleted ones")
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write statistics: %w", err)
	}
	return nil
}

const quarantineHelp = `Quarantine lists memories that are not believed before somebody has looked at them,
oldest first: above all what tools and documents say in the manner of instructions. No
answer shows them. 'ragctx memory release' lets one in, 'ragctx memory discard' removes it.`

func newMemoryQuarantine(env lookupEnv) *cobra.Command {
	var scope memoryScope
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "quarantine",
		Short: "List memories that wait for somebody to look at them",
		Long:  quarantineHelp,
		Example: `  ragctx memory quarantine --all-users
  ragctx memory show ID
  ragctx memory release ID`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := scope.filter()
			if err != nil {
				return err
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				all, err := allQuarantined(ctx, c, s.Namespace, f)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), all)
				}
				if len(all) == 0 {
					printNone(ctx, cmd.ErrOrStderr(), c, s.Namespace, "memories in quarantine that these conditions see")
				}
				return writeQuarantine(cmd.OutOrStdout(), all)
			})
		},
	}
	scope.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func allQuarantined(ctx context.Context, c *client, namespace string, f store.MemoryFilter) ([]store.Quarantined, error) {
	all := []store.Quarantined{}
	f.Limit = engine.MaxPage
	for after := int64(0); ; {
		page, next, err := c.Quarantine(ctx, namespace, f, after)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if after = next; next == 0 {
			return all, nil
		}
	}
}

func writeQuarantine(w io.Writer, list []store.Quarantined) error {
	if len(list) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tUSER\tSINCE\tREASON\tCONTENT")
	for _, q := range list {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", printable(q.ID), orDash(q.UserID), localTime(q.Since),
			printable(q.Reason), brief(q.Content))
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
}

func newMemoryRelease(env lookupEnv) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:     "release ID",
		Short:   "Let a memory out of quarantine",
		Example: "  ragctx memory release ID",
	}, func(ctx context.Context, w io.Writer, c *client, namespace, id string, by engine.Viewer) error {
		_, err := c.ReleaseMemory(ctx, namespace, id, by)
		if err == nil {
			fmt.Fprintln(w, "released", printable(id))
		}
		return err
	})
}

func newMemoryDiscard(env lookupEnv) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:     "discard ID",
		Short:   "Remove a memory from quarantine",
		Example: "  ragctx memory discard ID",
	}, func(ctx context.Context, w io.Writer, c *client, namespace, id string, by engine.Viewer) error {
		err := c.DiscardMemory(ctx, namespace, id, by)
		if err == nil {
			fmt.Fprintln(w, "discarded", printable(id))
		}
		return err
	})
}
