package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

func newDocs(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "docs",
		Short: "List, show, compare and remove documents",
		Example: `  ragctx docs list
  ragctx docs show docs/deploy.md --chunks
  ragctx docs rm docs/old.md docs/older.md`,
	}
	group(cmd)
	cmd.AddCommand(newDocsList(env), newDocsShow(env), newDocsGet(env), newDocsDuplicates(env), newDocsRemove(env))
	return cmd
}

func newDocsList(env lookupEnv) *cobra.Command {
	var prefix string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List documents by id",
		Example: `  ragctx docs list
  ragctx docs list --prefix handbook/ --json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				list := &documentList{w: cmd.OutOrStdout(), json: asJSON}
				if err := allDocuments(ctx, c.ListDocuments, s.Namespace, prefix, list.page); err != nil {
					return err
				}
				if list.none() {
					printNone(ctx, cmd.ErrOrStderr(), c, s.Namespace, "documents")
				}
				return list.end()
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().StringVar(&prefix, "prefix", "", "only ids that start with this")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// documentList writes a list of documents, without --json page by page.
type documentList struct {
	w    io.Writer
	json bool
	all  []store.Document
	n    int
}

func (l *documentList) page(page []store.Document) error {
	if l.json {
		l.all = append(l.all, page...)
		return nil
	}
	var rows [][]any
	if l.n == 0 && len(page) > 0 {
		rows = append(rows, []any{"ID", "VERSION", "CHUNKS", "SIZE", "TITLE"})
	}
	for _, d := range page {
		rows = append(rows, []any{printable(d.ID), d.Version, d.Chunks, size(int64(d.Bytes)), printable(d.Title)})
	}
	l.n += len(page)
	return writeRows(l.w, rows)
}

// idColumn is the maximum width of the column of ids. A longer id is written completely, so that it
// can be copied, and shifts only its row.
const idColumn = 60

func writeRows(w io.Writer, rows [][]any) error {
	width := 0
	for _, row := range rows {
		width = max(width, utf8.RuneCountInString(fmt.Sprint(row[0])))
	}
	for _, row := range rows {
		line := fmt.Sprintf("%-*v  %7v  %6v  %9v  %v", append([]any{min(width, idColumn)}, row...)...)
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return fmt.Errorf("write list: %w", err)
		}
	}
	return nil
}

// none reports whether the list for people is empty.
func (l *documentList) none() bool { return !l.json && l.n == 0 }

func (l *documentList) end() error {
	if !l.json {
		return nil
	}
	if l.all == nil {
		l.all = []store.Document{}
	}
	return writeJSON(l.w, l.all)
}

// allDocuments calls fn with every page of a namespace's documents.
func allDocuments(ctx context.Context, list engine.ListDocuments, namespace, prefix string, fn func([]store.Document) error) error {
	o := store.ListOptions{Prefix: prefix, Limit: engine.MaxPage}
	for {
		page, err := list(ctx, namespace, o)
		if err != nil {
			return err
		}
		if err := fn(page); err != nil {
			return err
		}
		if len(page) < o.Limit {
			return nil
		}
		o.After = page[len(page)-1].ID
	}
}

func newDocsGet(env lookupEnv) *cobra.Command {
	var chunks, asJSON bool
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Print a document's text",
		Long:  "Get prints a document's text, or the chunks it was cut into. ID@VERSION\nprints an earlier version.",
		Example: `  ragctx docs get docs/deploy.md
  ragctx docs get docs/deploy.md --chunks
  ragctx docs get docs/deploy.md --json`,
		Args: exactly(1, "one ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				return getDocument(ctx, cmd.OutOrStdout(), c, s.Namespace, args[0], chunks, asJSON)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().BoolVar(&chunks, "chunks", false, "print the chunks instead of the text")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print everything known about the document as JSON")
	return cmd
}

func getDocument(ctx context.Context, w io.Writer, c *client, namespace, id string, chunks, asJSON bool) error {
	d, err := findDocument(ctx, c, namespace, id)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		if !chunks {
			d.ChunkList = nil
		}
		return writeJSON(w, d)
	case chunks:
		for _, c := range d.ChunkList {
			fmt.Fprintf(w, "--- %s, %s: %s\n%s\n", printable(c.ID), place(c.Page, c.Start.Line, c.Start.Line),
				printable(strings.Join(c.Heading, " / ")), strings.TrimRight(strings.ReplaceAll(c.Text, "\f", "\n"), "\n"))
		}
		return nil
	case d.Text == nil:
		return nil
	}
	_, err = io.WriteString(w, *d.Text)
	return err
}

// findDocument returns the current version of a document, or of an id that ends with a version that
// version. A document with exactly this id comes first.
func findDocument(ctx context.Context, c *client, namespace, id string) (api.Document, error) {
	d, err := c.Document(ctx, namespace, id, 0)
	if !errors.Is(err, ragctx.ErrNotFound) {
		return d, err
	}
	if key, version, _, ok := passage.ParseItemID(id + "#0"); ok {
		return c.Document(ctx, namespace, key, version)
	}
	return d, err
}

func newDocsRemove(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rm ID...",
		Short:   "Remove documents from every answer",
		Example: "  ragctx docs rm docs/old.md",
		Args:    atLeast(1, "the ID of a document"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				return removeDocuments(ctx, cmd.OutOrStdout(), c, s.Namespace, args)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	return cmd
}

// removeDocuments removes as many documents as possible, and the error names the others.
func removeDocuments(ctx context.Context, w io.Writer, c *client, namespace string, ids []string) error {
	var errs []error
	for _, id := range ids {
		if err := c.DeleteDocument(ctx, namespace, id); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", ragctx.Clip(id), err))
			continue
		}
		fmt.Fprintln(w, "removed", printable(id))
	}
	return errors.Join(errs...)
}

// withClient calls fn with the client that the settings name.
func withClient(cmd *cobra.Command, env lookupEnv, fn func(context.Context, settings, *client) error) (err error) {
	ctx := cmd.Context()
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	c, err := s.open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer finish(c, &err)
	return fn(ctx, s, c)
}
