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
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
)

const searchHelp = `Search lists the passages of documents and the memories that match TEXT best. Each has
its relevance, its id, and the lines that match best, in bold on a terminal.

Words between quotation marks must occur in every result exactly as written. If no text
contains all of them, the search uses the single words, and a line on standard error says
so. A word that no text contains is replaced by one of similar spelling; another line
says so.`

const searchExample = `  ragctx search "retry policy"
  ragctx search '"connection refused" during backup' --limit 3
  ragctx search "favourite tea" --type memory --user ada --json`

// searchFlags are the flags of the command.
type searchFlags struct {
	conditions

	limit       int
	exact, json bool
	highlight   bool
}

func newSearch(env lookupEnv) *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:     "search TEXT",
		Short:   "List passages of documents and memories",
		Long:    searchHelp,
		Example: searchExample,
	}
	f.conditions.add(cmd.Flags(), false)
	return f.complete(env, cmd)
}

func newMemorySearch(env lookupEnv) *cobra.Command {
	f := searchFlags{conditions: conditions{types: []string{string(ragctx.TypeMemory)}}}
	cmd := &cobra.Command{
		Use:   "search TEXT",
		Short: "List the memories that match a text",
		Long: "Search lists the memories that match TEXT best, with their relevance, as a query finds\n" +
			"them. Without --user it finds shared memories only.",
		Example: `  ragctx memory search "favourite tea" --user ada
  ragctx memory search "what did we decide last week?" --in-session s1 --json`,
	}
	f.conditions.add(cmd.Flags(), true)
	alsoSession(cmd.Flags(), &f.inSession)
	return f.complete(env, cmd)
}

// complete adds the flags and the work that all searches have.
func (f *searchFlags) complete(env lookupEnv, cmd *cobra.Command) *cobra.Command {
	cmd.Args = exactly(1, "one TEXT")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
			return runSearch(ctx, cmd, env, f, s, c, args[0])
		})
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	limitFlag(flags, &f.limit, ragctx.DefaultMaxResults, 1, ragctx.MaxResultsLimit)
	exactFlag(flags, &f.exact)
	flags.BoolVar(&f.highlight, "highlight", true,
		"show the lines that match best, in bold on a terminal, and with --json the places of all words")
	jsonFlag(cmd.Flags(), &f.json)
	return cmd
}

func runSearch(ctx context.Context, cmd *cobra.Command, env lookupEnv, f *searchFlags, s settings, c *client, arg string) error {
	text, err := textArg(arg, cmd.InOrStdin(), ragctx.MaxQueryBytes)
	if err != nil {
		return err
	}
	q, err := f.query(s, text)
	if err != nil {
		return err
	}
	q.MaxResults, q.Exact, q.Highlight = f.limit, f.exact, f.highlight
	found, err := c.Search(ctx, q)
	if err != nil {
		return err
	}
	printUnquoted(cmd.ErrOrStderr(), found.Unquoted)
	for _, line := range corrected(found.Corrections) {
		fmt.Fprintln(cmd.ErrOrStderr(), line)
	}
	stdout := cmd.OutOrStdout()
	if f.json {
		return writeJSON(stdout, found.Items)
	}
	if len(found.Items) == 0 {
		printNone(ctx, cmd.ErrOrStderr(), c, s.Namespace, "documents or memories that match")
	}
	return writeResults(stdout, paint(stdout, env), found.Items)
}

// printUnquoted prints the quoted phrases without a match.
func printUnquoted(w io.Writer, phrases []string) {
	if len(phrases) == 0 {
		return
	}
	shown := make([]string, len(phrases))
	for i, p := range phrases {
		shown[i] = `"` + printable(p) + `"`
	}
	fmt.Fprintf(w, "nothing has %s in one place; searched for the words\n", strings.Join(shown, " and "))
}

// corrected returns a line for each corrected word.
func corrected(corrections []ragctx.Correction) []string {
	var lines []string
	told := make(map[ragctx.Correction]bool)
	for _, c := range corrections {
		reading := ragctx.Correction{Word: c.Word, As: c.As}
		if told[reading] {
			continue
		}
		told[reading] = true
		var who []string
		for _, o := range corrections {
			if o.Word == c.Word && o.As == c.As {
				who = append(who, "no "+textsOf(o.Provider))
			}
		}
		lines = append(lines, fmt.Sprintf("%s has %s; looked for %s as well",
			strings.Join(who, " and "), printable(c.Word), printable(c.As)))
	}
	return lines
}

// textsOf returns the noun for the texts of a provider.
func textsOf(provider string) string {
	switch provider {
	case docs.Name:
		return "document"
	case memory.Name:
		return "memory"
	default:
		return "text of " + printable(provider)
	}
}

// writeResults prints each result in a line, with its fragment below.
func writeResults(w io.Writer, bold func(string) string, items []ragctx.ContextItem) error {
	for _, it := range items {
		place := ""
		if at := placeOf(it); at != "-" {
			place = "  " + at
		}
		_, err := fmt.Fprintf(w, "%.2f  %s%s\n    %s\n", it.Relevance, printable(it.ID), place, fragmentOf(it, bold))
		if err != nil {
			return fmt.Errorf("write list: %w", err)
		}
	}
	return nil
}

// fragmentOf returns the best part of an item in one line, with its matches bold.
func fragmentOf(it ragctx.ContextItem, bold func(string) string) string {
	if it.Highlights == nil {
		return brief(it.Content)
	}
	f := it.Highlights.Fragment
	if f.Start < 0 || f.Start > f.End || f.End > len(it.Content) {
		return brief(it.Content) // not from ragctx
	}
	var inside []ragctx.TextSpan
	for _, m := range it.Highlights.Matches {
		if m.Start >= f.Start && m.End <= f.End {
			inside = append(inside, ragctx.TextSpan{Start: m.Start - f.Start, End: m.End - f.Start})
		}
	}
	text := marked(it.Content[f.Start:f.End], inside, inOneLine, func(s string) string { return bold(inOneLine(s)) })
	return cmp.Or(strings.TrimSpace(text), "-")
}

// blanks are runs of white space.
var blanks = regexp.MustCompile(`\s+`)

// inOneLine returns printable text with a space for each run of white space.
func inOneLine(s string) string { return printable(blanks.ReplaceAllLiteralString(s, " ")) }

// marked returns text with bold applied to the spans, which are in order and do not overlap, and
// plain to the rest.
func marked(text string, spans []ragctx.TextSpan, plain, bold func(string) string) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.Start < at || s.End < s.Start || s.End > len(text) {
			continue
		}
		b.WriteString(plain(text[at:s.Start]))
		b.WriteString(bold(text[s.Start:s.End]))
		at = s.End
	}
	return b.String() + plain(text[at:])
}
