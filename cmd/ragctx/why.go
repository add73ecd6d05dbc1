package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

const whyHelp = `Explain asks a question as 'ragctx query' does, with the same conditions, and looks step by
step for what keeps items from the answer: whether the namespace is there and has
anything, how many memories the query sees, what words and vectors find alone, what
would be found without each condition, and what the budget kept out. Lines that begin
with NO name what is in the way, with a remedy; an empty answer has at least one.

The exit status is 0 whatever is found; programs read --json, whose names are those of
the REST API.

How an answer came about, item by item, is told by 'ragctx query --explain'.`

func newExplain(env lookupEnv) *cobra.Command {
	var f queryFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain TEXT",
		Short: "Say why an answer is empty",
		Long:  whyHelp,
		Example: `  ragctx explain "how do I roll back a release?"
  ragctx explain "what did we decide?" --user ada --session s-1`,
		Args:              exactly(1, "one TEXT"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				text, err := textArg(args[0], cmd.InOrStdin(), ragctx.MaxQueryBytes)
				if err != nil {
					return err
				}
				q, err := f.query(s, text)
				if err != nil {
					return err
				}
				x, err := c.Explain(ctx, q)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), x)
				}
				writeExplanation(cmd.OutOrStdout(), x)
				return nil
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// flagsOf are the flags for the fields of a query.
var flagsOf = map[string]string{
	"query": "TEXT", "user_id": "--user", "session_id": "--session", "agent_id": "--agent", "context_types": "--types", "as_of": "--as-of",
	"filter": "--after and --before", "max_tokens": "--max-tokens",
}

// inFlags replaces the fields in a text by flags.
func inFlags(text string, fields []string) string {
	for _, field := range fields {
		if flag, ok := flagsOf[field]; ok {
			text = regexp.MustCompile(`\b`+field+`\b`).ReplaceAllLiteralString(text, flag)
		}
	}
	if rest, ok := strings.CutPrefix(text, "send "); ok && len(fields) > 0 {
		return "use " + rest
	}
	return text
}

// stepsOf are the names of steps for people.
var stepsOf = map[string]string{"legs": "search"}

func writeExplanation(w io.Writer, x engine.Explanation) {
	for _, f := range x.Findings {
		mark := "ok"
		if f.Problem {
			mark = "NO"
		}
		fmt.Fprintf(w, "%s  %s: %s\n", mark, cmp.Or(stepsOf[f.Step], f.Step), printable(inFlags(f.Found, f.Fields)))
		if f.Remedy != "" {
			fmt.Fprintf(w, "    %s\n", printable(inFlags(f.Remedy, f.Fields)))
		}
	}
	fmt.Fprintf(w, "the answer has %d items\n", x.Items)
}
