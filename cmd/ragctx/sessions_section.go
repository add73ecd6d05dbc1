package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
)

func newSessionsSection(env lookupEnv) *cobra.Command {
	var said api.Said
	var role, file string
	var remove, asJSON bool
	cmd := sessionCommand(env, &cobra.Command{
		Use: "section SESSION SECTION [TEXT]", Short: "Replace or remove a section",
		Long: "Section puts a message, or with --messages those of a JSON list, in the place of all that a\n" +
			"section has, or makes it. With --remove it takes the section away, with its messages of all\n" +
			"branches. What is in a section shows 'ragctx sessions messages --section'.",
		Example: `  ragctx sessions section s-42 summary "They moved the keys."
  ragctx sessions section s-42 summary --remove`,
	}, between(2, 3, "one SESSION, one SECTION and at most one TEXT"), func(ctx context.Context, t talk) error {
		name := t.args[0]
		t.args = t.args[1:]
		switch {
		case remove:
			s, err := t.DeleteSection(ctx, t.key, name)
			return t.done(asJSON, s, err, "removed %s", printable(name))
		case len(t.args) == 0 && file == "":
			return badUsage("there is nothing to put there; give a TEXT or --messages, or --remove to take the section away")
		}
		var err error
		if said.Messages, err = t.said(role, file); err != nil {
			return err
		}
		s, err := t.PutSection(ctx, t.key, name, said)
		return t.done(asJSON, s, err, "%s has %s", printable(name), amount(len(said.Messages), "message"))
	})
	flags := cmd.Flags()
	choiceVar(flags, &role, "role", string(ragctx.RoleUser), roles, "who says TEXT: "+strings.Join(roles, ", "))
	flags.StringVar(&file, "messages", "", "file of a JSON list of messages in the place of TEXT; - is standard input")
	choiceVar(flags, &said.Format, "format", "", forms, formatHelp("the messages"))
	flags.BoolVar(&remove, "remove", false, "remove the section")
	jsonFlag(cmd, &asJSON)
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if remove && (len(args) > 2 || slices.ContainsFunc([]string{"messages", "role", "format"}, flags.Changed)) {
			return badUsage("--remove takes neither a TEXT nor --messages, --role and --format")
		}
		return nil
	}
	return cmd
}

// done is say unless there is an error.
func (t talk) done(asJSON bool, v any, err error, line string, args ...any) error {
	if err != nil {
		return err
	}
	return t.say(asJSON, v, line, args...)
}
