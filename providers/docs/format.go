package docs

import (
	"path"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// input is what a format's parser works on.
type input struct {
	text   string // without the ends of pages
	paged  string // with them; "" if there are none
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
	prose              []span              // paragraphs fit for an abstract, in order
	rest               []span              // what else is text, such as items of lists
	plain              func(string) string // takes inline markup out of prose; nil if there is none
	start              int                 // where the text begins after its header
}

type span struct{ start, end int }

// parseFunc finds the structure of a text in linear time.
type parseFunc func(in input) structure

// format is one kind of text.
type format struct {
	mime  string   // canonical type
	also  []string // other names of the type
	exts  []string // without dot, lower case
	names []string // of files, as patterns; before the extension
	runs  []string // interpreters of scripts, without version
	parse parseFunc
	lang  *language // of source code
}

// formats is the table of formats; the first match wins. A new format is a row
// here and a parser in its own file.
var formats = slices.Concat([]format{
	{mime: "text/markdown", also: []string{"text/x-markdown"}, exts: []string{"md", "mdx", "markdown", "mkd", "qmd", "rmd"}, parse: parseMarkdown},
	{mime: "text/plain", exts: []string{"txt", "text"}, parse: parseText},
	{mime: "text/x-rst", also: []string{"text/prs.fallenstein.rst"}, exts: []string{"rst"}, parse: parseRST},
	{mime: "text/asciidoc", also: []string{"text/x-asciidoc"}, exts: []string{"adoc", "asciidoc"}, parse: parseAsciidoc},
	{mime: "text/org", also: []string{"text/x-org"}, exts: []string{"org"}, parse: parseOrg},
	{mime: "text/x-tex", also: []string{"application/x-tex", "application/x-latex"}, exts: []string{"tex", "latex"}, parse: parseLaTeX},
	{mime: "text/html", also: []string{"application/xhtml+xml"}, exts: []string{"html", "htm", "xhtml"}, parse: parseText},
}, codeFormats())

// pages are files without an extension in which projects document themselves;
// a look at the text tells their format.
var pages = []string{
	"README", "CHANGELOG", "CHANGES", "NEWS", "HISTORY", "CONTRIBUTING", "INSTALL", "LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "TODO",
}

// formatOf picks the format of a document: by its MIME type, else by the name in
// its id, else by a look at the text. Unknown types are plain text.
func formatOf(d Document) format {
	if d.MIME != "" {
		return formatByMIME(d.MIME)
	}
	if host, rest := splitURL(d.ExternalID); host == "" || rest != "" { // the end of a host is no extension
		if f, ok := formatByExt(fileName(d.ExternalID)); ok {
			return f
		}
	}
	if f, ok := formatByInterpreter(d.Text); ok {
		return f
	}
	if looksLikeMarkdown(d.Text) {
		return formats[0]
	}
	return formats[1]
}

// formatByInterpreter picks the format of a script by its first line.
func formatByInterpreter(text string) (format, bool) {
	if !strings.HasPrefix(text, "#!") {
		return format{}, false
	}
	line, _, _ := strings.Cut(text[:min(len(text), 200)], "\n")
	for word := range strings.FieldsSeq(line[2:]) {
		word = strings.TrimRight(path.Base(word), "0123456789.")
		if word == "env" || strings.HasPrefix(word, "-") {
			continue
		}
		i := slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.runs, word) })
		if i < 0 {
			return format{}, false
		}
		return formats[i], true
	}
	return format{}, false
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

// formatByExt picks a format by a file's name: the whole of it, else its extension.
func formatByExt(name string) (format, bool) {
	for _, f := range formats {
		for _, n := range f.names {
			if ok, err := path.Match(n, name); ok && err == nil {
				return f, true
			}
		}
	}
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
		if h, _ := sentence.Heading(line); h > 0 || strings.HasPrefix(line, "```") {
			return true
		}
	}
	return false
}
