package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/xmlfmt"
)

// queryFlags are the flags of the command.
type queryFlags struct {
	conditions

	docs              []string
	depth, preset     string
	limit, maxTokens  int
	tokenizer, format string
	explain, quiet    bool
	highlight, json   bool
	noCitations       bool
	diversity         float64
	noRerank, exact   bool
	blocks, spotlight bool
	stableTokens      int
}

const spotlightHelp = "mark retrieved text word by word as data; takes about twice the tokens"

const noCitationsHelp = "leave ids, titles, pages and lines out of the tags"

const queryHelp = `Query prints the context that a model should see for TEXT: the best passages of documents
and memories, fitted into the token budget. The budget is for the whole output, including
tags, as the tokenizer counts it. TEXT "-" is read from standard input.

With --docs the command ingests files first and answers from them alone. Files that did not
change cost next to nothing. Only the answer goes to standard output.

The answer has two parts, separated by a blank line. The first part has the items that belong
in every prompt of the user, such as instructions and preferences. The second part has the
items that answer TEXT. With --format json, only --blocks adds the first part. With
--spotlight, an instruction for the system prompt goes to standard error, or into the JSON.`

const queryExample = `  ragctx query --docs ./docs "how do I roll back a release?"
  ragctx query "what did we decide about caching?" --type memory --in-session s1
  ragctx query "what did we decide about caching?" --after 2026-05-01 --before 2026-06-01
  ragctx query "retry policy" --max-tokens 1500 --depth abstract --explain
  git log -1 --format=%B | ragctx query - --format json`

func newQuery(env lookupEnv) *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:     "query TEXT",
		Short:   "Print the context for a question",
		Long:    queryHelp,
		Example: queryExample,
		Args:    exactly(1, "one TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.json {
				f.format = xmlfmt.JSON
			}
			return runQuery(cmd, env, f, args[0])
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	flags.StringArrayVar(&f.docs, "docs", nil, "file, folder or URL to ingest first; may be repeated")
	f.add(flags)
	flags.StringVar(&f.format, "format", xmlfmt.XML, "xml, documents, text, or json for the whole answer with all reports")
	flags.Float64Var(&f.diversity, "diversity", 0, "penalty for items that repeat an earlier one, 0 to 1")
	flags.BoolVar(&f.noRerank, "no-rerank", false, "do not use the reranker of the settings")
	exactFlag(flags, &f.exact)
	jsonFlag(cmd.Flags(), &f.json)
	flags.BoolVar(&f.blocks, "blocks", false, "with --format json: print both parts of the answer as blocks")
	countVar(flags, &f.stableTokens, "stable-tokens", 0, -1, ragctx.MaxTokensLimit,
		"largest number of tokens of the first part; -1 leaves it out (default a quarter of --max-tokens)")
	flags.BoolVar(&f.spotlight, "spotlight", false, spotlightHelp)
	flags.BoolVar(&f.noCitations, "no-citations", false, noCitationsHelp)
	flags.BoolVar(&f.highlight, "highlight", false, "show the words of TEXT in bold on a terminal, and with "+
		"--format json their places")
	flags.BoolVar(&f.explain, "explain", false, "report on providers, items and drops on standard error")
	quietFlag(flags, &f.quiet)
	return cmd
}

// add adds the flags for conditions and limits.
func (f *queryFlags) add(flags *pflag.FlagSet) {
	f.conditions.add(flags, false)
	flags.StringVar(&f.depth, "depth", "", "abstract, overview or full (default overview)")
	limitFlag(flags, &f.limit, 0, 1, ragctx.MaxResultsLimit)
	flags.Lookup("limit").DefValue = fmt.Sprintf("%d, or the preset's", ragctx.DefaultMaxResults)
	countVar(flags, &f.maxTokens, "max-tokens", 0, 1, ragctx.MaxTokensLimit,
		fmt.Sprintf("largest number of tokens of the whole answer (default %d, or the preset's)", ragctx.DefaultMaxTokens))
	flags.StringVar(&f.preset, "preset", "", "set of caps: "+strings.Join(ragctx.PresetNames(), ", "))
	tokenizerFlag(flags, &f.tokenizer)
}

// query returns the query that the flags describe.
func (f queryFlags) query(s settings, text string) (ragctx.ContextQuery, error) {
	q, err := f.conditions.query(s, text)
	if err != nil {
		return q, err
	}
	q.Depth, q.Preset, q.MaxResults, q.MaxTokens = ragctx.ContextDepth(strings.ToLower(f.depth)), f.preset, f.limit, f.maxTokens
	q.Tokenizer, q.Format, q.Blocks, q.StableTokens = f.tokenizer, f.format, f.blocks || f.format != xmlfmt.JSON, f.stableTokens
	q.Diversity, q.Exact, q.Highlight, q.Explain, q.Spotlight = f.diversity, f.exact, f.highlight, f.explain, f.spotlight
	if f.noCitations {
		q.Citations = new(false)
	}
	if f.noRerank {
		q = q.WithParam("rerank", false)
	}
	if f.format == xmlfmt.JSON {
		q.Format = xmlfmt.XML // part of the printed answer
	}
	q = q.WithDefaults()
	if err := q.Validate(); err != nil {
		return q, asUsage(err)
	}
	if _, err := xmlfmt.New(f.format); err != nil {
		return q, asUsage(err)
	}
	return q, knownTokenizer(q.Tokenizer)
}

func runQuery(cmd *cobra.Command, env lookupEnv, f queryFlags, arg string) (err error) {
	ctx := cmd.Context()
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	text, err := textArg(arg, cmd.InOrStdin(), ragctx.MaxQueryBytes)
	if err != nil {
		return err
	}
	q, err := f.query(s, text)
	if err != nil {
		return err
	}
	if err := exist(f.docs); err != nil {
		return err
	}
	s.mayCreate = len(f.docs) > 0 || s.k.String(providersSetting) != "" // so there is something to search
	stderr := cmd.ErrOrStderr()
	c, err := s.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer finish(c, &err)
	if q.Filter.Sources, err = ingestFirst(ctx, c, stderr, env, s, f); err != nil {
		return err
	}
	start := time.Now()
	a, err := c.Context(ctx, q)
	if err != nil {
		return err
	}
	if len(a.Items) == 0 {
		printMissingNamespace(ctx, stderr, c, s.Namespace)
	}
	if f.explain {
		explain(stderr, paint(stderr, env), a, q, time.Since(start))
	}
	stdout := cmd.OutOrStdout()
	mark := asIs
	if f.highlight {
		for _, c := range a.Corrections {
			q.Queries = append(q.Queries, c.As)
		}
		words, bold := passage.HighlighterOf(q), paint(stdout, env)
		mark = func(s string) string { return marked(s, words.Matches(s), asIs, bold) }
	}
	return writeAnswer(stdout, stderr, f.format, mark, a)
}

// ingestFirst ingests the files of --docs, prints the result in a line, and returns their sources.
func ingestFirst(ctx context.Context, c *client, stderr io.Writer, env lookupEnv, s settings, f queryFlags) ([]string, error) {
	if len(f.docs) == 0 {
		return nil, nil
	}
	s.name(f.docs)
	sites, err := s.sites()
	if err != nil {
		return nil, err
	}
	defer sites.Close()
	read, closeReaders, err := readers()
	if err != nil {
		return nil, err
	}
	defer func() { _ = closeReaders() }()
	p := newProgress(stderr, env, f.quiet)
	start := time.Now()
	o := engine.IngestOptions{
		Namespace: s.Namespace, Paths: f.docs, Open: sites.Open, Extract: read, KeepEmpty: true, Progress: p.update,
	}
	r, err := c.ingest(ctx, o, p)
	p.end()
	if err := outcome(ctx, r, err, []engine.IngestOptions{o}); err != nil {
		return nil, err
	}
	if !f.quiet {
		fmt.Fprintf(stderr, "documents: %s in %s\n", reportText(r), seconds(time.Since(start)))
	}
	return engine.Sources(ctx, c.ListDocuments, o)
}

// reportText returns a report in a phrase.
func reportText(r engine.IngestReport) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{r.Created, "created"},
		{r.Replaced, "replaced"},
		{r.Unchanged, "unchanged"},
		{r.Deleted, "deleted"},
		{len(r.Skipped), "skipped ('ragctx ingest' says why)"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// asIs returns its argument.
func asIs(s string) string { return s }

// writeAnswer prints an answer. mark changes the text of any format but JSON.
func writeAnswer(stdout, stderr io.Writer, format string, mark func(string) string, a resolve.Answer) error {
	failed := noneAnswered(a)
	if len(a.Items) == 0 && failed == nil {
		fmt.Fprintln(stderr, "empty answer")
		for reason := range strings.SplitSeq(asFlags.Replace(emptyBecause(a)), "; ") {
			fmt.Fprintln(stderr, " ", printable(reason))
		}
	}
	if format == xmlfmt.JSON {
		return errors.Join(writeJSON(stdout, a), failed)
	}
	text := a.Rendered()
	if text == "" {
		return failed
	}
	for _, instruction := range instructions(a) {
		fmt.Fprintln(stderr, "for the system prompt:", printable(instruction))
	}
	if _, err := io.WriteString(stdout, mark(strings.TrimSuffix(text, "\n"))+"\n"); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// instructions returns the instructions of an answer for the system prompt.
func instructions(a resolve.Answer) []string {
	out := nonEmpty(a.Instruction)
	for _, b := range a.Blocks {
		out = append(out, nonEmpty(b.Instruction)...)
	}
	return out
}

// noneAnswered returns the error of an answer that is empty because every provider failed. An
// answer without matches is no error.
func noneAnswered(a resolve.Answer) error {
	var errs []string
	for _, p := range a.Providers {
		if p.Error == "" {
			return nil
		}
		errs = append(errs, p.Name+": "+p.Error)
	}
	if len(a.Items) > 0 || len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("no provider answered: %s", strings.Join(errs, "; "))
}

// asFlags replaces the fields of a query in a note by the flags of 'ragctx query'.
var asFlags = strings.NewReplacer(
	"filter.tags", "--tag", "filter.metadata", "--filter", "filter.sources", "--docs", "filter.occurred_after", "--after",
	"filter.occurred_before", "--before", "filter.session_id", "--in-session", "as_of", "--as-of", "agent_id", "--agent",
	"min_relevance", "--min-relevance", "max_tokens", "--max-tokens",
)

func emptyBecause(a resolve.Answer) string {
	if a.Note == "" {
		return "nothing was found"
	}
	return a.Note
}

// knownTokenizer checks the name without loading the vocabulary.
func knownTokenizer(name string) error {
	if slices.Contains(tokens.Names(), name) {
		return nil
	}
	return badUsage("tokenizer: %q is unknown; use %s", ragctx.Clip(name), strings.Join(tokens.Names(), ", "))
}
