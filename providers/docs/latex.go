package docs

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// latexSections are the sectioning commands, by level.
var latexSections = []string{"part", "chapter", "section", "subsection", "subsubsection", "paragraph"}

// latexCode are the environments that stay whole.
var latexCode = []string{
	"verbatim", "lstlisting", "minted", "equation", "align", "algorithm", "algorithmic", "displaymath", "eqnarray",
	"tikzpicture", "Verbatim",
}

// latexTables are the environments with rows.
var latexTables = []string{"tabular", "longtable", "table", "tabularx", "tabulary"}

// latexCommand matches a command with an argument at the beginning of a line.
var latexCommand = regexp.MustCompile(`^\\([a-zA-Z]+)\*?(?:\[[^\]]*\])?\{(.*)`)

// parseLaTeX parses the sections, environments and paragraphs of LaTeX.
func parseLaTeX(in input) structure {
	w := latexWalk{lines: codeLines(in.text), unclosed: make(map[string]bool)}
	w.s.plain = plainLaTeX
	for i := 0; i < len(w.lines); {
		if w.lines[i].body == "" {
			i++
			continue
		}
		i = w.next(i)
	}
	w.s.arrange(in, w.units, latexRows)
	for i, top := 0, topLevel(w.s.outline); i < len(w.s.outline); i++ {
		w.s.outline[i].Level -= top - 1 // not every text has parts
	}
	return w.s
}

// latexWalk finds the units of LaTeX line by line.
type latexWalk struct {
	lines    []codeLine
	units    []unit
	unclosed map[string]bool // environments without an end
	s        structure
}

func (w *latexWalk) add(i int, u unit) {
	u.start = w.lines[i].start
	w.units = append(w.units, u)
}

// next reads the unit at line i and returns the line after it.
func (w *latexWalk) next(i int) int {
	body := w.lines[i].body
	command, argument := latexArgument(body)
	switch level := slices.Index(latexSections, command) + 1; {
	case level > 0:
		if title := plainLaTeX(argument); title != "" {
			w.add(i, unit{kind: unitHeading, level: level, title: title})
			return i + 1
		}
	case command == "title":
		w.s.title = plainLaTeX(argument)
	case command == "keywords":
		w.s.tags = inlineList(argument)
	case command == "begin":
		if end := w.environment(i, argument); end > 0 {
			return end
		}
	}
	u := unit{kind: unitProse}
	if body[0] == '%' || body[0] == '\\' && command != "emph" && command != "textbf" && command != "textit" && command != "texttt" {
		w.add(i, unit{})
		return i + 1
	}
	w.add(i, u)
	for i++; i < len(w.lines) && w.lines[i].body != "" && !latexBreaks(w.lines[i].body); i++ {
	}
	return i
}

// latexBreaks reports whether a line ends a paragraph.
func latexBreaks(body string) bool {
	command, _ := latexArgument(body)
	return command == "begin" || command == "end" || body == `\item` || strings.HasPrefix(body, `\item `) ||
		slices.Contains(latexSections, command)
}

// latexArgument returns the command at the beginning of a line and its argument.
func latexArgument(body string) (command, argument string) {
	if body[0] != '\\' {
		return "", ""
	}
	m := latexCommand.FindStringSubmatch(sentence.Clip(body, 2*maxTitleRunes))
	if m == nil {
		return "", ""
	}
	depth := 1
	for i, r := range m[2] {
		switch r {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return m[1], sentence.Clip(m[2][:i], maxTitleRunes)
			}
		}
	}
	return m[1], ""
}

// environment reads a code or table environment at line i and returns the line after it. It returns
// 0 for other environments and those without an end.
func (w *latexWalk) environment(i int, name string) int {
	u := unit{kind: unitCode}
	plain := strings.TrimSuffix(name, "*")
	switch {
	case slices.Contains(latexTables, plain):
		u.kind = unitTable
	case !slices.Contains(latexCode, plain):
		return 0
	}
	end := `\end{` + name + "}"
	if w.unclosed[end] {
		return 0
	}
	for j := i + 1; j < len(w.lines); j++ {
		if strings.Contains(w.lines[j].body, end) {
			w.add(i, u)
			return j + 1
		}
	}
	w.unclosed[end] = true
	return 0
}

// latexRows is the [rowsFunc] of LaTeX tables. A row ends with two backslashes.
func latexRows(table string) (columns []string, rows []int) {
	ended := false
	at := 0
	for line := range strings.Lines(table) {
		body := strings.TrimSpace(line)
		if ended && body != "" {
			rows = append(rows, at)
			ended = false
		}
		if strings.HasSuffix(body, `\\`) || strings.HasSuffix(body, `\hline`) && strings.Contains(body, `\\`) {
			if len(rows) == 0 && columns == nil && strings.Contains(body, "&") {
				for _, c := range strings.SplitN(strings.TrimRight(body, `\`), "&", maxColumns) {
					columns = append(columns, plainLaTeX(sentence.Clip(c, maxName)))
				}
			}
			ended = true
		}
		at += len(line)
	}
	return columns, rows
}
