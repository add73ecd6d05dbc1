package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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
		Use:     "delete ID...",
		Aliases: []string{"discard"},
		Short:   "Delete memories, even those in quarantine",
		Long: "Delete removes memories from every answer. Queries about an earlier time still find\n" +
			"them, and 'ragctx memory undo' restores them. --erase also removes their history and the\n" +
			"turns that they were extracted from, permanently.",
		Example: `  ragctx memory delete ID
  ragctx memory delete --erase ID`,
		Args: atLeastOne("the ID of a memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				return deleteMemories(ctx, cmd.OutOrStdout(), c, s.Namespace, args, viewer(user), erase)
			})
		},
	}
	viewerFlag(cmd.Flags(), &user)
	eraseFlag(cmd.Flags(), &erase)
	return cmd
}

// deleteMemories deletes as many memories as possible, and the error names the others.
func deleteMemories(ctx context.Context, w io.Writer, c *client, namespace string, ids []string, by engine.Viewer, erase bool) error {
	var errs []error
	for _, id := range ids {
		verb, remove := "deleted", c.deleteMemory
		if erase {
			verb, remove = "erased", c.eraseMemory
		}
		if err := remove(ctx, namespace, id, by); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", ragctx.Clip(id), err))
			continue
		}
		fmt.Fprintln(w, verb, printable(id))
	}
	return errors.Join(errs...)
}

// deleteMemory deletes a memory. One in quarantine is discarded.
func (c *client) deleteMemory(ctx context.Context, namespace, id string, by engine.Viewer) error {
	switch m, err := c.FindMemory(ctx, namespace, id, by); {
	case err != nil:
		return err
	case m.State == ragctx.MemoryQuarantined:
		return c.DiscardMemory(ctx, namespace, id, by)
	default:
		return c.DeleteMemory(ctx, namespace, id, by.User, by.Anyone)
	}
}

// eraseMemory erases a memory, which must have a history, as deleted ones have.
func (c *client) eraseMemory(ctx context.Context, namespace, id string, by engine.Viewer) error {
	if _, err := c.MemoryHistory(ctx, namespace, id, by); err != nil {
		return err
	}
	_, err := c.EraseMemory(ctx, namespace, id, by.User, by.Anyone)
	return err
}

func newMemoryTag(env lookupEnv) *cobra.Command {
	var user string
	var remove []string
	cmd := &cobra.Command{
		Use:   "tag ID [TAG...]",
		Short: "Add and remove tags of a memory",
		Long:  "Tag adds TAGs to a memory, removes those of --remove, and prints the memory's tags.",
		Example: `  ragctx memory tag ID style french
  ragctx memory tag ID --remove draft
  ragctx api GET /v1/memories:tags -q all_users=true`,
		Args: atLeastOne("the ID of a memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				p := memory.Patch{AddTags: args[1:], RemoveTags: remove}
				m, _, err := c.ReviseMemory(ctx, s.Namespace, args[0], viewer(user), p)
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), printable(strings.Join(m.Tags, ", ")))
				}
				return err
			})
		},
	}
	viewerFlag(cmd.Flags(), &user)
	cmd.Flags().StringArrayVar(&remove, "remove", nil, "tag to remove; may be repeated")
	return cmd
}

const quarantineHelp = `Quarantine lists the memories that wait for a person, oldest first, above all texts of
tools and documents that give instructions. No answer shows them. 'ragctx memory release'
accepts one, 'ragctx memory delete' removes it.`

func newMemoryQuarantine(env lookupEnv) *cobra.Command {
	var scope memoryScope
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "quarantine",
		Short: "List the memories that wait for a person",
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
				if err == nil && len(all) == 0 && !asJSON {
					printNone(ctx, cmd.ErrOrStderr(), c, s.Namespace, "memories in quarantine that these conditions see")
				}
				return show(cmd.OutOrStdout(), asJSON, all, err, writeQuarantine)
			})
		},
	}
	scope.add(cmd.Flags())
	jsonFlag(cmd.Flags(), &asJSON)
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
	return writeTable(w, "ID\tUSER\tSINCE\tREASON\tCONTENT", list, func(q store.Quarantined) []any {
		return []any{q.ID, cmp.Or(q.UserID, "-"), localTime(q.Since), q.Reason, brief(q.Content)}
	})
}

func newMemoryRelease(env lookupEnv) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:     "release ID",
		Short:   "Accept a memory of the quarantine",
		Example: "  ragctx memory release ID",
	}, func(ctx context.Context, w io.Writer, c *client, namespace, id string, by engine.Viewer) error {
		_, err := c.ReleaseMemory(ctx, namespace, id, by)
		if err == nil {
			fmt.Fprintln(w, "released", printable(id))
		}
		return err
	})
}
