package docs

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// maxNesting is the depth to which lists and quotes are parsed. Each line is offered to every open
// block, so depth multiplies the work. Deeper nesting is treated as text.
const maxNesting = 24

// depthLimited is a block parser that opens no block below maxNesting.
type depthLimited struct{ parser.BlockParser }

func (s depthLimited) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if len(pc.OpenedBlocks()) >= maxNesting {
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, r, pc)
}

// blockParser parses only the block structure of CommonMark. Chunks do not need inline markup, and
// parsing it takes quadratic time on malicious input. Link reference definitions stay paragraphs.
// It is safe for concurrent use.
var blockParser = parser.NewParser(parser.WithBlockParsers(
	util.Prioritized(parser.NewSetextHeadingParser(), 100),
	util.Prioritized(parser.NewThematicBreakParser(), 200),
	util.Prioritized(depthLimited{parser.NewListParser()}, 300),
	util.Prioritized(parser.NewListItemParser(), 400),
	util.Prioritized(parser.NewCodeBlockParser(), 500),
	util.Prioritized(parser.NewATXHeadingParser(), 600),
	util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
	util.Prioritized(depthLimited{parser.NewBlockquoteParser()}, 800),
	util.Prioritized(parser.NewHTMLBlockParser(), 900),
	util.Prioritized(parser.NewParagraphParser(), 1000),
))

// parseMarkdown parses Markdown with front matter.
func parseMarkdown(in input) structure {
	fm := parseFrontMatter(in.text)
	s := structure{
		title: fm.title, description: sentence.Plain(fm.description), tags: fm.tags, metadata: fm.metadata,
		plain: sentence.Plain, start: fm.end,
	}
	units := joinTables(in, markdownUnits(in.text, fm.end))
	s.arrange(in, boldHeadings(in, units), markdownRows)
	return s
}

// markdownUnits returns the blocks of text[from:]. Apart from leading blank lines, they cover the
// whole text.
func markdownUnits(doc string, from int) []unit {
	src := []byte(doc[from:])
	w := markdownWalk{src: src, from: from}
	w.blocks(blockParser.Parse(text.NewReader(src)), 0)
	return w.units
}

// markdownWalk collects the units of a syntax tree.
type markdownWalk struct {
	src   []byte
	from  int
	units []unit
}

// blocks adds the children of a node. List items are split into their blocks, so that code in them
// stays whole. Quotes are not split.
func (w *markdownWalk) blocks(parent ast.Node, depth int) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch {
		case n.Kind() == ast.KindList:
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				w.add(item, depth+1)
				if depth < maxNesting {
					w.blocks(item, depth+1)
				}
			}
		default:
			w.add(n, depth)
		}
	}
}

// add appends the unit of a node, unless another unit begins on the same line.
func (w *markdownWalk) add(n ast.Node, depth int) {
	start := w.from + lineStart(w.src, firstByte(n))
	if len(w.units) > 0 && start <= w.units[len(w.units)-1].start {
		return
	}
	u := unit{start: start}
	switch n.Kind() {
	case ast.KindHeading:
		if h, ok := n.(*ast.Heading); ok && depth == 0 {
			if u.title = headingTitle(string(h.Lines().Value(w.src))); u.title != "" {
				u.kind, u.level = unitHeading, h.Level
			}
		}
	case ast.KindFencedCodeBlock, ast.KindCodeBlock:
		u.kind = unitCode
	case ast.KindHTMLBlock:
		if tableTag(n.Lines().Value(w.src)) {
			u.kind = unitTable
		}
	case ast.KindParagraph:
		switch par := string(n.Lines().Value(w.src)); {
		case isTable(par):
			u.kind = unitTable
		case depth == 0 && !moduleLine(par):
			u.kind = unitProse
		}
	}
	w.units = append(w.units, u)
}

// firstByte returns the offset of a block. The position of a setext heading is its underline, so
// the offset of its text is used.
func firstByte(n ast.Node) int {
	pos := n.Pos()
	if lines := n.Lines(); n.Kind() == ast.KindHeading && lines.Len() > 0 {
		pos = min(pos, lines.At(0).Start)
	}
	return pos
}

func lineStart(src []byte, pos int) int {
	pos = min(max(pos, 0), len(src))
	for pos > 0 && src[pos-1] != '\n' {
		pos--
	}
	return pos
}

// headingTitle returns a heading's text without markup and "{#id}". If the heading is a template
// call, it returns the call's first quoted argument.
func headingTitle(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndex(s, "{#"); i >= 0 && strings.HasSuffix(s, "}") {
		s = s[:i]
	}
	title := sentence.Clip(sentence.Plain(s), maxTitleRunes)
	if title == "" && strings.HasPrefix(s, "{{") {
		if _, rest, ok := strings.Cut(s, `"`); ok {
			title, _, _ = strings.Cut(rest, `"`)
			title = sentence.Clip(strings.TrimSpace(title), maxTitleRunes)
		}
	}
	return title
}

// moduleLine reports whether a paragraph is a line of code in a module page, as in MDX.
func moduleLine(par string) bool {
	if !strings.HasPrefix(par, "import ") && !strings.HasPrefix(par, "export ") {
		return false
	}
	line, _, _ := strings.Cut(par, "\n")
	line = strings.TrimSpace(line)
	return strings.Contains(line, " from ") || strings.HasSuffix(line, ";") || strings.HasSuffix(line, "{") ||
		strings.HasPrefix(line, "import '") || strings.HasPrefix(line, `import "`)
}

// maxBold is the maximum length of a bold line that acts as a heading, in code points.
const maxBold = 80

// boldHeadings turns the paragraphs that are one bold line into headings, if the page has no other
// headings.
func boldHeadings(in input, units []unit) []unit {
	var found []int
	for i, u := range units {
		if u.kind == unitHeading {
			return units
		}
		if u.kind == unitProse && boldLine(in.text[u.start:unitEnd(in, units, i)]) != "" && i+1 < len(units) {
			found = append(found, i)
		}
	}
	if len(found) < 2 {
		return units
	}
	for _, i := range found {
		u := &units[i]
		u.kind, u.level, u.title = unitHeading, 2, boldLine(in.text[u.start:unitEnd(in, units, i)])
	}
	return units
}

// boldLine returns the text of a paragraph that is one bold line and not a sentence, or "".
func boldLine(par string) string {
	par = strings.TrimSpace(par)
	if len(par) < 5 || len(par) > 4*maxBold || par[:2] != "**" || !strings.HasSuffix(par, "**") || strings.ContainsRune(par, '\n') {
		return ""
	}
	par = par[2 : len(par)-2]
	title := sentence.Plain(par)
	if strings.Contains(par, "**") || longerThan(title, maxBold) || !sentence.HasLetter(title) ||
		strings.ContainsRune(".:,;!", lastRune(title)) {
		return ""
	}
	return title
}
