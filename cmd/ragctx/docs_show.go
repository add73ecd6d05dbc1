package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/tokens"
)

// showFlags are the flags of the command.
type showFlags struct {
	chunks, text, json bool
	at                 int // number of a chunk; -1 is none
}

const showHelp = `Show prints a document as a model can see it: title, source, abstract and outline. --chunks
adds each chunk under the id by which answers cite it, with headings, page, lines and
tokens. The id of such a citation (ID@VERSION#CHUNK) shows that chunk and its two
neighbours. --text prints the text alone. ID@VERSION is an earlier version.`

func newDocsShow(env lookupEnv) *cobra.Command {
	f := showFlags{at: -1}
	cmd := &cobra.Command{
		Use:     "show ID",
		Aliases: []string{"get"}, // which is --text
		Short:   "Show what a model can see of a document, or its text",
		Long:    showHelp,
		Example: `  ragctx docs show docs/deploy.md
  ragctx docs show docs/deploy.md --chunks
  ragctx docs show docs/deploy.md@2#14
  ragctx docs show docs/deploy.md --text > deploy.md`,
		Args: exactly(1, "one ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.text = f.text || cmd.CalledAs() == "get"
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				return showDocument(ctx, cmd.OutOrStdout(), c, s.Namespace, args[0], f)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().BoolVar(&f.chunks, "chunks", false, "print the chunks, too")
	countVar(cmd.Flags(), &f.at, "at", -1, 0, noLimit, "print this chunk, from 0, and its two neighbours")
	cmd.Flags().BoolVar(&f.text, "text", false, "print the text alone")
	jsonFlag(cmd.Flags(), &f.json)
	return cmd
}

// shownDocument is the output for a document.
type shownDocument struct {
	api.Document

	Outline []heading    `json:"outline"`
	Chunks  []shownChunk `json:"chunk_list,omitempty"`
}

// heading is a line of an outline.
type heading struct {
	Title string `json:"title"`
	Level int    `json:"level"` // from 1
	Page  int    `json:"page,omitempty"`
	Line  int    `json:"line"` // first line of the section
}

type shownChunk struct {
	api.Chunk

	Tokens int `json:"tokens"`
}

func showDocument(ctx context.Context, w io.Writer, c *client, namespace, id string, f showFlags) error {
	d, at, err := findCited(ctx, c, namespace, id)
	if err != nil {
		return err
	}
	if at = max(at, f.at); at >= len(d.ChunkList) {
		return fmt.Errorf("%s has no chunk %d; the last is %d", printable(d.ID), at, len(d.ChunkList)-1)
	}
	if f.text && !f.json && !f.chunks && at < 0 && d.Text != nil {
		_, err := io.WriteString(w, *d.Text)
		return err
	}
	counter, err := tokens.New(ragctx.DefaultTokenizer)
	if err != nil {
		return err
	}
	s := shownDocument{Document: d, Outline: outlineOf(d.ChunkList)}
	total := 0
	for _, c := range d.ChunkList {
		n := counter.Count(c.Text)
		total += n
		s.Chunks = append(s.Chunks, shownChunk{c, n})
	}
	s.ChunkList = nil
	if !f.text {
		s.Text = nil
	}
	switch {
	case at >= 0:
		s.Chunks = s.Chunks[max(0, at-1):min(len(s.Chunks), at+2)]
	case !f.chunks:
		s.Chunks = nil
	}
	if f.json {
		return writeJSON(w, s)
	}
	writeAbout(w, s, total)
	if at < 0 {
		writeOutline(w, s.Outline)
	}
	writeChunks(w, s.Chunks)
	if len(s.Chunks) == 0 {
		fmt.Fprintln(w, "\n--chunks shows the chunks")
	}
	return nil
}

// findCited returns a document, and the chunk in its id or -1.
func findCited(ctx context.Context, c *client, namespace, id string) (api.Document, int, error) {
	d, err := findDocument(ctx, c, namespace, id)
	key, version, ordinal, ok := passage.ParseItemID(id)
	if err == nil || !ok {
		return d, -1, err
	}
	d, err = c.Document(ctx, namespace, key, version)
	return d, ordinal, err
}

// outlineOf returns the headings of the chunks in order. Names of table columns are left out.
func outlineOf(chunks []api.Chunk) []heading {
	out := []heading{}
	var before []string
	for _, c := range chunks {
		same := 0
		for same < min(len(before), len(c.Heading)) && before[same] == c.Heading[same] {
			same++
		}
		for i, title := range c.Heading[same:] {
			if title != "" && !strings.Contains(title, " | ") {
				out = append(out, heading{Title: title, Level: same + i + 1, Page: c.Page, Line: c.Start.Line})
			}
		}
		before = c.Heading
	}
	return out
}

func writeAbout(w io.Writer, s shownDocument, total int) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-9s %s\n", name+":", printable(value))
		}
	}
	fmt.Fprintf(w, "%s, version %d\n", printable(s.ID), s.Version)
	line("title", s.Title)
	line("source", s.Source)
	line("type", s.MIME)
	line("size", fmt.Sprintf("%s, %s, %s (%s)", size(int64(s.Bytes)), amount(s.Document.Chunks, "chunk"), amount(total, "token"),
		ragctx.DefaultTokenizer))
	line("tags", strings.Join(s.Tags, ", "))
	for _, key := range slices.Sorted(maps.Keys(s.Metadata)) {
		line(key, fmt.Sprint(s.Metadata[key]))
	}
	if !s.Occurred.IsZero() {
		line("occurred", s.Occurred.Format("2006-01-02 15:04:05 MST"))
	}
	line("recorded", s.Recorded.Local().Format("2006-01-02 15:04:05 MST"))
	if s.Abstract != "" {
		fmt.Fprintf(w, "\nabstract\n  %s\n", printable(s.Abstract))
	}
}

func writeOutline(w io.Writer, outline []heading) {
	if len(outline) > 0 {
		fmt.Fprintln(w, "\noutline")
	}
	for _, h := range outline {
		fmt.Fprintf(w, "%s%s (%s)\n", strings.Repeat("  ", h.Level), printable(h.Title), place(h.Page, h.Line, h.Line))
	}
}

func writeChunks(w io.Writer, chunks []shownChunk) {
	for _, c := range chunks {
		fmt.Fprintf(w, "\n--- %s, %s, %s%s\n%s\n", printable(c.ID), place(c.Page, c.Start.Line, c.End.Line), amount(c.Tokens, "token"),
			under(c.Heading), visible(strings.TrimRight(c.Text, "\n\f")))
	}
}

// place returns the page, if there are pages, and the lines of a part of a document.
func place(page, from, to int) string {
	text := fmt.Sprintf("line %d", from)
	if to > from {
		text = fmt.Sprintf("lines %d-%d", from, to)
	}
	if page > 0 {
		text = fmt.Sprintf("page %d, %s", page, text)
	}
	return text
}

// under returns the headings above a chunk.
func under(headings []string) string {
	path := strings.Join(slices.DeleteFunc(slices.Clone(headings), func(h string) bool { return h == "" }), " > ")
	if path == "" {
		return ""
	}
	return ": " + printable(path)
}

// visible is [printable] for text of several lines.
func visible(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\f", "\n"), "\n")
	for i, l := range lines {
		lines[i] = printable(strings.ReplaceAll(strings.TrimSuffix(l, "\r"), "\t", "    "))
	}
	return strings.Join(lines, "\n")
}
