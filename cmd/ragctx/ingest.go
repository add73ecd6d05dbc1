package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
)

// ingestFlags are the flags of the command.
type ingestFlags struct {
	prefix           string
	include, exclude []string
	tags             []string
	json             bool
	quiet, verbose   bool
}

const ingestHelp = `Ingest reads files and folders into the data directory, or into the server that
has it open. Files that did not change since the last time cost next to nothing;
documents whose files are gone from a folder are removed.

Folders are read with their subfolders; .gitignore files are heeded, hidden and
binary files are left out. Markdown, text, source code and configuration files are
taken; --include names others. A file that cannot be read is skipped and listed with
the reason, and the command goes on: it fails only if nothing could be ingested.

The work is a job ('ragctx jobs' lists them). A server that has the data directory
is sent the files and does the rest, also when this command is killed; Ctrl-C cancels
the job. Without a server the job runs in this process, and after a kill the next
'ragctx ingest' or 'ragctx serve' goes on with it. What was ingested always stays.`

const ingestExample = `  ragctx ingest ./docs
  ragctx ingest ./handbook --prefix handbook --tag internal
  ragctx ingest . --include '*.md' --exclude 'drafts/**'`

func newIngest(env lookupEnv) *cobra.Command {
	var f ingestFlags
	cmd := &cobra.Command{
		Use:     "ingest PATH...",
		Short:   "Read files and folders into the data directory",
		Long:    ingestHelp,
		Example: ingestExample,
		Args:    atLeast(1, "a file or folder to ingest"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runIngest(cmd, env, f, args)
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	flags.StringVar(&f.prefix, "prefix", "", "start of the documents' ids (default is the folder's name, nothing for a file)")
	flags.StringArrayVar(&f.include, "include", nil, "take only files that match this pattern; may be repeated")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "leave out files that match this pattern; may be repeated")
	flags.StringArrayVar(&f.tags, "tag", nil, "tag of every document; may be repeated")
	flags.BoolVar(&f.json, "json", false, "print the report as JSON")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list every skipped file")
	return cmd
}

func runIngest(cmd *cobra.Command, env lookupEnv, f ingestFlags, paths []string) (err error) {
	ctx := cmd.Context()
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	if err := exist(paths); err != nil {
		return err
	}
	b, err := s.open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer finish(b, &err)
	p := newJobProgress(cmd.ErrOrStderr(), env, f.quiet || f.json)
	start := time.Now()
	report, err := b.ingest(ctx, engine.IngestOptions{
		Namespace: s.Namespace, Paths: paths, Prefix: f.prefix, Tags: f.tags,
		Walk: docs.WalkOptions{Include: f.include, Exclude: excludes(f.exclude)}, Progress: p.update,
	}, p)
	p.end()
	took := time.Since(start)
	if !f.quiet {
		writeSpend(cmd.ErrOrStderr(), b.backend)
	}
	if werr := writeReport(cmd.OutOrStdout(), f, report, took); werr != nil {
		return werr
	}
	return outcome(ctx, report, err)
}

// writeReport writes the report as asked for.
func writeReport(w io.Writer, f ingestFlags, r engine.IngestReport, took time.Duration) error {
	if f.json {
		return writeJSON(w, struct {
			engine.IngestReport

			Seconds float64 `json:"seconds"`
		}{r, took.Seconds()})
	}
	writeSummary(w, r, took, f.verbose)
	return nil
}

// outcome is the command's error: what was stored stays, also when the ingest
// ended early, and the next one goes on from there.
func outcome(ctx context.Context, r engine.IngestReport, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w after %d files; what was ingested stays, and the same command goes on from there", errInterrupted, r.Files())
	case err != nil:
		return err
	case r.Files()+r.Deleted > 0:
		return nil
	case len(r.Skipped) > 0:
		return fmt.Errorf("nothing could be ingested: %d skipped, the first because: %s", len(r.Skipped), r.Skipped[0].Reason)
	default:
		return errors.New("nothing could be ingested: no file has a type that is taken; name other types with --include, or files one by one")
	}
}

// exist checks that all paths are there, before anything is opened for them.
func exist(paths []string) error {
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			if pe, ok := errors.AsType[*os.PathError](err); ok {
				err = pe.Err
			}
			return fmt.Errorf("%s: %w", cmp.Or(p, `""`), err)
		}
	}
	return nil
}

// excludes adds to what is left out by default.
func excludes(patterns []string) []string {
	if len(patterns) == 0 {
		return nil
	}
	return append(docs.DefaultExclude(), patterns...)
}
