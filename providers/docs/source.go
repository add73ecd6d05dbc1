package docs

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/text/sentence"

	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// maxCodeDepth is the depth to which declarations are split: a class, its methods, and their
// contents.
const maxCodeDepth = 3

// codeLine is a line of source code.
type codeLine struct {
	start   int
	indent  int    // in columns, a tab counts as 4; -1 for a blank line
	body    string // without surrounding white space
	comment bool   // a comment, or an attribute of the next line
	inside  bool   // inside a multi-line comment
}

// sourceParser finds the declarations of a file.
type sourceParser struct {
	in       input
	lines    []codeLine
	blocks   []chunk.Block
	outline  []passage.Section
	fallback language
}

// parseSource parses source code. It splits a file at blank lines before an unindented line, and
// covered declarations. Comments stay with the code below them. A part that is too long for a chunk
// is split the same way at the indentation of its body.
func parseSource(in input) structure {
	p := &sourceParser{in: in, lines: codeLines(in.text)}
	if p.in.lang == nil {
		p.in.lang = &p.fallback
	}
	markComments(p.lines, p.in.lang)
	p.split(0, len(p.lines), 0, 0, []string{in.name})
	return structure{description: p.description(), blocks: p.blocks, outline: p.outline}
}

func codeLines(text string) []codeLine {
	lines := make([]codeLine, 0, len(text)/32+1)
	at := 0
	for line := range strings.Lines(text) {
		l := codeLine{start: at, indent: -1, body: strings.TrimSpace(line)}
		at += len(line)
		if l.body != "" {
			l.indent = indentOf(line)
		}
		lines = append(lines, l)
	}
	return lines
}

// markComments marks comment lines. A multi-line comment without an end is not a comment.
func markComments(lines []codeLine, lang *language) {
	unclosed := make(map[string]bool)
	for i := 0; i < len(lines); i++ {
		lines[i].comment = lines[i].indent >= 0 && lang.comment(lines[i].body)
		end := lang.opensBlock(lines[i].body)
		if end == "" || unclosed[end] {
			continue
		}
		j := i + 1
		for j < len(lines) && !strings.Contains(lines[j].body, end) {
			j++
		}
		if j == len(lines) {
			unclosed[end] = true
			continue
		}
		for ; i < j; i++ {
			lines[i].comment, lines[i].inside = true, true
		}
		lines[j].comment, lines[j].inside = true, true
	}
}

func indentOf(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// offset returns the byte offset of line i.
func (p *sourceParser) offset(i int) int {
	if i < len(p.lines) {
		return p.lines[i].start
	}
	return len(p.in.text)
}

// split turns lines[from:to] into blocks. Parts begin at indent.
func (p *sourceParser) split(from, to, indent, depth int, path []string) {
	for start := from; start < to; {
		end := start + 1
		for end < to && !p.begins(start, end, indent) {
			end++
		}
		p.part(start, end, indent, depth, path)
		start = end
	}
}

// begins reports whether a part begins at line i, after a part that began at start.
func (p *sourceParser) begins(start, i, indent int) bool {
	l, prev := p.lines[i], p.lines[i-1]
	switch {
	case l.indent < 0 || l.indent > indent || l.comment && prev.comment || strings.IndexByte(")]}", l.body[0]) >= 0:
		return false
	case prev.indent < 0:
		return !onlyComments(p.lines[start:i]) || !p.declares(i, indent)
	}
	return l.indent == indent && p.declares(i, indent) && !prev.comment
}

// declares reports whether line i begins a declaration among the declarations at indent.
func (p *sourceParser) declares(i, indent int) bool {
	return !p.lines[i].inside && p.in.lang.declares(p.lines[i].body, indent > 0)
}

// onlyComments reports whether a few lines consist of comments only.
func onlyComments(lines []codeLine) bool {
	if len(lines) > 8 {
		return false
	}
	for _, l := range lines {
		if l.indent >= 0 && !l.comment {
			return false
		}
	}
	return true
}

// part adds lines[from:to] as one block, or as several if it is too long.
func (p *sourceParser) part(from, to, indent, depth int, path []string) {
	b := chunk.Block{Start: p.offset(from), End: p.offset(to), Heading: path, Keep: true}
	decl := p.declaration(from, to, indent)
	if decl >= 0 {
		p.outline = append(p.outline, passage.Section{
			Title: signature(p.lines[decl].body), Level: depth + 1, Start: b.Start, End: b.End,
		})
	}
	if depth >= maxCodeDepth || utf8.RuneCountInString(p.in.text[b.Start:b.End]) <= p.in.max {
		p.blocks = append(p.blocks, b)
		return
	}
	if decl >= 0 {
		path = append(slices.Clip(path), signature(p.lines[decl].body))
		b.Heading = path
	}
	inner := p.innerIndent(from, to, indent)
	if decl < 0 || inner < 0 {
		p.blocks = append(p.blocks, b)
		return
	}
	p.split(from, to, inner, depth+1, path)
}

// declaration returns the first line of lines[from:to] with a declaration at the given indentation,
// or -1.
func (p *sourceParser) declaration(from, to, indent int) int {
	for i := from; i < to; i++ {
		if l := p.lines[i]; l.indent == indent && p.declares(i, indent) {
			return i
		}
	}
	return -1
}

// innerIndent returns the smallest indentation greater than indent, or -1.
func (p *sourceParser) innerIndent(from, to, indent int) int {
	inner := -1
	for _, l := range p.lines[from:to] {
		if l.indent > indent && (inner < 0 || l.indent < inner) && !l.comment {
			inner = l.indent
		}
	}
	return inner
}

// signature returns the line of a declaration as a title.
func signature(line string) string {
	line = strings.TrimSuffix(strings.TrimSpace(line), " do")
	return sentence.Clip(strings.TrimRight(line, " {:("), maxTitleRunes)
}

// description returns the first sentences of the comment or docstring at the beginning of the file,
// after a license.
func (p *sourceParser) description() string {
	for i := 0; i < min(len(p.lines), 100); i++ {
		if p.lines[i].indent != 0 {
			continue
		}
		text, next := p.commentAt(i)
		switch {
		case next == i && p.in.lang.docstring != "":
			return ""
		case text == "" || isLicense(text):
			i = max(i, next-1)
		default:
			return firstSentences(text)
		}
	}
	return ""
}

// commentAt returns the text of the comment at line i and the line after it. Without a comment the
// line is i.
func (p *sourceParser) commentAt(i int) (string, int) {
	if q := p.in.lang.docstring; q != "" && strings.HasPrefix(p.lines[i].body, q) {
		rest := p.in.text[p.lines[i].start+len(q):]
		if end := strings.Index(rest[:min(len(rest), 4<<10)], q); end >= 0 {
			return strings.TrimLeft(rest[:end], "\\"), i + 1 + strings.Count(rest[:end], "\n")
		}
	}
	var b strings.Builder
	j := i
	for ; j < len(p.lines) && j < i+100 && p.lines[j].comment; j++ {
		if body := p.lines[j].body; !strings.HasPrefix(body, "#!") && !strings.HasPrefix(body, "//go:") &&
			!strings.HasPrefix(body, "// +build") && !strings.HasPrefix(body, "@") {
			b.WriteString(strings.TrimSpace(strings.Trim(body, "/*#!;-%<>{}| ")))
			b.WriteByte('\n')
		}
	}
	return strings.TrimSpace(b.String()), j
}

func isLicense(s string) bool {
	s = strings.ToLower(s[:min(len(s), 2000)])
	return strings.Contains(s, "copyright") || strings.Contains(s, "license") || strings.Contains(s, "spdx") ||
		strings.Contains(s, "generated")
}

// firstSentences returns the first sentences of a comment's first paragraph.
func firstSentences(comment string) string {
	par, _, _ := strings.Cut(comment[:min(len(comment), 4<<10)], "\n\n")
	var out []string
	size := 0
	sentence.Sentences(strings.Join(strings.Fields(sentence.ShortenRuns(strings.ToValidUTF8(par, ""))), " "), func(s string) bool {
		size += utf8.RuneCountInString(s) + 1
		if size > maxAbstractRunes || len(out) > 0 && !standsAlone(s) {
			return false
		}
		out = append(out, s)
		return true
	})
	return strings.Join(out, " ")
}
