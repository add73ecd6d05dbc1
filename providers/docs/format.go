package docs

import (
	"path"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// input is the input of a format's parser.
type input struct {
	text   string // without form feeds
	paged  string // with form feeds; "" without form feeds
	name   string // file name
	lang   *language
	target int // target size of a chunk, in code points
	max    int // maximum size of a chunk, in code points
}

// structure is the structure of a text. All ranges are in bytes.
type structure struct {
	title, description string
	tags               []string
	metadata           map[string]any
	blocks             []chunk.Block // the blocks to chunk, in order
	outline            []passage.Section
	prose              []span              // paragraphs suitable for an abstract, in order
	rest               []span              // other text, such as list items
	plain              func(string) string // removes inline markup from prose; nil if the format has none
	start              int                 // offset after the header
}

type span struct{ start, end int }

// parseFunc finds the structure of a text in linear time.
type parseFunc func(in input) structure

// format is a text format.
type format struct {
	mime         string   // canonical type
	aliases      []string // alternative MIME types
	extensions   []string // without dot, lower case
	names        []string // patterns of file names; checked before the extension
	interpreters []string // interpreters of scripts, without version
	parse        parseFunc
	lang         *language // for source code
}

// formats is the table of text formats; the first match wins. To add one, add a row here and a
// parser in its own file. Package extract has the formats that are converted to text.
var formats = slices.Concat([]format{
	{
		mime: "text/markdown", aliases: []string{"text/x-markdown"},
		extensions: []string{"md", "mdx", "markdown", "mkd", "qmd", "rmd"}, parse: parseMarkdown,
	},
	{mime: "text/plain", extensions: []string{"txt", "text"}, parse: parseText},
	{mime: "text/x-rst", aliases: []string{"text/prs.fallenstein.rst"}, extensions: []string{"rst"}, parse: parseRST},
	{mime: "text/asciidoc", aliases: []string{"text/x-asciidoc"}, extensions: []string{"adoc", "asciidoc"}, parse: parseAsciidoc},
	{mime: "text/org", aliases: []string{"text/x-org"}, extensions: []string{"org"}, parse: parseOrg},
	{
		mime: "text/x-tex", aliases: []string{"application/x-tex", "application/x-latex"}, extensions: []string{"tex", "latex"},
		parse: parseLaTeX,
	},
	{mime: "text/html", aliases: []string{"application/xhtml+xml"}, extensions: []string{"html", "htm", "xhtml"}, parse: parseText},
}, codeFormats())

// documentationFiles lists the documentation files without an extension. Their format is detected from the text.
var documentationFiles = []string{
	"README", "CHANGELOG", "CHANGES", "NEWS", "HISTORY", "CONTRIBUTING", "INSTALL", "LICENSE", "LICENCE", "COPYING",
	"NOTICE", "AUTHORS", "TODO",
}

// formatOf picks the format of a document: by its MIME type, otherwise by the file name in its id,
// otherwise from the text. Unknown types are plain text.
func formatOf(d ragctx.Document) format {
	if d.MIME != "" {
		return formatByMIME(d.MIME)
	}
	if host, rest := splitURL(d.ExternalID); host == "" || rest != "" { // the suffix of a host name is not an extension
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

// formatByInterpreter picks the format of a script by the interpreter in its first line.
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
		i := slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.interpreters, word) })
		if i < 0 {
			return format{}, false
		}
		return formats[i], true
	}
	return format{}, false
}

// IsTextType reports whether a MIME type, without parameters, is that of a text format.
func IsTextType(mime string) bool { return slices.ContainsFunc(formats, isOfType(mime)) }

func formatByMIME(mime string) format {
	mime, _, _ = strings.Cut(mime, ";")
	if i := slices.IndexFunc(formats, isOfType(strings.ToLower(strings.TrimSpace(mime)))); i >= 0 {
		return formats[i]
	}
	return formats[1]
}

// isOfType matches the formats of a MIME type.
func isOfType(mime string) func(format) bool {
	return func(f format) bool { return f.mime == mime || slices.Contains(f.aliases, mime) }
}

// formatByExt picks a format by a file name: by the whole name, otherwise by the extension.
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
		if slices.Contains(f.extensions, ext) {
			return f, true
		}
	}
	return format{}, false
}

// looksLikeMarkdown reports whether a text has a Markdown heading or code fence near its beginning.
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
