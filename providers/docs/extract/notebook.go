package extract

import (
	"context"
	"regexp"
	"strings"
)

// Limits of a cell's output. Its beginning is enough.
const (
	maxOutput      = 2000 // bytes of all outputs of a cell
	maxOutputLines = 40
)

// notebook is a Jupyter notebook of format 4 or 3.
type notebook struct {
	cells         []notebookCell
	title, author string
	languages     [2]string // declared code languages, the more reliable first
}

type notebookCell struct {
	kind          string // markdown, code, heading, raw
	source, input string // one of them is empty
	level         int    // of a heading
	output        string // cut to maxOutput
}

// notebookOutput is one output of a cell.
type notebookOutput struct {
	text, plain string
	name, value string // name and value of an error
	picture     bool
}

// readNotebook reads a Jupyter notebook: Markdown cells unchanged, code in fences, and short
// outputs.
func readNotebook(ctx context.Context, f File, o Options) (Text, error) {
	s, _, err := decodeText(f.Data, f.MIME)
	if err != nil {
		return Text{}, err
	}
	n, err := readCells(ctx, s, o.MaxText)
	if err != nil {
		return Text{}, err
	}
	if len(n.cells) == 0 {
		return Text{}, refuse("is not a notebook: it has no cells")
	}
	var b strings.Builder
	for i, c := range n.cells {
		if i%64 == 0 && ctx.Err() != nil {
			return Text{}, ctx.Err()
		}
		if s := c.markdown(n.language()); s != "" {
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(s + "\n")
		}
	}
	t := Text{
		Text: strings.ToValidUTF8(b.String(), "\ufffd"), MIME: "text/markdown",
		Format: "application/x-ipynb+json", Title: n.displayTitle(),
	}
	t.setMeta(MetaAuthor, n.author)
	return t, nil
}

func (n *notebook) language() string {
	for _, l := range n.languages {
		if l = strings.ToLower(l); isLanguageName(l) {
			return l
		}
	}
	return "python"
}

var firstHeading = regexp.MustCompile(`(?m)^ {0,3}#{1,3}[ \t]+(.+?)[ \t]*#*[ \t]*$`)

// displayTitle returns the notebook's title, or its first heading.
func (n *notebook) displayTitle() string {
	if n.title != "" {
		return n.title
	}
	for _, c := range n.cells {
		if c.kind == "heading" {
			return strings.TrimSpace(c.source)
		}
		if c.kind != "markdown" {
			continue
		}
		if m := firstHeading.FindStringSubmatch(c.source); m != nil {
			return strings.Trim(m[1], "*_ ")
		}
	}
	return ""
}

// embeddedImage matches a picture stored inside the notebook.
var embeddedImage = regexp.MustCompile(`!\[([^\]\n]*)\]\((?:data:|attachment:)[^)\n]*\)`)

func (c *notebookCell) markdown(language string) string {
	source := strings.TrimRight(c.source+c.input, " \t\r\n")
	if strings.TrimSpace(source) == "" {
		return ""
	}
	switch c.kind {
	case "code":
		out := fenced(cellLanguage(source, language), source)
		if c.output != "" {
			out += "\n\n" + fenced("output", c.output)
		}
		return out
	case "heading":
		return strings.Repeat("#", min(max(c.level, 1), 6)) + " " + source
	}
	return embeddedImage.ReplaceAllString(source, "$1")
}

// cellLanguage returns the language of a cell. A magic such as %%bash overrides the notebook's
// language.
func cellLanguage(source, language string) string {
	first, _, _ := strings.Cut(source, "\n")
	name, ok := strings.CutPrefix(strings.TrimSpace(first), "%%")
	name, _, _ = strings.Cut(name, " ")
	switch name {
	case "bash", "sh", "html", "javascript", "js", "sql", "latex", "perl", "ruby", "R", "markdown", "cython":
		if ok {
			return strings.ToLower(name)
		}
	}
	return language
}

func fenced(info, code string) string {
	fence := "```"
	for strings.Contains(code, fence) && len(fence) < 32 {
		fence += "`"
	}
	return fence + info + "\n" + code + "\n" + fence
}

var ansiCodes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])`)

// displayText returns the text of an output. The text stand-in of a picture is dropped.
func (o *notebookOutput) displayText() string {
	s := o.text
	switch {
	case o.name != "":
		s = o.name + ": " + o.value
	case s == "" && !o.picture:
		s = o.plain
	}
	return ansiCodes.ReplaceAllString(lastStates(clip(s, maxOutputText)), "")
}

// isPicture reports whether a MIME type is an image or a widget.
func isPicture(kind string) bool {
	return strings.HasPrefix(kind, "image/") || strings.Contains(kind, "widget") || strings.Contains(kind, "plotly")
}

// lastStates keeps only the part after the last carriage return of each line, the final state of a
// progress bar.
func lastStates(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		lines[i] = l[strings.LastIndexByte(l, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

func cutOutput(s string) string {
	lines := strings.Split(s, "\n")
	if len(lines) > maxOutputLines {
		s = strings.Join(lines[:maxOutputLines], "\n") + "\n…"
	}
	return clip(s, maxOutput)
}
