package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
)

// extractFlags are the flags of the command.
type extractFlags struct {
	user, agent, session string
	response             string
	turn, json           bool
}

const extractHelp = `Extract tells what would be learnt from a turn in which the user says TEXT, and stores
nothing: what was found, by which rule and why, and what would become of it. TEXT "-" is
read from standard input; with --turn it is a whole turn, as POST /v1/turns takes it.`

func newMemoryExtract(env lookupEnv) *cobra.Command {
	var f extractFlags
	cmd := &cobra.Command{
		Use:   "extract TEXT",
		Short: "Tell what would be learnt from a turn",
		Long:  extractHelp,
		Example: `  ragctx memory extract "I'm allergic to peanuts." --user ada
  ragctx memory extract --turn - < turn.json`,
		Args: exactly(1, "one TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := textArg(args[0], cmd.InOrStdin(), api.DefaultMaxBodyBytes)
			if err != nil {
				return err
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				t, err := f.turnOf(s, text)
				if err != nil {
					return err
				}
				x, err := c.Extract(ctx, t)
				if err != nil {
					return err
				}
				if f.json {
					return writeJSON(cmd.OutOrStdout(), x)
				}
				writeExtraction(cmd.OutOrStdout(), cmd.ErrOrStderr(), x)
				return nil
			})
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	flags.StringVar(&f.user, "user", "", "who says it")
	flags.StringVar(&f.agent, "agent", "", "the agent that is told")
	flags.StringVar(&f.session, "session", "", "the session")
	flags.StringVar(&f.response, "response", "", "what the agent answers")
	flags.BoolVar(&f.turn, "turn", false, "TEXT is a turn as JSON")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// turnOf returns the turn that the flags describe.
func (f extractFlags) turnOf(s settings, text string) (ragctx.Turn, error) {
	t := ragctx.Turn{Prompt: text, Response: f.response}
	if f.turn {
		t = ragctx.Turn{}
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&t); err != nil {
			return t, badUsage("the turn cannot be read: %v", err)
		}
	}
	for _, set := range []struct {
		to   *string
		from string
	}{{&t.UserID, f.user}, {&t.AgentID, f.agent}, {&t.SessionID, f.session}, {&t.Namespace, s.Namespace}} {
		if set.from != "" && *set.to == "" {
			*set.to = set.from
		}
	}
	return t, nil
}

func writeExtraction(w, stderr io.Writer, x engine.Extraction) {
	if x.Note != "" {
		fmt.Fprintln(stderr, printable(x.Note))
	}
	if len(x.Findings) == 0 {
		fmt.Fprintln(stderr, "nothing is worth remembering")
	}
	for _, f := range x.Findings {
		fmt.Fprintf(w, "%s %s (%.2f): %s\n", f.Verdict, f.Kind, f.Confidence, printable(f.Content))
		fmt.Fprintf(w, "  by %s: %s\n", printable(f.Rule), printable(f.Reason))
		if f.Why != "" {
			fmt.Fprintf(w, "  %s\n", printable(f.Why))
		}
		if !f.Occurred.IsZero() {
			fmt.Fprintf(w, "  %q is %s\n", f.When, f.Occurred.UTC().Format("2006-01-02 15:04 MST"))
		}
		if f.Op != "" {
			line := fmt.Sprintf("  memory %s: %s", printable(f.MemoryID), f.Op)
			if len(f.Superseded) > 0 {
				line += ", in the place of " + printable(strings.Join(f.Superseded, ", "))
			}
			fmt.Fprintln(w, line)
		}
	}
}
