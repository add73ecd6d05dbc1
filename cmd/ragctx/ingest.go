package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/fetch"
)

// ingestFlags are the flags of the command.
type ingestFlags struct {
	prefix           string
	include, exclude []string
	maxSize          sizeFlag
	sources          []string
	tags             []string
	dry              bool
	json             bool
	quiet, verbose   bool
	ignoreRobots     bool
	reread, watch    bool
	allowEmpty       bool
}

const ingestHelp = `Ingest reads files, folders and web pages into the data directory, or into the server
that has it open. Files that did not change since the last time cost next to nothing;
documents whose files are gone from a folder are removed, unless it has none at all.

Folders are read with their subfolders; .gitignore files are heeded, hidden files are
left out. Markup, text, source code, records, PDF and Office files, web pages, mails,
and archives of these are taken; --include names others. A file that cannot be read is
skipped and listed with the reason, and the command goes on: it fails only if nothing
could be ingested.

A URL is a page, or a sitemap (sitemap.xml, its .gz, a robots.txt that names some): then
all pages that it lists are fetched, two a second, as far as they are on hosts that the
command names or the setting allow_hosts allows, and robots.txt does not forbid them.
Pages that are gone, or listed no more, are removed; a failing server removes nothing.

--dry-run tells what would be done, and writes nothing. --source FILE is a JSON file
that describes a folder, or a list of such, with the options of other systems: path,
include_patterns, exclude_patterns, max_file_size, chunk_size and others.

With --watch the command goes on, and ingests what changes in the files and folders
until it is interrupted: as soon as the system tells of a change, or with --poll at
intervals, for network drives. While a folder is missing or empty, its documents stay.

The work is a job ('ragctx jobs' lists them). A server that has the data directory
is sent the files and does the rest, also when this command is killed; Ctrl-C cancels
the job. Without a server the job runs in this process, and after a kill the next
'ragctx ingest' or 'ragctx serve' goes on with it. What was ingested always stays.`

const ingestExample = `  ragctx ingest ./docs
  ragctx ingest ./handbook --prefix handbook --tag internal
  ragctx ingest . --include '*.md' --exclude 'drafts/**' --dry-run
  ragctx ingest ./docs --watch
  ragctx ingest https://example.com/guide.html https://example.com/sitemap.xml
  ragctx ingest --source docs.json`

func newIngest(env lookupEnv) *cobra.Command {
	var f ingestFlags
	cmd := &cobra.Command{
		Use:     "ingest [PATH|URL]...",
		Short:   "Read files, folders and web pages into the data directory",
		Long:    ingestHelp,
		Example: ingestExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(f.sources) > 0 {
				return nil
			}
			return atLeast(1, "a file or folder to ingest, a URL, or --source FILE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runIngest(cmd, env, f, args)
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server", "allow_hosts", "fetch_rate", "poll")
	flags.StringVar(&f.prefix, "prefix", "", "start of the documents' ids (default is the folder's name, "+
		"nothing for a file or page; parent folders come first if the name is taken)")
	flags.StringArrayVar(&f.include, "include", nil, "take only files that match this pattern; may be repeated")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "leave out files that match this pattern; may be repeated")
	flags.Var(&f.maxSize, "max-file-size", "leave out larger files, such as 512KiB (default 8MiB, and 64MiB of what is converted)")
	flags.StringArrayVar(&f.sources, "source", nil, "FILE that describes folders in JSON; may be repeated")
	flags.BoolVar(&f.ignoreRobots, "ignore-robots", false, "fetch pages that robots.txt forbids, too")
	flags.BoolVar(&f.dry, "dry-run", false, "tell what would be done, and write nothing")
	flags.StringArrayVar(&f.tags, "tag", nil, "tag of every document; may be repeated")
	flags.BoolVar(&f.reread, "reread", false, "read files again whose size and time have not changed")
	flags.BoolVar(&f.allowEmpty, "allow-empty", false, "delete the documents of a folder that has no files any more")
	flags.BoolVar(&f.watch, "watch", false, "go on: ingest what changes, until interrupted")
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
	list, err := f.ingests(s, paths, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if f.watch && f.dry {
		return badUsage("--watch and --dry-run exclude each other")
	}
	if f.watch && len(f.sources) == 0 && !slices.ContainsFunc(paths, func(p string) bool { return !fetch.IsURL(p) }) {
		return badUsage("--watch is about files and folders; run the command again for pages")
	}
	s.name(paths)
	s.ignoreRobots = f.ignoreRobots
	sites, err := s.sites()
	if err != nil {
		return err
	}
	defer sites.Close()
	read, closeReaders, err := readers()
	if err != nil {
		return err
	}
	defer func() { _ = closeReaders() }()
	for i := range list {
		list[i].Open, list[i].Extract, list[i].KeepEmpty = sites.Open, read, !f.allowEmpty
	}
	if f.dry {
		return f.runDry(ctx, s, list, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	c, err := s.open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer finish(c, &err)
	p := newProgress(cmd.ErrOrStderr(), env, f.quiet || f.json)
	start := time.Now()
	report := engine.IngestReport{Skipped: []engine.Skipped{}}
	for _, o := range list {
		o.Progress, o.Reread = p.update, f.reread
		var r engine.IngestReport
		r, err = c.ingest(ctx, o, p)
		if report = plus(report, r); err != nil {
			break
		}
	}
	p.end()
	took := time.Since(start)
	if !f.quiet {
		writeSpend(cmd.ErrOrStderr(), c)
	}
	if werr := writeReport(cmd.OutOrStdout(), f, report, duplicates(ctx, c, list, report), took); werr != nil {
		return werr
	}
	if f.watch && err == nil {
		if !f.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), "watching for changes (stop with Ctrl-C)")
		}
		return watchIngests(ctx, cmd.OutOrStdout(), c, list, s.watchOptions(s.logger(cmd.ErrOrStderr(), slog.LevelWarn)), f.json)
	}
	return outcome(ctx, report, err)
}

// duplicates counts the groups of equal or nearly equal documents after an ingest that changed
// something. Errors are ignored: the count is only a hint.
func duplicates(ctx context.Context, c *client, list []engine.IngestOptions, r engine.IngestReport) (groups int) {
	if r.Created+r.Replaced == 0 {
		return 0
	}
	seen := make(map[string]bool)
	for _, o := range list {
		if !seen[o.Namespace] {
			seen[o.Namespace] = true
			found, _ := c.Duplicates(ctx, o.Namespace, "", 1)
			groups += found.Total
		}
	}
	return groups
}

// writeReport prints the report in the requested form.
func writeReport(w io.Writer, f ingestFlags, r engine.IngestReport, same int, took time.Duration) error {
	if f.json {
		return writeJSON(w, struct {
			engine.IngestReport

			DuplicateGroups int     `json:"duplicate_groups"`
			Seconds         float64 `json:"seconds"`
		}{r, same, took.Seconds()})
	}
	writeSummary(w, r, took, f.verbose)
	if same > 0 {
		fmt.Fprintf(w, "documents that say the same or nearly the same: %d groups ('ragctx docs duplicates' lists them)\n", same)
	}
	return nil
}

// outcome returns the command's error. After an early end the stored documents stay, and the next
// ingest continues.
func outcome(ctx context.Context, r engine.IngestReport, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w after %d files; what was ingested stays, and the same command goes on from there", errInterrupted, r.Files())
	case err != nil:
		return err
	}
	if i := slices.IndexFunc(r.Skipped, engine.Skipped.IsConflict); i >= 0 {
		return fmt.Errorf("%s: %s", r.Skipped[i].Path, r.Skipped[i].Reason)
	}
	switch {
	case r.Files()+r.Deleted > 0:
		return nil
	case len(r.Skipped) > 0:
		return fmt.Errorf("nothing could be ingested: %d skipped, the first because: %s", len(r.Skipped), r.Skipped[0].Reason)
	default:
		return errors.New("nothing could be ingested: no file has a type that is taken; name other types with " +
			"--include, or files one by one")
	}
}

// exist checks that all paths exist before anything is opened for them.
func exist(paths []string) error {
	for _, p := range paths {
		if fetch.IsURL(p) {
			continue
		}
		if _, err := os.Stat(p); err != nil {
			if pe, ok := errors.AsType[*os.PathError](err); ok {
				err = pe.Err
			}
			return fmt.Errorf("%s: %w", cmp.Or(p, `""`), err)
		}
	}
	return nil
}

// excludes adds patterns to the default ones.
func excludes(patterns []string) []string {
	if len(patterns) == 0 {
		return nil
	}
	return append(docs.DefaultExclude(), patterns...)
}
