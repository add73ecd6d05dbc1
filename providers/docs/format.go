package docs

import (
	"path"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/prose"

	"github.com/ragctx/ragctx/chunk"
)

// input is what a format's parser works on.
type input struct {
	text   string
	name   string // file name
	lang   *language
	target int // size of a chunk, in code points
	max    int // longest chunk, in code points
}

// structure is what a parser finds in a text. All ranges are in bytes.
type structure struct {
	title, description string
	tags               []string
	blocks             []chunk.Block // what becomes chunks, in order
	outline            []Section
	prose              []span // paragraphs fit for an abstract, in order
	markdown           bool   // prose carries inline markup
	start              int    // where the text begins after its header
}

type span struct{ start, end int }

// parseFunc finds the structure of a text in linear time.
type parseFunc func(in input) structure

// format is one kind of text.
type format struct {
	mime  string   // canonical type
	also  []string // other names of the type
	exts  []string // without dot, lower case
	parse parseFunc
	lang  *language // of source code
}

// formats is the table of formats; the first match wins. A new format is a row
// here and a parser in its own file.
var formats = append([]format{
	{mime: "text/markdown", also: []string{"text/x-markdown"}, exts: []string{"md", "mdx", "markdown"}, parse: parseMarkdown},
	{mime: "text/plain", exts: []string{"txt", "text"}, parse: parseText},
	{mime: "text/x-rst", also: []string{"text/prs.fallenstein.rst"}, exts: []string{"rst"}, parse: parseText},
	{mime: "text/asciidoc", also: []string{"text/x-asciidoc"}, exts: []string{"adoc", "asciidoc"}, parse: parseText},
	{mime: "text/html", also: []string{"application/xhtml+xml"}, exts: []string{"html", "htm", "xhtml"}, parse: parseText},
}, codeFormats()...)

// formatOf picks the format of a document: by its MIME type, else by the
// extension of its id, else by a look at the text. Unknown types are plain text.
func formatOf(d Document) format {
	if d.MIME != "" {
		return formatByMIME(d.MIME)
	}
	if f, ok := formatByExt(fileName(d.ExternalID)); ok {
		return f
	}
	if looksLikeMarkdown(d.Text) {
		return formats[0]
	}
	return formats[1]
}

func formatByMIME(mime string) format {
	mime, _, _ = strings.Cut(mime, ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	for _, f := range formats {
		if f.mime == mime || slices.Contains(f.also, mime) {
			return f
		}
	}
	return formats[1]
}

// formatByExt picks a format by the extension of a file's name.
func formatByExt(name string) (format, bool) {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if ext == "" {
		return format{}, false
	}
	for _, f := range formats {
		if slices.Contains(f.exts, ext) {
			return f, true
		}
	}
	return format{}, false
}

// looksLikeMarkdown reports whether a text of unknown type has a Markdown
// heading or code fence near its beginning.
func looksLikeMarkdown(text string) bool {
	n := 0
	for line := range strings.Lines(text[:min(len(text), 64<<10)]) {
		if n++; n > 200 {
			break
		}
		if h, _ := prose.Heading(line); h > 0 || strings.HasPrefix(line, "```") {
			return true
		}
	}
	return false
}

// parseText is the parser of text without markup.
func parseText(in input) structure {
	s := structure{blocks: []chunk.Block{{End: len(in.text)}}}
	start := -1
	at := 0
	for line := range strings.Lines(in.text) {
		switch blank := strings.TrimSpace(line) == ""; {
		case blank && start >= 0:
			s.prose = append(s.prose, span{start, at})
			start = -1
		case !blank && start < 0:
			start = at
		}
		at += len(line)
	}
	if start >= 0 {
		s.prose = append(s.prose, span{start, at})
	}
	return s
}
