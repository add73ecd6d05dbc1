package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

func newMemoryShow(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := memoryCommand(env, &cobra.Command{
		Use:   "show ID",
		Short: "Show a memory and its origin",
		Long: "Show prints a memory, even one in quarantine: its text, subject and attributes, the turns\n" +
			"that state it, and the number of answers that used it.",
		Example: `  ragctx memory show ID
  ragctx memory show ID --json`,
	}, func(ctx context.Context, w io.Writer, c *client, namespace, id string, by engine.Viewer) error {
		m, err := c.FindMemory(ctx, namespace, id, by)
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(w, m)
		}
		writeMemory(w, m)
		return nil
	})
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func writeMemory(w io.Writer, m store.Quarantined) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-11s %s\n", name+":", printable(value))
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			line(name, t.Local().Format("2006-01-02 15:04:05 MST"))
		}
	}
	if m.Version > 0 {
		fmt.Fprintf(w, "%s, version %d\n", printable(m.ID), m.Version)
	} else {
		fmt.Fprintln(w, printable(m.ID))
	}
	line("state", string(m.State))
	line("reason", m.Reason)
	line("type", string(m.Type))
	line("importance", fmt.Sprintf("%.2f", m.Importance))
	line("marks", strings.Join(marks(m.Memory), ", "))
	line("user", m.UserID)
	line("agent", m.AgentID)
	line("session", m.SessionID)
	line("tags", strings.Join(m.Tags, ", "))
	for _, key := range slices.Sorted(maps.Keys(m.Metadata)) {
		line(key, fmt.Sprint(m.Metadata[key]))
	}
	at("occurred", m.Occurred)
	at("recorded", m.Recorded)
	at("expires", m.Expires)
	if m.Uses > 0 {
		line("used", fmt.Sprintf("%s, last %s", amount(m.Uses, "time"), localTime(m.LastUsed)))
	}
	writeAboutMemory(line, m.Memory)
	fmt.Fprintf(w, "\n%s\n", visible(strings.TrimRight(m.Content, "\n")))
}

func marks(m ragctx.Memory) []string {
	var out []string
	if m.Profile {
		out = append(out, "profile")
	}
	if m.Pinned {
		out = append(out, "pinned")
	}
	return out
}

// writeAboutMemory prints the facts that turns had.
func writeAboutMemory(line func(name, value string), m ragctx.Memory) {
	if a := m.About; a != nil {
		line("kind", string(a.Kind))
		line("about", strings.Join(slices.DeleteFunc([]string{a.Subject, a.Attribute, a.Value},
			func(s string) bool { return s == "" }), " / "))
		line("confidence", fmt.Sprintf("%.2f, by %s: %s", a.Confidence, a.Rule, a.Reason))
		line("when", a.When)
	}
	for _, e := range m.Sources {
		line("source", fmt.Sprintf("turn %s of %s, message %d, characters %d to %d", e.Turn, localTime(e.At), e.Message, e.Start, e.End))
	}
}

func newMemoryHistory(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := memoryCommand(env, &cobra.Command{
		Use:   "history ID",
		Short: "Show the changes of a memory",
		Long: "History shows the changes of a memory, oldest first: the author, the turn, and the texts\n" +
			"before and after. Deleted memories have a history, too.",
		Example: `  ragctx memory history ID
  ragctx memory history ID --json`,
	}, func(ctx context.Context, w io.Writer, c *client, namespace, id string, by engine.Viewer) error {
		changes, err := c.MemoryHistory(ctx, namespace, id, by)
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(w, changes)
		}
		for _, c := range changes {
			fmt.Fprintln(w, changeLine(c))
		}
		return nil
	})
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// changeLine returns a change in one line.
func changeLine(c ragctx.MemoryChange) string {
	line := fmt.Sprintf("%s  %s by %s", localTime(c.At), c.Op, printable(c.By))
	if c.Undone {
		line += " (undone)"
	}
	if c.Turn != "" {
		line += ", turn " + printable(c.Turn)
	}
	if c.Other != "" {
		line += ", memory " + printable(c.Other)
	}
	if c.Reason != "" {
		line += ", " + printable(c.Reason)
	}
	switch {
	case c.Content != "" && c.Previous != "" && c.Content != c.Previous:
		line += fmt.Sprintf(": %s -> %s", brief(c.Previous), brief(c.Content))
	case c.Content != "":
		line += ": " + brief(c.Content)
	case c.Previous != "":
		line += ": " + brief(c.Previous)
	}
	return line
}

func newMemoryUndo(env lookupEnv) *cobra.Command {
	var user, turn string
	cmd := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Undo the newest change of a memory, or the memories of a turn",
		Long: "Undo reverts the newest change of a memory. A created memory is deleted; a deleted, replaced\n" +
			"or superseded one is restored. A second undo reverts the change before. With --turn it\n" +
			"reverts all memories that were extracted from a turn; the turn itself stays.",
		Example: `  ragctx memory undo ID
  ragctx memory undo --turn TURN`,
		Args: func(_ *cobra.Command, args []string) error {
			if (len(args) == 1) == (turn != "") || len(args) > 1 {
				return badUsage("takes one ID, or --turn")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				if turn != "" {
					return undoTurn(ctx, cmd.OutOrStdout(), c, s.Namespace, turn, viewer(user))
				}
				change, err := c.UndoMemory(ctx, s.Namespace, args[0], viewer(user))
				if err == nil {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: undone: %s\n", printable(args[0]), change.Op)
				}
				return err
			})
		},
	}
	viewerFlag(cmd.Flags(), &user)
	cmd.Flags().StringVar(&turn, "turn", "", "undo the memories that were extracted from this turn")
	return cmd
}

func undoTurn(ctx context.Context, w io.Writer, c *client, namespace, turn string, by engine.Viewer) error {
	ids, err := c.UndoTurn(ctx, namespace, turn, by)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return errors.New("no memory of the turn is left to undo")
	}
	for _, id := range ids {
		fmt.Fprintln(w, "undone", printable(id))
	}
	return nil
}
