package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/procedures"
)

const proceduresHelp = `A procedure is a list of steps that worked before. Procedures are extracted from turns with
many tool calls, or written by hand. They are drafts until a person publishes them. Answers
show agents the name of a published procedure and its use, where they fit. Agents request
the body.`

func newProcedures(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "procedures",
		Short: "List, edit, publish and roll back procedures",
		Long:  proceduresHelp,
		Example: `  ragctx procedures list --state draft
  ragctx procedures preview deploy-service --draft
  ragctx procedures publish deploy-service
  ragctx procedures rollback deploy-service 2`,
	}
	group(cmd)
	cmd.AddCommand(newProceduresList(env), newProceduresShow(env), newProceduresEdit(env), newProceduresPublish(env),
		newProceduresUnpublish(env), newProceduresRollback(env), newProceduresPreview(env), newProceduresDelete(env))
	return cmd
}

// procedureCommand completes a command with the name of a procedure as its first argument.
func procedureCommand(env lookupEnv, cmd *cobra.Command, n int, what string,
	run func(ctx context.Context, cmd *cobra.Command, c *client, k engine.ProcedureKey, args []string) error,
) *cobra.Command {
	var owner ragctx.ProcedureOwner
	cmd.Args = exactly(n, what)
	addSettings(cmd.Flags(), "server")
	ownerFlags(cmd.Flags(), &owner.UserID, &owner.AgentID)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := procedures.ValidName(args[0]); err != nil {
			return asUsage(err)
		}
		return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
			return run(ctx, cmd, c, engine.ProcedureKey{Namespace: s.Namespace, Name: args[0], ProcedureOwner: owner}, args[1:])
		})
	}
	return cmd
}

func newProceduresList(env lookupEnv) *cobra.Command {
	var f store.ProcedureFilter
	var state string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List procedures by name",
		Example: "  ragctx procedures list --state draft",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.AnyUser && f.UserID != "" {
				return badUsage("--all-users contradicts --user; use one of them")
			}
			f.State = ragctx.ProcedureState(state)
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				list, err := allProcedures(ctx, c, s.Namespace, f)
				if err == nil && len(list) == 0 && !asJSON {
					printNone(ctx, cmd.ErrOrStderr(), c, s.Namespace, "procedures that these conditions see")
				}
				return show(cmd.OutOrStdout(), asJSON, list, err, writeProcedures)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	ownerFlags(cmd.Flags(), &f.UserID, &f.AgentID)
	allUsersFlag(cmd.Flags(), &f.AnyUser)
	choiceVar(cmd.Flags(), &state, "state", "", procedureStates, "only procedures in this state: draft or published")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func allProcedures(ctx context.Context, c *client, namespace string, f store.ProcedureFilter) ([]ragctx.ProcedureEntry, error) {
	return allPages(func(last ragctx.ProcedureEntry) ([]ragctx.ProcedureEntry, error) {
		f.After, f.Limit = last, engine.MaxPage
		return c.ListProcedures(ctx, namespace, f)
	})
}

func writeProcedures(w io.Writer, list []ragctx.ProcedureEntry) error {
	return writeTable(w, "NAME\tUSER\tAGENT\tSHOWN\tDRAFT\tTURNS\tWHEN", list, func(p ragctx.ProcedureEntry) []any {
		shown, draft := "-", "-"
		if p.Canonical > 0 {
			shown = strconv.Itoa(p.Canonical)
		}
		if p.Draft {
			draft = "yes"
		}
		return []any{p.Name, p.UserID, p.AgentID, shown, draft, p.Turns, p.Trigger}
	})
}

func newProceduresShow(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := procedureCommand(env, &cobra.Command{
		Use:     "show NAME",
		Short:   "Show a procedure's draft, versions and history",
		Example: "  ragctx procedures show deploy-service",
	}, 1, "one NAME", func(ctx context.Context, cmd *cobra.Command, c *client, k engine.ProcedureKey, _ []string) error {
		p, err := c.Procedure(ctx, k)
		if err != nil {
			return err
		}
		changes, err := c.ProcedureHistory(ctx, k)
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(cmd.OutOrStdout(), struct {
				ragctx.Procedure

				History []ragctx.ProcedureChange `json:"history"`
			}{p, changes})
		}
		writeProcedure(cmd.OutOrStdout(), p, changes)
		return nil
	})
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// writeProcedure prints the draft, or else the published version, and lists the other versions.
func writeProcedure(w io.Writer, p ragctx.Procedure, changes []ragctx.ProcedureChange) {
	v, ok := p.Version(0)
	if p.Draft != nil {
		v, ok = *p.Draft, true
	}
	if ok {
		fmt.Fprintln(w, visible(procedures.Markdown(p.Name, v.ProcedureBody)))
	}
	if p.Draft != nil {
		fmt.Fprintln(w, "draft, "+writtenBy(*p.Draft))
	}
	for _, v := range p.Versions {
		line := fmt.Sprintf("version %d, %s, %s", v.Number, v.State, writtenBy(v))
		if v.Canonical {
			line += ", shown to agents"
		}
		fmt.Fprintln(w, line)
	}
	for _, c := range changes {
		line := fmt.Sprintf("%s %s", localTime(c.At), c.Op)
		if c.Version != c.Before {
			line += fmt.Sprintf(", version %d before, %d now", c.Before, c.Version)
		}
		if c.Turn != "" {
			line += ", turn " + printable(c.Turn)
		}
		fmt.Fprintln(w, line)
	}
}

func writtenBy(v ragctx.ProcedureVersion) string {
	text := "written by " + v.By
	if n := len(v.Sources); n > 0 {
		text += ", " + amount(n, "turn")
	}
	return text
}

// maxProcedureBytes is longer than any procedure.
const maxProcedureBytes = 1 << 20

func newProceduresEdit(env lookupEnv) *cobra.Command {
	return procedureCommand(env, &cobra.Command{
		Use:   "edit NAME FILE",
		Short: "Write a procedure's draft from a file",
		Long: "Edit writes the draft of a procedure from FILE, or from standard input if FILE is \"-\". The\n" +
			"text is Markdown as 'ragctx procedures preview' prints it, or a JSON object. The published\n" +
			"version does not change.",
		Example: `  ragctx procedures edit deploy-service deploy.md
  ragctx procedures preview deploy | sed s/a/b/ | ragctx procedures edit deploy -`,
	}, 2, "NAME and FILE", func(ctx context.Context, cmd *cobra.Command, c *client, k engine.ProcedureKey, args []string) error {
		text, err := readProcedure(cmd, args[0])
		if err != nil {
			return err
		}
		name, body, err := procedures.Parse(text)
		if err != nil {
			return err
		}
		if name != "" && name != k.Name {
			return fmt.Errorf("%w: the file is about %q, not %q; change its title or the argument",
				ragctx.ErrInvalid, ragctx.Clip(name), k.Name)
		}
		if _, err := c.PutDraft(ctx, k, body); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "draft of %s written; 'ragctx procedures publish %s' publishes it\n", k.Name, k.Name)
		return err
	})
}

func readProcedure(cmd *cobra.Command, file string) (string, error) {
	if file == "-" {
		return textArg(file, cmd.InOrStdin(), maxProcedureBytes)
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return textArg("-", f, maxProcedureBytes)
}

func newProceduresPublish(env lookupEnv) *cobra.Command {
	return procedureCommand(env, &cobra.Command{
		Use:     "publish NAME",
		Short:   "Publish a procedure's draft, so that agents see it",
		Example: "  ragctx procedures publish deploy-service",
	}, 1, "one NAME", func(ctx context.Context, cmd *cobra.Command, c *client, k engine.ProcedureKey, _ []string) error {
		return printPublished(cmd, k)(c.Publish(ctx, k))
	})
}

func newProceduresUnpublish(env lookupEnv) *cobra.Command {
	return procedureCommand(env, &cobra.Command{
		Use:     "unpublish NAME",
		Short:   "Hide a procedure from agents; its versions stay",
		Example: "  ragctx procedures unpublish deploy-service",
	}, 1, "one NAME", func(ctx context.Context, cmd *cobra.Command, c *client, k engine.ProcedureKey, _ []string) error {
		return printPublished(cmd, k)(c.Unpublish(ctx, k))
	})
}

func newProceduresRollback(env lookupEnv) *cobra.Command {
	return procedureCommand(env, &cobra.Command{
		Use:     "rollback NAME VERSION",
		Short:   "Show agents an earlier version again, and supersede all later ones",
		Example: "  ragctx procedures rollback deploy-service 2",
	}, 2, "NAME and VERSION", func(ctx context.Context, cmd *cobra.Command, c *client, k engine.ProcedureKey, args []string) error {
		version, err := strconv.Atoi(args[0])
		if err != nil || version < 1 {
			return badUsage("VERSION is %q; use the number of a version, from 1", ragctx.Clip(args[0]))
		}
		return printPublished(cmd, k)(c.Rollback(ctx, k, version))
	})
}

// printPublished prints the published version of a procedure.
func printPublished(cmd *cobra.Command, k engine.ProcedureKey) func(ragctx.Procedure, error) error {
	return func(p ragctx.Procedure, err error) error {
		if err != nil {
			return err
		}
		text := "no version of it"
		if p.Canonical > 0 {
			text = fmt.Sprintf("version %d", p.Canonical)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: agents are shown %s\n", k.Name, text)
		return err
	}
}

func newProceduresPreview(env lookupEnv) *cobra.Command {
	var draft bool
	var version int
	cmd := procedureCommand(env, &cobra.Command{
		Use:   "preview NAME",
		Short: "Print a procedure as agents see it",
		Long: "Preview prints the body that an agent requests, as Markdown. The line that is part of\n" +
			"answers goes to standard error.",
		Example: "  ragctx procedures preview deploy-service --draft",
	}, 1, "one NAME", func(ctx context.Context, cmd *cobra.Command, c *client, k engine.ProcedureKey, _ []string) error {
		if draft && version != 0 {
			return badUsage("--draft contradicts --version; use one of them")
		}
		p, err := c.PreviewProcedure(ctx, k, version, draft)
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(), printable(p.Line))
		_, err = io.WriteString(cmd.OutOrStdout(), visible(p.Body))
		return err
	})
	cmd.Flags().BoolVar(&draft, "draft", false, "of the draft")
	countVar(cmd.Flags(), &version, "version", 0, 1, noLimit, "of this version; default is the one that agents are shown")
	return cmd
}

func newProceduresDelete(env lookupEnv) *cobra.Command {
	var erase bool
	cmd := procedureCommand(env, &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a procedure's draft, or with --erase all of it",
		Example: `  ragctx procedures delete deploy-service
  ragctx procedures delete deploy-service --erase`,
	}, 1, "one NAME", func(ctx context.Context, cmd *cobra.Command, c *client, k engine.ProcedureKey, _ []string) error {
		if erase {
			_, err := c.Procedure(ctx, k)
			if err == nil {
				err = c.EraseProcedure(ctx, k)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "erased", k.Name)
			return err
		}
		p, err := c.Procedure(ctx, k)
		if err == nil && p.Draft == nil {
			err = fmt.Errorf("procedure %q has no draft; 'unpublish' shows agents the procedure no more, --erase "+
				"removes it with all its versions", k.Name)
		}
		if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
			return err
		}
		if err := c.DeleteDraft(ctx, k); err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "deleted the draft of", k.Name)
		return err
	})
	eraseFlag(cmd.Flags(), &erase)
	return cmd
}
