package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

const whyHelp = `Explain runs a query like 'ragctx query', with the same conditions. It checks each step that
can keep items out of the answer: namespace, scope, each index alone, the query without each
of its conditions, and the budget. A line that begins with NO names a problem and a remedy;
an empty answer has at least one.

The exit status is 0 in every case. --json prints the answer of the REST API.

For the score and the fate of each item use 'ragctx query --explain'.`

func newExplain(env lookupEnv) *cobra.Command {
	var f queryFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain TEXT",
		Short: "Explain why an answer is empty",
		Long:  whyHelp,
		Example: `  ragctx explain "how do I roll back a release?"
  ragctx explain "what did we decide?" --user ada --in-session s-1`,
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
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// flagsOf are the flags for the fields of a query.
var flagsOf = map[string]string{
	"query": "TEXT", "user_id": "--user", "filter.session_id": "--in-session",
	"agent_id": "--agent", "context_types": "--type", "as_of": "--as-of",
	"filter": "--tag, --filter, --after and --before", "max_tokens": "--max-tokens", "min_relevance": "--min-relevance",
}

// inFlags replaces the fields in a text by flags.
func inFlags(text string, fields []string) string {
	for _, field := range fields {
		if flag, ok := flagsOf[field]; ok {
			text = regexp.MustCompile(`\b`+regexp.QuoteMeta(field)+`\b`).ReplaceAllLiteralString(text, flag)
		}
	}
	if rest, ok := strings.CutPrefix(text, "send "); ok && len(fields) > 0 {
		return "use " + rest
	}
	return text
}

func writeExplanation(w io.Writer, x engine.Explanation) {
	for _, f := range x.Findings {
		mark := "ok"
		if f.Problem {
			mark = "NO"
		}
		fmt.Fprintf(w, "%s  %s: %s\n", mark, f.Step, printable(inFlags(f.Found, f.Fields)))
		if f.Remedy != "" {
			fmt.Fprintf(w, "    %s\n", printable(inFlags(f.Remedy, f.Fields)))
		}
	}
	fmt.Fprintf(w, "the answer has %s\n", amount(x.Items, "item"))
}
