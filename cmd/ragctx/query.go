package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
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
	docs                  []string
	types                 []string
	depth, preset         string
	maxResults, maxTokens int
	user, agent           string
	session, inSession    string
	asOf, after, before   time.Time
	tokenizer, format     string
	explain, quiet        bool
	highlight             bool
	noCitations           bool
	minRelevance          relevanceFlag
	diversity             float64
	noRerank, exact       bool
	blocks, spotlight     bool
	stableTokens          int
}

const spotlightHelp = "mark retrieved text word by word, so that a model can tell it from instructions; it takes about twice the tokens"

const noCitationsHelp = "leave ids, titles, pages and lines out of the tags, which then have source and type alone"

const exactHelp = "search vectors exhaustively, also where their index would approximate"

const queryHelp = `Query prints what a model should see for TEXT: the best passages of documents and
memories, fitted into the token budget. The budget holds for the whole output,
tags included, as the tokenizer counts it.

With --docs it ingests first, and the answer comes from these files alone; those
that did not change since the last time cost next to nothing. The answer alone goes
to standard output. TEXT "-" is read from
standard input.

The answer has two parts with a blank line between them: what belongs into every prompt
of the user, such as their standing wishes, and what answers TEXT. With --format json
the parts are separate with --blocks, and the first is missing without it. What a
system prompt should say of the marker of --spotlight goes to standard error, and with
--format json stands in the answer.`

const queryExample = `  ragctx query --docs ./docs "how do I roll back a release?"
  ragctx query "what did we decide about caching?" --types memory --in-session s1
  ragctx query "what did we decide about caching?" --after 2026-05-01 --before 2026-06-01
  ragctx query "retry policy" --max-tokens 1500 --depth abstract --explain
  git log -1 --format=%B | ragctx query - --format json`

func newQuery(env lookupEnv) *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:     "query TEXT",
		Short:   "Print what a model should see for a question",
		Long:    queryHelp,
		Example: queryExample,
		Args:    exactly(1, "one TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runQuery(cmd, env, f, args[0])
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	flags.StringArrayVar(&f.docs, "docs", nil, "file, folder or URL to ingest first; may be repeated")
	f.add(flags)
	flags.StringVar(&f.format, "format", xmlfmt.XML, "xml, documents, text, or json for the whole answer with its accounts")
	flags.Float64Var(&f.diversity, "diversity", 0, "0 to 1, how much it counts against an item that it says what one before it says")
	flags.BoolVar(&f.noRerank, "no-rerank", false, "leave out the reranker that the settings name")
	flags.BoolVar(&f.exact, "exact", false, exactHelp)
	flags.BoolVar(&f.blocks, "blocks", false, "with --format json: print both parts of the answer as blocks")
	countVar(flags, &f.stableTokens, "stable-tokens", 0, -1, ragctx.MaxTokensLimit,
		"most tokens of the first part; -1 is none (default a quarter of --max-tokens)")
	flags.BoolVar(&f.spotlight, "spotlight", false, spotlightHelp)
	flags.BoolVar(&f.noCitations, "no-citations", false, noCitationsHelp)
	flags.BoolVar(&f.highlight, "highlight", false, "show the words of TEXT in bold on a terminal, and with "+
		"--format json say where they are")
	flags.BoolVar(&f.explain, "explain", false, "tell on standard error how the answer came about")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	return cmd
}

// relevanceFlag is a minimum relevance; 0 differs from not given.
type relevanceFlag struct{ value *float64 }

// String implements [pflag.Value].
func (f *relevanceFlag) String() string {
	if f.value == nil {
		return ""
	}
	return strconv.FormatFloat(*f.value, 'g', -1, 64)
}

// Set implements [pflag.Value].
func (f *relevanceFlag) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return errors.New("use a number of 0 to 1")
	}
	f.value = &v
	return nil
}

// Type implements [pflag.Value].
func (f *relevanceFlag) Type() string { return "float" }

// add adds the flags for conditions and limits.
func (f *queryFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.types, "types", nil, "only these types: memory, resource, skill")
	flags.StringVar(&f.depth, "depth", "", "abstract, overview or full (default overview)")
	countVar(flags, &f.maxResults, "max-results", 0, 1, ragctx.MaxResultsLimit,
		fmt.Sprintf("most items in the answer (default %d, or the preset's)", ragctx.DefaultMaxResults))
	countVar(flags, &f.maxTokens, "max-tokens", 0, 1, ragctx.MaxTokensLimit,
		fmt.Sprintf("most tokens of the whole answer (default %d, or the preset's)", ragctx.DefaultMaxTokens))
	flags.StringVar(&f.preset, "preset", "", "set of caps: "+strings.Join(ragctx.PresetNames(), ", "))
	addSessions(flags, &f.session, &f.inSession)
	flags.StringVar(&f.user, "user", "", "memories of this user, beside those of no user")
	flags.StringVar(&f.agent, "agent", "", "only memories of this agent")
	flags.Var(&f.minRelevance, "min-relevance", fmt.Sprintf("leave out what is less relevant, 0 to 1; 0 shows all "+
		"that is found as it is (default %v, and a sentence of what is far behind the best)", ragctx.DefaultMinRelevance))
	timeVar(flags, &f.asOf, "as-of", "answer from what was known then: "+timeForms)
	timeVar(flags, &f.after, "after", "only what occurred then or later: "+timeForms)
	timeVar(flags, &f.before, "before", "only what occurred before: "+timeForms)
	flags.StringVar(&f.tokenizer, "tokenizer", "", "one of "+strings.Join(tokens.Names(), ", ")+" (default "+ragctx.DefaultTokenizer+")")
}

// addSessions adds the flags of the session that asks, and of the session whose memories are searched.
func addSessions(flags *pflag.FlagSet, asks, in *string) {
	flags.StringVar(asks, "session", "", "session that asks: it has its own providers, and \"last session\" is counted from it")
	flags.StringVar(in, "in-session", "", "only memories of this session")
}

// query returns the query that the flags describe.
func (f queryFlags) query(s settings, text string) (ragctx.ContextQuery, error) {
	q := ragctx.ContextQuery{
		Query: text, Depth: ragctx.ContextDepth(strings.ToLower(f.depth)),
		MaxResults: f.maxResults, MaxTokens: f.maxTokens, Preset: f.preset,
		Namespace: s.Namespace, UserID: f.user, SessionID: f.session, AgentID: f.agent,
		AsOf: f.asOf, Filter: ragctx.Filter{OccurredAfter: f.after, OccurredBefore: f.before, SessionID: f.inSession},
		Tokenizer: f.tokenizer, Format: f.format, Explain: f.explain,
		Diversity: f.diversity, Exact: f.exact, Highlight: f.highlight,
		Blocks: f.blocks || f.format != xmlfmt.JSON, StableTokens: f.stableTokens, Spotlight: f.spotlight,
	}
	if f.noCitations {
		q.Citations = new(false)
	}
	q.MinRelevance = f.minRelevance.value
	if f.noRerank {
		q = q.WithParam("rerank", false)
	}
	if f.format == xmlfmt.JSON {
		q.Format = xmlfmt.XML // part of the printed answer
	}
	for _, name := range f.types {
		t, err := ragctx.ParseContextType(name)
		if err != nil {
			return q, asUsage(err)
		}
		q.ContextTypes = append(q.ContextTypes, t)
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
	if err := outcome(ctx, r, err); err != nil {
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
		fmt.Fprintln(stderr, "empty answer:", printable(emptyBecause(a)))
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
