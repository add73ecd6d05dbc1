package extract

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
)

// Bounds of what a cell printed: the beginning says what it is.
const (
	maxOutput      = 2000 // bytes of a cell's outputs
	maxOutputLines = 40
)

// notebook is what is read of a Jupyter notebook, of format 4 or 3.
type notebook struct {
	Cells      []notebookCell `json:"cells"`
	Worksheets []struct {
		Cells []notebookCell `json:"cells"`
	} `json:"worksheets"`
	Metadata struct {
		Title        string                  `json:"title"`
		Authors      []struct{ Name string } `json:"authors"`
		LanguageInfo struct{ Name string }   `json:"language_info"`
		Kernel       struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

type notebookCell struct {
	Type    string           `json:"cell_type"`
	Source  jsonText         `json:"source"`
	Input   jsonText         `json:"input"` // format 3
	Level   int              `json:"level"` // of a heading in format 3
	Outputs []notebookOutput `json:"outputs"`
}

type notebookOutput struct {
	Text  jsonText                   `json:"text"`
	Data  map[string]json.RawMessage `json:"data"`
	Name  string                     `json:"ename"`
	Value string                     `json:"evalue"`
}

// jsonText is a text that may be written as a list of lines. What is neither is
// no text.
type jsonText string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *jsonText) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = jsonText(s)
		return nil
	}
	var lines []string
	if json.Unmarshal(b, &lines) == nil {
		*t = jsonText(strings.Join(lines, ""))
	}
	return nil
}

// readNotebook reads a Jupyter notebook: text as it is, code in fences, and what
// the code printed, if it is short.
func readNotebook(ctx context.Context, f File, _ Options) (Text, error) {
	s, _, err := decodeText(f.Data, f.MIME)
	if err != nil {
		return Text{}, err
	}
	var n notebook
	if err := json.Unmarshal([]byte(s), &n); err != nil {
		return Text{}, refuse("is no notebook, or a damaged one (%v)", err)
	}
	cells := n.Cells
	for _, w := range n.Worksheets {
		cells = append(cells, w.Cells...)
	}
	if len(cells) == 0 {
		return Text{}, refuse("is no notebook: it has no cells")
	}
	var b strings.Builder
	for i, c := range cells {
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
	t := Text{Text: strings.ToValidUTF8(b.String(), "\ufffd"), MIME: "text/markdown", Format: "application/x-ipynb+json", Title: n.title(cells)}
	if len(n.Metadata.Authors) > 0 {
		t.note(MetaAuthor, n.Metadata.Authors[0].Name)
	}
	return t, nil
}

func (n *notebook) language() string {
	for _, l := range []string{n.Metadata.LanguageInfo.Name, n.Metadata.Kernel.Language} {
		if l = strings.ToLower(l); isLanguageName(l) {
			return l
		}
	}
	return "python"
}

var firstHeading = regexp.MustCompile(`(?m)^ {0,3}#{1,3}[ \t]+(.+?)[ \t]*#*[ \t]*$`)

// title returns what a notebook is called: what it says, else its first heading.
func (n *notebook) title(cells []notebookCell) string {
	if n.Metadata.Title != "" {
		return n.Metadata.Title
	}
	for _, c := range cells {
		if c.Type == "heading" {
			return strings.TrimSpace(string(c.Source))
		}
		if c.Type != "markdown" {
			continue
		}
		if m := firstHeading.FindStringSubmatch(string(c.Source)); m != nil {
			return strings.Trim(m[1], "*_ ")
		}
	}
	return ""
}

// embedded is a picture inside of the text.
var embedded = regexp.MustCompile(`!\[([^\]\n]*)\]\((?:data:|attachment:)[^)\n]*\)`)

func (c *notebookCell) markdown(language string) string {
	source := strings.TrimRight(string(c.Source+c.Input), " \t\r\n")
	if strings.TrimSpace(source) == "" {
		return ""
	}
	switch c.Type {
	case "code":
		out := fenced(cellLanguage(source, language), source)
		if s := c.printed(); s != "" {
			out += "\n\n" + fenced("output", s)
		}
		return out
	case "heading":
		return strings.Repeat("#", min(max(c.Level, 1), 6)) + " " + source
	}
	return embedded.ReplaceAllString(source, "$1")
}

// cellLanguage returns the language of a cell: a magic such as %%bash names another.
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

// printed returns what a cell printed, cut.
func (c *notebookCell) printed() string {
	var b strings.Builder
	for _, o := range c.Outputs {
		if b.Len() > 2*maxOutput {
			break
		}
		if s := strings.TrimSpace(o.shown()); s != "" {
			b.WriteString(s + "\n")
		}
	}
	return cutOutput(strings.TrimSpace(b.String()))
}

// shown returns the text of an output; a picture's stand-in is none.
func (o *notebookOutput) shown() string {
	s := string(o.Text)
	switch {
	case o.Name != "":
		s = o.Name + ": " + o.Value
	case s == "" && !o.isPicture():
		var t jsonText
		if raw, ok := o.Data["text/plain"]; ok && json.Unmarshal(raw, &t) == nil {
			s = string(t)
		}
	}
	return ansiCodes.ReplaceAllString(lastStates(s), "")
}

func (o *notebookOutput) isPicture() bool {
	for k := range o.Data {
		if strings.HasPrefix(k, "image/") || strings.Contains(k, "widget") || strings.Contains(k, "plotly") {
			return true
		}
	}
	return false
}

// lastStates keeps of each line what follows its last carriage return: a progress
// bar is drawn many times over.
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
