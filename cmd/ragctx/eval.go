package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/bench/eval"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/engine"
)

// evalFlags are the flags of the command.
type evalFlags struct {
	data, out      string
	sets, modes    []string
	via            string
	compare, fresh bool
	ablate         bool
	json           bool
}

const evalHelp = `Eval measures relevance on collections with human judgements.

For this command --data is the directory of the collections, not ragctx's data directory,
and RAGCTX_DATA is not read. It (or RAGCTX_EVAL_DATA) holds one directory per set, in the
layout of BEIR: corpus.jsonl, queries.jsonl, qrels.tsv and, for sets with categories,
groups.tsv. Each set is ingested into a data directory below --out, which later runs use
again. Then one client sends every query. Run files, report.json and the results stay in
--out.

With --compare, eval sends no queries. It compares the run files of two such directories,
query by query. It marks differences that are unlikely to be chance (paired bootstrap over
at least 10 queries, p < .05).

With --ablate, eval sends every query once more for each feature of the search that can be
switched. It writes a page in Markdown with the worth of each feature on each set.`

const evalExample = `  ragctx eval --data ./collections --out ./before
  ragctx eval --data ./collections --out ./after --sets scifact,cosqa --modes keyword
  ragctx eval --data ./collections --out ./mine --embedder static:./my-table
  ragctx eval --data ./sets --out ./service --embed-shape ollama --embed-model nomic-embed-text
  ragctx eval --data ./collections --compare ./before ./after
  ragctx eval --data ./collections --out ./after --ablate > ablation.md`

func newEval(env lookupEnv) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:     "eval",
		Short:   "Measure relevance on judged collections",
		Long:    evalHelp,
		Example: evalExample,
		RunE:    func(cmd *cobra.Command, args []string) error { return runEval(cmd, env, f, args) },
	}
	flags := cmd.Flags()
	addSettings(flags, append(names(embedSettings()), "embedder", "vector_graph")...)
	flags.StringVar(&f.data, "data", "", "directory of collections, not the data directory of other commands (env RAGCTX_EVAL_DATA)")
	flags.StringVar(&f.out, "out", "", "directory for results, used again by later runs")
	flags.StringSliceVar(&f.sets, "sets", nil, "sets to measure (default all)")
	flags.StringSliceVar(&f.modes, "modes", nil, "modes of search: "+strings.Join(eval.Modes(), ", ")+" (default all)")
	flags.StringVar(&f.via, "via", eval.ViaAuto,
		"how entries are ingested: docs, turns, nameless (turns without names and roles), or auto by whether they belong to sessions")
	flags.BoolVar(&f.fresh, "fresh", false, "ingest existing sets again")
	flags.BoolVar(&f.compare, "compare", false, "compare the results in two directories")
	flags.BoolVar(&f.ablate, "ablate", false, "measure the worth of each feature of ranking")
	jsonFlag(cmd.Flags(), &f.json)
	return cmd
}

func runEval(cmd *cobra.Command, env lookupEnv, f evalFlags, args []string) error {
	if f.data == "" {
		f.data, _ = env("RAGCTX_EVAL_DATA")
	}
	if f.data == "" {
		return badUsage("needs --data, the directory of collections (or RAGCTX_EVAL_DATA)")
	}
	if f.compare {
		for _, name := range append(names(embedSettings()), "embedder", "out", "sets", "modes", "via", "fresh", "ablate", "vector_graph") {
			if name = flagName(name); cmd.Flags().Changed(name) {
				return badUsage("--%s says how to measure, and --compare only compares; leave one of them out", name)
			}
		}
		return f.runCompare(cmd, args)
	}
	if err := none(cmd, args); err != nil {
		return err
	}
	if f.out == "" {
		return badUsage("needs --out, a directory for the results")
	}
	// The setting data is not used here.
	graph, err := cmd.Flags().GetString(flagName("vector_graph"))
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	w := &evalLines{w: cmd.ErrOrStderr(), now: time.Now}
	o := eval.Options{
		Data: f.data, Out: f.out, Sets: f.sets, Modes: f.modes, Via: f.via, Fresh: f.fresh, VectorGraph: graph,
		Within: func(ctx context.Context, e *engine.Engine, q ragctx.ContextQuery) ([]string, bool, error) {
			return e.Memories().Within(ctx, q)
		},
		CPU: processCPU, Progress: w.update, Logger: log,
	}
	done, err := useEvalSettings(cmd, env, &o)
	if err != nil {
		return err
	}
	defer done()
	if f.ablate {
		if cmd.Flags().Changed("modes") {
			return badUsage("--ablate measures variants of the engine as it is, not modes; leave --modes out")
		}
		return f.runAblate(cmd, o)
	}
	report, err := eval.Run(ctx, o)
	if len(report.Sets) > 0 {
		err = errors.Join(err, f.write(cmd.OutOrStdout(), report))
	}
	return err
}

// useEvalSettings sets the embedder, with its number of dimensions, and the place of the indexes from the settings. It returns a function
// that closes the embedder. Without one, new data directories have theirs.
func useEvalSettings(cmd *cobra.Command, env lookupEnv, to *eval.Options) (done func(), err error) {
	s, err := load(cmd, env)
	if err != nil {
		return nil, err
	}
	o := engine.Options{Logger: to.Logger}
	if done, err = s.useEmbedder(&o); err != nil {
		return nil, err
	}
	to.Embedder, to.Index, to.IndexKey = o.Embedder, s.index(), s.indexKey
	u, ok := o.Embedder.(embed.Unsized)
	if !ok {
		return done, nil
	}
	if to.Embedder, err = u.Sized(cmd.Context()); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

func (f evalFlags) write(w io.Writer, r eval.Report) error {
	if f.json {
		return writeJSON(w, r)
	}
	return eval.WriteTable(w, r)
}

// ablateCommand regenerates the page.
const ablateCommand = "ragctx eval --data COLLECTIONS --out RESULTS --ablate"

func (f evalFlags) runAblate(cmd *cobra.Command, o eval.Options) error {
	a, err := eval.Ablate(cmd.Context(), o, eval.Variants())
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), a)
	}
	return a.WriteMarkdown(cmd.OutOrStdout(), ablateCommand)
}

func (f evalFlags) runCompare(cmd *cobra.Command, args []string) error {
	if err := exactly(2, "two directories of results")(cmd, args); err != nil {
		return err
	}
	c, err := eval.Compare(cmd.Context(), f.data, args[0], args[1])
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), c)
	}
	return eval.WriteComparison(cmd.OutOrStdout(), c, filepath.Base(args[0]), filepath.Base(args[1]))
}

// evalLines prints the progress of a measurement now and then.
type evalLines struct {
	w    io.Writer
	now  func() time.Time
	last time.Time
}

func (l *evalLines) update(p eval.Progress) {
	now := l.now()
	if p.Done < p.Total && now.Sub(l.last) < lineEvery {
		return
	}
	l.last = now
	fmt.Fprintf(l.w, "%s: %s, %d of %d\n", p.Set, p.Stage, p.Done, p.Total)
}
