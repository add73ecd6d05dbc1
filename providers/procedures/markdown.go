package procedures

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
)

// Markdown returns a procedure as Markdown. [ParseMarkdown] is its inverse.
func Markdown(name string, b ragctx.ProcedureBody) string {
	var w strings.Builder
	w.WriteString("# " + name + "\n\nWhen: " + b.Trigger + "\n")
	for _, s := range sections(&b) {
		if len(*s.list) == 0 {
			continue
		}
		w.WriteString("\n## " + s.title + "\n\n")
		for i, text := range *s.list {
			mark := "- "
			if s.ordered {
				mark = strconv.Itoa(i+1) + ". "
			}
			for line := range strings.Lines(text) {
				if line != "\n" {
					w.WriteString(mark)
				}
				w.WriteString(line)
				mark = strings.Repeat(" ", len(mark))
			}
			w.WriteByte('\n')
		}
	}
	return w.String()
}

type section struct {
	title   string
	ordered bool
	list    *[]string
}

func sections(b *ragctx.ProcedureBody) []section {
	return []section{
		{"Steps", true, &b.Steps},
		{"Tools", false, &b.Tools},
		{"Pitfalls", false, &b.Pitfalls},
		{"Verification", false, &b.Verification},
	}
}

// ParseMarkdown parses the format of [Markdown]: an optional title with the name, a line "When:
// …", and the sections Steps, Tools, Pitfalls and Verification, each a list. Further lines of an
// entry are indented.
func ParseMarkdown(text string) (name string, b ragctx.ProcedureBody, err error) {
	var list *[]string
	var indent int
	begun := false // an entry that further lines continue
	for i, line := range strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		mark, rest := bullet(line)
		title, heading := strings.CutPrefix(line, "## ")
		top, titled := strings.CutPrefix(line, "# ")
		when, trigger := cutFold(line, "when:")
		switch {
		case heading:
			if list = sectionOf(&b, title); list == nil {
				return "", b, ragctx.Invalid("line "+strconv.Itoa(i+1), "is the heading %q; use Steps, Tools, "+
					"Pitfalls and Verification", ragctx.Clip(title))
			}
			begun = false
		case titled && list == nil && name == "":
			name = strings.TrimSpace(top)
		case trigger && list == nil && b.Trigger == "":
			b.Trigger = strings.TrimSpace(when)
		case list != nil && mark > 0:
			*list = append(*list, strings.TrimSpace(rest))
			indent, begun = mark, true
		case begun && (trimmed == "" || line[0] == ' ' || line[0] == '\t'):
			last := &(*list)[len(*list)-1]
			*last += "\n" + dedent(line, indent)
		case trimmed == "":
		default:
			return "", b, ragctx.Invalid("line "+strconv.Itoa(i+1), "is %q; use \"When: …\" for the trigger, and "+
				"lists under ## Steps, ## Tools, ## Pitfalls and ## Verification", ragctx.Clip(line))
		}
	}
	return name, TrimBody(b), nil
}

// Parse parses a procedure in Markdown or JSON.
func Parse(text string) (name string, b ragctx.ProcedureBody, err error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return ParseMarkdown(text)
	}
	var p struct {
		Name string `json:"name"`
		ragctx.ProcedureBody
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return "", b, ragctx.Invalid("procedure", "is not a JSON object of name, trigger, steps, tools, pitfalls and verification: %v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", b, ragctx.Invalid("procedure", "has text after the JSON object; send one object")
	}
	return p.Name, TrimBody(p.ProcedureBody), nil
}

func sectionOf(b *ragctx.ProcedureBody, title string) *[]string {
	for _, s := range sections(b) {
		if strings.EqualFold(s.title, strings.TrimSpace(title)) {
			return s.list
		}
	}
	return nil
}

// bullet returns the length of a list marker and the text after it; the length is 0 if the line has
// none.
func bullet(line string) (mark int, rest string) {
	for _, m := range [...]string{"- ", "* ", "+ "} {
		if r, ok := strings.CutPrefix(line, m); ok {
			return len(m), r
		}
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits == 0 || digits > 3 || len(line) < digits+2 {
		return 0, ""
	}
	if m := line[digits : digits+2]; m == ". " || m == ") " {
		return digits + 2, line[digits+2:]
	}
	return 0, ""
}

// dedent removes up to n spaces, or one tab, at the start of a line.
func dedent(line string, n int) string {
	if r, ok := strings.CutPrefix(line, "\t"); ok {
		return r
	}
	for range n {
		r, ok := strings.CutPrefix(line, " ")
		if !ok {
			break
		}
		line = r
	}
	return line
}

func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}
