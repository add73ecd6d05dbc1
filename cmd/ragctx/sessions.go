package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
)

const sessionsHelp = `A session stores a conversation: the messages of users, models and tools, word for word. A
model is shown a compiled view of it, with summaries of older parts if it is long. No
message is lost by that: you can go back, undo, and continue from any message.

Forks, branches, labels, sections, layers and observations have no commands of their own;
'ragctx api' sends the requests of the REST API.`

func newSessions(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Store conversations and show a model's view of them",
		Long:  sessionsHelp,
		Example: `  ragctx sessions append s-42 "How do I roll back?" --create
  ragctx sessions messages s-42
  ragctx sessions compile s-42 --max-tokens 8000 --format openai
  ragctx sessions assemble s-42 --window 32000
  ragctx sessions compact s-42
  ragctx api POST /v1/sessions/s-42:fork -d '{"to": "s-43", "message_id": "ID"}'`,
	}
	group(cmd)
	cmd.AddCommand(
		newSessionsList(env), newSessionsShow(env), newSessionsCreate(env), newSessionsAppend(env), newSessionsMessages(env),
		newSessionsCompile(env), newSessionsAssemble(env), newSessionsCompact(env), newSessionsUndo(env),
		newSessionsExport(env), newSessionsImport(env), newSessionsDelete(env),
	)
	return cmd
}

// sessionClient is a session and the streams of a command about it.
type sessionClient struct {
	*api.Client

	key  session.Key
	args []string // arguments after the session
	in   io.Reader
	out  io.Writer
	err  io.Writer
}

// sessionCommand completes a command whose first argument is a session.
func sessionCommand(env lookupEnv, cmd *cobra.Command, args cobra.PositionalArgs,
	run func(context.Context, sessionClient) error,
) *cobra.Command {
	var user string
	cmd.Args = args
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withSessions(cmd, env, func(ctx context.Context, namespace string, t sessionClient) error {
			t.key, t.args = session.Key{Namespace: namespace, User: user, ID: args[0]}, args[1:]
			if err := t.key.Validate(); err != nil {
				return asUsage(err)
			}
			return run(ctx, t)
		})
	}
	addSettings(cmd.Flags(), "server")
	sessionUser(cmd.Flags(), &user)
	return cmd
}

func sessionUser(flags *pflag.FlagSet, user *string) {
	flags.StringVar(user, "user", "", "user of the session (default none)")
}

// withSessions calls fn with a talk without a session.
func withSessions(cmd *cobra.Command, env lookupEnv, fn func(ctx context.Context, namespace string, t sessionClient) error) error {
	return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
		return fn(ctx, s.Namespace, sessionClient{Client: c.Client, in: cmd.InOrStdin(), out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()})
	})
}

// say prints a line, or JSON instead.
func (t sessionClient) say(asJSON bool, v any, line string, args ...any) error {
	if asJSON {
		return writeJSON(t.out, v)
	}
	_, err := fmt.Fprintf(t.out, line+"\n", args...)
	return err
}

func newSessionsList(env lookupEnv) *cobra.Command {
	var user string
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List sessions",
		Long:    "List prints the sessions of a user, or those without a user, the last changed first.",
		Example: "  ragctx sessions list --user ada\n  ragctx sessions list --json | jq -r '.[].id'",
		Args:    none,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withSessions(cmd, env, func(ctx context.Context, namespace string, t sessionClient) error {
			all, err := sessionsOf(ctx, t.Client, namespace, user, most)
			if err == nil && len(all) == 0 && !asJSON {
				fmt.Fprintf(t.err, "no sessions in namespace %s of %s\n", printable(namespace), cmp.Or(printable(user), "no user"))
			}
			return show(t.out, asJSON, all, err, writeSessions)
		})
	}
	addSettings(cmd.Flags(), "server")
	sessionUser(cmd.Flags(), &user)
	limitFlag(cmd.Flags(), &most, 1000, 1, noLimit)
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// sessionsOf returns the newest sessions.
func sessionsOf(ctx context.Context, c *api.Client, namespace, user string, most int) ([]api.SessionEntry, error) {
	all, cursor := []api.SessionEntry{}, ""
	for {
		page, err := c.ListSessions(ctx, namespace, user, cursor, min(most-len(all), engine.MaxPage))
		if err != nil {
			return nil, err
		}
		all, cursor = append(all, page.Sessions...), page.NextCursor
		if cursor == "" || len(all) >= most {
			return all, nil
		}
	}
}

func writeSessions(w io.Writer, all []api.SessionEntry) error {
	return writeTable(w, "SESSION\tMESSAGES\tSIZE\tLAYER\tCHANGED", all, func(s api.SessionEntry) []any {
		return []any{s.ID, s.Messages, size(s.Bytes), s.Layer, localTime(s.UpdatedAt)}
	})
}

func newSessionsShow(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := sessionCommand(env, &cobra.Command{
		Use: "show SESSION", Short: "Describe a session",
		Long: "Show prints the sections, branches, labels, compactions and observations of a session,\n" +
			"without its messages.",
		Example: "  ragctx sessions show s-42",
	}, exactly(1, "one SESSION"), func(ctx context.Context, t sessionClient) error {
		s, err := t.DescribeSession(ctx, t.key)
		if err != nil || asJSON {
			return writeUnless(err, t.out, s)
		}
		labels, err := t.SessionLabels(ctx, t.key)
		if err != nil {
			return err
		}
		writeSession(t.out, s, labels)
		return nil
	})
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// writeUnless writes JSON unless there is an error.
func writeUnless(err error, w io.Writer, v any) error {
	if err != nil {
		return err
	}
	return writeJSON(w, v)
}

func writeSession(w io.Writer, s api.Session, labels []api.Label) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-13s %s\n", name+":", printable(value))
		}
	}
	fmt.Fprintln(w, printable(s.ID))
	line("user", s.UserID)
	line("layer", string(s.Layer))
	line("created", localTime(s.CreatedAt))
	line("changed", localTime(s.UpdatedAt))
	line("size", size(s.Bytes))
	var sections []string
	for _, one := range s.Sections {
		sections = append(sections, fmt.Sprintf("%s (%s)", one.Name, amount(one.Messages, "message")))
	}
	line("sections", strings.Join(sections, ", "))
	line("leaf", s.Leaf)
	line("branches", strconv.Itoa(s.Branches))
	line("compactions", strconv.Itoa(s.Compactions))
	line("observations", strconv.Itoa(s.Observations))
	for _, l := range labels {
		line("label", l.Label+" is "+l.MessageID)
	}
}

func newSessionsCreate(env lookupEnv) *cobra.Command {
	var r api.SessionRequest
	var asJSON bool
	cmd := &cobra.Command{
		Use: "create [SESSION]", Short: "Make a session",
		Long: "Create makes a session without messages and prints its id. Without SESSION the id is chosen.\n" +
			"'ragctx sessions append --create' makes a session with its first message.",
		Example: "  ragctx sessions create s-42 --layer compaction\n  ragctx sessions create --user ada",
		Args:    between(0, 1, "at most one SESSION"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.ID = strings.Join(args, "")
		return withSessions(cmd, env, func(ctx context.Context, namespace string, t sessionClient) error {
			r.Namespace = namespace
			s, err := t.CreateSession(ctx, r)
			if err != nil {
				return err
			}
			return t.say(asJSON, s, "%s", printable(s.ID))
		})
	}
	addSettings(cmd.Flags(), "server")
	sessionUser(cmd.Flags(), &r.UserID)
	choiceVar(cmd.Flags(), &r.Layer, "layer", "", layers,
		"how it is compressed: "+strings.Join(layers, ", ")+" (default any: observations where there are some, else compaction)")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// layers are the kinds of compression of a session.
var layers = []string{
	"any", string(stage.LayerObservation), string(stage.LayerCompaction), string(stage.LayerBuffer),
	string(stage.LayerNone),
}

func newSessionsDelete(env lookupEnv) *cobra.Command {
	var erase bool
	cmd := sessionCommand(env, &cobra.Command{
		Use: "delete SESSION", Short: "Erase a session",
		Long: "Delete erases a conversation, its forks, and the turns and memories of the session. With\n" +
			"--user it erases the session of that user, without it the sessions of all users with this\n" +
			"id. This cannot be undone, so the command requires --erase.",
		Example: "  ragctx sessions delete s-42 --erase",
	}, exactly(1, "one SESSION"), func(ctx context.Context, t sessionClient) error {
		if !erase {
			return errEraseMissing()
		}
		erased, err := t.EraseSession(ctx, t.key)
		if err == nil && erased == (store.Erased{}) {
			err = fmt.Errorf("session %q: %w", t.key.ID, ragctx.ErrNotFound)
		}
		if err != nil {
			return err
		}
		return t.say(false, nil, "erased")
	})
	cmd.Flags().Lookup("user").Usage = "user of the session (default all users)"
	eraseFlag(cmd.Flags(), &erase)
	return cmd
}
