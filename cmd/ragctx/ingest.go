package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
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

const ingestHelp = `Ingest reads files, folders and web pages into the data directory, or sends them to the
server that has it open. Files that did not change cost next to nothing. Documents whose
files are gone from a folder are deleted, unless the folder has no files at all.

Folders are read with their subfolders. Hidden files and files that .gitignore names are left out.
Ingest reads markup, text, source code, records, PDF and Office files, web pages, mails, and
archives of these; --include names other files. A file that cannot be read is skipped and
listed with the reason. The exit status is 1 if the command line names the file itself, or if
nothing could be ingested.

A URL is a page or a sitemap (sitemap.xml, its .gz, or a robots.txt that names sitemaps). Of a
sitemap all pages are fetched, two per second, if their hosts are named by the command or by
allow_hosts and robots.txt permits. Pages that are gone or no longer listed are deleted. A
failing server deletes nothing.

--dry-run shows the changes and writes nothing. --source FILE is a JSON file that describes
one or several folders with the options of other systems: path, include_patterns,
exclude_patterns, max_file_size, chunk_size and others.

With --watch the command continues until it is interrupted and ingests changed files, as soon
as the system reports them or, with --poll, at intervals (for network drives). While a folder
is missing or empty, its documents stay.

The work is a job ('ragctx jobs list' shows it). A server receives the files and completes the
job, even if this command is killed; Ctrl-C cancels it. Without a server the job runs in this
process, and after a kill the next 'ragctx ingest' or 'ragctx serve' continues it. Ingested
documents always stay.`

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
			return atLeastOne("a file or folder to ingest, a URL, or --source FILE")(cmd, args)
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
	flags.Var(&f.maxSize, "max-file-size", "skip larger files, such as 512KiB (default 8MiB, and 64MiB for files that are converted)")
	flags.StringArrayVar(&f.sources, "source", nil, "FILE that describes folders in JSON; may be repeated")
	flags.BoolVar(&f.ignoreRobots, "ignore-robots", false, "fetch pages that robots.txt forbids, too")
	dryRunFlag(flags, &f.dry)
	flags.StringArrayVar(&f.tags, "tag", nil, "tag of every document; may be repeated")
	flags.BoolVar(&f.reread, "reread", false, "read unchanged files again")
	flags.BoolVar(&f.allowEmpty, "allow-empty", false, "delete the documents of a folder that has no files any more")
	flags.BoolVar(&f.watch, "watch", false, "continue with changed files until interrupted")
	jsonFlag(cmd.Flags(), &f.json)
	quietFlag(flags, &f.quiet)
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
	return outcome(ctx, report, err, list)
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
		fmt.Fprintf(w, "documents with the same or nearly the same text: %s ('ragctx docs duplicates' lists them)\n", amount(same, "group"))
	}
	return nil
}

// outcome returns the command's error: a file or page that the command names was skipped, or nothing
// was ingested. After an early end the stored documents stay, and the next ingest continues.
func outcome(ctx context.Context, r engine.IngestReport, err error, of []engine.IngestOptions) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w after %s; ingested files stay, and the same command continues from there", errInterrupted,
			amount(r.Files(), "file"))
	case err != nil:
		return err
	}
	i := slices.IndexFunc(r.Skipped, func(s engine.Skipped) bool {
		return s.IsConflict() || slices.ContainsFunc(of, func(o engine.IngestOptions) bool { return isNamed(o, s.Path) })
	})
	if i >= 0 {
		return fmt.Errorf("%s: %s", r.Skipped[i].Path, r.Skipped[i].Reason)
	}
	switch {
	case r.Files()+r.Deleted > 0:
		return nil
	case len(r.Skipped) > 0:
		return fmt.Errorf("nothing could be ingested: %s skipped, the first because: %s", amount(len(r.Skipped), "file"),
			r.Skipped[0].Reason)
	case len(r.LeftOut.Types)+r.LeftOut.Hidden+r.LeftOut.Ignored+r.LeftOut.Excluded == 0:
		return errors.New("nothing could be ingested: there is no file; name a folder that has files")
	default:
		return errors.New("nothing could be ingested: no file has a type that is taken; name other types with " +
			"--include, or files one by one")
	}
}

// isNamed reports whether an ingest names a file or page itself.
func isNamed(o engine.IngestOptions, path string) bool {
	whole := func(p string) string {
		if abs, err := filepath.Abs(p); err == nil && !fetch.IsURL(p) {
			return abs
		}
		return p
	}
	return slices.ContainsFunc(o.Paths, func(p string) bool { return whole(p) == whole(path) })
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
