package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/internal/imports"
	"github.com/ragctx/ragctx/internal/store"
)

const importHelp = `Import reads the exports and stores of other systems. Documents keep their ids and metadata.
Conversations become turns with their times, from which memories are learnt. Memories stay
memories. Vectors are not imported: ragctx computes its own.

Importing again changes only what is new or different. So an import that was interrupted is
continued by the same command. Things that are left out are counted with the reason. An item
that cannot be read or stored fails alone; then the exit status is 1.

A ZIP may also be its unpacked folder. Documents belong to everyone in the namespace: use one
of its own for private exports. The kinds are:

`

const importExample = `  ragctx import obsidian ~/Notes
  ragctx import chatgpt chatgpt-export.zip --user ada
  ragctx import slack slack-export.zip --namespace team
  ragctx import qdrant http://localhost:6333`

// Sizes of the batches of documents that an import sends.
const (
	importBatch = 500
	importBytes = 8 << 20 // text
)

// importListed is how many failed items are listed.
const importListed = 1000

func newImport(env lookupEnv) *cobra.Command {
	var user string
	var asJSON, quiet bool
	var names []string
	var kinds strings.Builder
	for _, k := range imports.Kinds() {
		names = append(names, k.Name)
		fmt.Fprintf(&kinds, "  %-12s %-8s %s\n", k.Name, k.Source, k.What)
	}
	cmd := &cobra.Command{
		Use: "import KIND SOURCE", Short: "Take over documents, conversations and memories of other systems",
		Long: strings.TrimSpace(importHelp + kinds.String()), Example: importExample,
		Args: exactly(2, "one KIND and one SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, args[0])
			if i < 0 {
				return badUsage("KIND %q is unknown; use %s", ragctx.Clip(args[0]), strings.Join(names, ", "))
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				w := &importer{client: c, namespace: s.Namespace, user: user, progress: cmd.ErrOrStderr(), last: time.Now()}
				if quiet || asJSON {
					w.progress = io.Discard
				}
				c.startJobs()
				err := imports.Kinds()[i].Read(ctx, args[1], func(item imports.Item) error { return w.take(ctx, item) })
				if ferr := w.flush(ctx); err == nil || errors.Is(err, ctx.Err()) {
					err = errors.Join(err, ferr)
				}
				return errors.Join(w.print(cmd.OutOrStdout(), cmd.ErrOrStderr(), asJSON, err == nil), w.outcome(ctx, err))
			})
		},
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().StringVar(&user, "user", "", "user of conversations, and of memories that name none (default none)")
	jsonFlag(cmd.Flags(), &asJSON)
	quietFlag(cmd.Flags(), &quiet)
	return cmd
}

// importReport is the result of an import.
type importReport struct {
	Documents importCounts `json:"documents"`
	Memories  importCounts `json:"memories"`
	Turns     importCounts `json:"turns"`
	// LeftOut counts the things that were read and are not imported, by reason.
	LeftOut []importLeftOut `json:"left_out"`
	Failed  int             `json:"failed"`
	// Errors lists the first failed items.
	Errors []importError `json:"errors"`
}

type importCounts struct {
	Created   int `json:"created"`
	Replaced  int `json:"replaced"`
	Unchanged int `json:"unchanged"`
}

type importLeftOut struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	First  string `json:"first"` // name of the first thing
}

type importError struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// importer stores the items of a source through the API.
type importer struct {
	*client

	namespace, user string
	documents       []imports.Item // the next batch
	bytes           int            // of their texts
	report          importReport
	taken           int
	progress        io.Writer
	last            time.Time // of the last line of progress
}

// take stores an item, perhaps later with its batch. An error ends the import.
func (w *importer) take(ctx context.Context, item imports.Item) error {
	w.taken++
	if now := time.Now(); now.Sub(w.last) > lineEvery {
		w.last = now
		fmt.Fprintf(w.progress, "importing: %s, %s\n", amount(w.taken, "item"), printable(item.Name))
	}
	switch {
	case item.Err != nil:
		w.fail(item.Name, item.Err)
	case item.LeftOut != "":
		w.leaveOut(item)
	case item.Turn != nil:
		return w.turn(ctx, item)
	case item.Memory != nil:
		return w.memory(ctx, item)
	case item.Document != nil:
		if err := ragctx.ValidText("text", item.Document.Text); err != nil {
			w.fail(item.Name, err)
			return nil
		}
		w.documents = append(w.documents, item)
		w.bytes += len(item.Document.Text)
	}
	if len(w.documents) < importBatch && w.bytes < importBytes {
		return nil
	}
	return w.flush(ctx)
}

func (w *importer) fail(name string, err error) {
	w.report.Failed++
	if len(w.report.Errors) < importListed {
		w.report.Errors = append(w.report.Errors, importError{name, withoutPackages(oneLine(err))})
	}
}

func (w *importer) leaveOut(item imports.Item) {
	for i := range w.report.LeftOut {
		if l := &w.report.LeftOut[i]; l.Reason == item.LeftOut {
			l.Count++
			return
		}
	}
	w.report.LeftOut = append(w.report.LeftOut, importLeftOut{item.LeftOut, 1, item.Name})
}

// turn stores a turn. A turn that was imported before with other words is left out.
func (w *importer) turn(ctx context.Context, item imports.Item) error {
	t := *item.Turn
	t.Namespace = w.namespace
	if t.UserID == "" {
		t.UserID = w.user
	}
	done, err := w.CompleteTurn(ctx, t)
	if errors.Is(err, ragctx.ErrConflict) {
		item.LeftOut = "turns that differ from the stored turn of the same id, or whose memory was deleted"
		w.leaveOut(item)
		return nil
	}
	return w.stored(ctx, item, done.Status, err, &w.report.Turns)
}

// memory stores a memory. One that gives orders to an agent is quarantined, because another system wrote it.
func (w *importer) memory(ctx context.Context, item imports.Item) error {
	m := *item.Memory
	m.Namespace, m.Origin = w.namespace, ragctx.FromDocument
	if m.UserID == "" {
		m.UserID = w.user
	}
	_, status, err := w.Remember(ctx, m)
	if status == store.InQuarantine {
		item.LeftOut = "memories in quarantine; 'ragctx memory quarantine' lists them"
		w.leaveOut(item)
		return nil
	}
	return w.stored(ctx, item, status, err, &w.report.Memories)
}

// stored counts an item. An error about more than this item ends the import.
func (w *importer) stored(ctx context.Context, item imports.Item, status store.Status, err error, counts *importCounts) error {
	switch {
	case err != nil && endsImport(ctx, err):
		return fmt.Errorf("%s: %w", item.Name, err)
	case err != nil:
		w.fail(item.Name, err)
	default:
		counts.add(status, 1)
	}
	return nil
}

func (c *importCounts) add(status store.Status, n int) {
	switch status {
	case store.Created:
		c.Created += n
	case store.Replaced:
		c.Replaced += n
	default:
		c.Unchanged += n
	}
}

// endsImport reports whether an error is about more than one item.
func endsImport(ctx context.Context, err error) bool {
	_, code := ragctx.CodeOf(err)
	return ctx.Err() != nil || code >= http.StatusInternalServerError || code == http.StatusUnauthorized || code == http.StatusForbidden
}

// flush stores the batch of documents by a job, and waits for it.
func (w *importer) flush(ctx context.Context) error {
	items := w.documents
	w.documents, w.bytes = nil, 0
	if ctx.Err() != nil || len(items) == 0 {
		return ctx.Err()
	}
	names := make([]string, len(items))
	var lines iter.Seq2[api.BulkLine, error] = func(yield func(api.BulkLine, error) bool) {
		for i, item := range items {
			d := item.Document
			names[i] = item.Name
			if !yield(api.BulkLine{
				ID: d.ExternalID, Text: d.Text, Title: d.Title, Source: d.Source, MIME: d.MIME, Tags: d.Tags, Metadata: d.Metadata,
				Occurred: d.Occurred,
			}, nil) {
				return
			}
		}
	}
	j, err := w.PutDocuments(ctx, w.namespace, lines)
	if err != nil {
		return err
	}
	r, err := followIngest(ctx, w.client, j, names, noProgress{})
	w.report.Documents.add(store.Created, r.Created)
	w.report.Documents.add(store.Replaced, r.Replaced)
	w.report.Documents.add(store.Unchanged, r.Unchanged)
	for _, s := range r.Skipped {
		w.fail(s.Path, errors.New(s.Reason))
	}
	return err
}

// outcome returns the error of the command.
func (w *importer) outcome(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w; imported items stay, and the same command continues from there", errInterrupted)
	case err != nil:
		return err
	case w.report.Failed > 0:
		return fmt.Errorf("%s not imported; see above", amount(w.report.Failed, "item"))
	default:
		return nil
	}
}

// print prints the report of an import that is done or was ended. Items that are not imported go to stderr.
func (w *importer) print(stdout, stderr io.Writer, asJSON, done bool) error {
	r := w.report
	if asJSON {
		if r.LeftOut == nil {
			r.LeftOut = []importLeftOut{}
		}
		if r.Errors == nil {
			r.Errors = []importError{}
		}
		return writeJSON(stdout, r)
	}
	for _, e := range r.Errors {
		fmt.Fprintf(stderr, "%s: %s\n", printable(e.Name), printable(e.Error))
	}
	for _, l := range r.LeftOut {
		fmt.Fprintf(stderr, "left out %d: %s (first: %s)\n", l.Count, printable(l.Reason), printable(l.First))
	}
	for _, row := range []struct {
		noun string
		importCounts
	}{{"document", r.Documents}, {"memory", r.Memories}, {"turn", r.Turns}} {
		n := row.Created + row.Replaced + row.Unchanged
		if n == 0 {
			continue
		}
		if _, err := fmt.Fprintf(stdout, "%s: %d created, %d replaced, %d unchanged\n", amount(n, row.noun), row.Created, row.Replaced,
			row.Unchanged); err != nil {
			return err
		}
	}
	if done && r.Documents == (importCounts{}) && r.Memories == (importCounts{}) && r.Turns == (importCounts{}) {
		_, err := fmt.Fprintln(stdout, "nothing was imported")
		return err
	}
	return nil
}
