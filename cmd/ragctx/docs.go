package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
		Use:     "docs",
		Aliases: []string{"documents"},
		Short:   "List, show, compare and delete documents",
		Example: `  ragctx docs list
  ragctx docs show docs/deploy.md --chunks
  ragctx docs delete docs/old.md docs/older.md`,
	}
	group(cmd)
	cmd.AddCommand(newDocsList(env), newDocsShow(env), newDocsDuplicates(env), newDocsDelete(env))
	return cmd
}

func newDocsList(env lookupEnv) *cobra.Command {
	var prefix string
	var l labels
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List documents by id",
		Example: `  ragctx docs list --limit 20
  ragctx docs list --prefix handbook/ --tag internal --json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := l.filter()
			if err != nil {
				return err
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				list := &documentList{w: cmd.OutOrStdout(), json: asJSON, filter: f, limit: limit}
				err := allDocuments(ctx, c.ListDocuments, s.Namespace, prefix, list.page)
				if err != nil && !errors.Is(err, errEnoughListed) {
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
	prefixFlag(cmd.Flags(), &prefix)
	l.add(cmd.Flags())
	limitFlag(cmd.Flags(), &limit, 0, 0, noLimit)
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// documentList writes a list of documents, without --json page by page.
type documentList struct {
	w      io.Writer
	json   bool
	filter ragctx.Filter
	limit  int // 0 is none
	all    []store.Document
	n      int
}

// errEnoughListed ends a list at its limit.
var errEnoughListed = errors.New("enough")

func (l *documentList) page(page []store.Document) error {
	page = slices.DeleteFunc(page, func(d store.Document) bool { return !matches(d, l.filter) })
	var enough error
	if l.limit > 0 && l.n+len(page) >= l.limit {
		page, enough = page[:l.limit-l.n], errEnoughListed
	}
	return errors.Join(l.write(page), enough)
}

// matches reports whether a document has the tags and the metadata of a filter.
func matches(d store.Document, f ragctx.Filter) bool {
	for _, tag := range f.Tags {
		if !slices.Contains(d.Tags, tag) {
			return false
		}
	}
	for key, value := range f.Metadata {
		if got, ok := d.Metadata[key]; !ok || fmt.Sprint(got) != value {
			return false
		}
	}
	return true
}

func (l *documentList) write(page []store.Document) error {
	first := l.n == 0
	l.n += len(page)
	if l.json {
		l.all = append(l.all, page...)
		return nil
	}
	var rows [][]any
	if first && len(page) > 0 {
		rows = append(rows, []any{"ID", "VERSION", "CHUNKS", "SIZE", "TITLE"})
	}
	for _, d := range page {
		rows = append(rows, []any{printable(d.ID), d.Version, d.Chunks, size(int64(d.Bytes)), printable(d.Title)})
	}
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

func newDocsDelete(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "delete ID...",
		Short:   "Remove documents from every answer",
		Example: "  ragctx docs delete docs/old.md",
		Args:    atLeastOne("the ID of a document"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				return deleteDocuments(ctx, cmd.OutOrStdout(), c, s.Namespace, args)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	return cmd
}

// deleteDocuments deletes as many documents as possible, and the error names the others.
func deleteDocuments(ctx context.Context, w io.Writer, c *client, namespace string, ids []string) error {
	var errs []error
	for _, id := range ids {
		if err := c.DeleteDocument(ctx, namespace, id); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", ragctx.Clip(id), err))
			continue
		}
		fmt.Fprintln(w, "deleted", printable(id))
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
