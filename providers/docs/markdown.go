package docs

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ragctx/ragctx/chunk"
	"github.com/ragctx/ragctx/prose"
)

// maxNesting is how deep lists and quotes are followed. Each line is offered to
// every open block, so depth multiplies the work; what is nested deeper is text.
const maxNesting = 24

// shallow is a block parser that opens no block below maxNesting.
type shallow struct{ parser.BlockParser }

func (s shallow) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if len(pc.OpenedBlocks()) >= maxNesting {
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, r, pc)
}

// blockParser reads the block structure of CommonMark and no more: inline
// markup does not matter to chunks, and parsing it takes quadratic time on
// hostile input. Link reference definitions stay paragraphs. It is safe for
// concurrent use.
var blockParser = parser.NewParser(parser.WithBlockParsers(
	util.Prioritized(parser.NewSetextHeadingParser(), 100),
	util.Prioritized(parser.NewThematicBreakParser(), 200),
	util.Prioritized(shallow{parser.NewListParser()}, 300),
	util.Prioritized(parser.NewListItemParser(), 400),
	util.Prioritized(parser.NewCodeBlockParser(), 500),
	util.Prioritized(parser.NewATXHeadingParser(), 600),
	util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
	util.Prioritized(shallow{parser.NewBlockquoteParser()}, 800),
	util.Prioritized(parser.NewHTMLBlockParser(), 900),
	util.Prioritized(parser.NewParagraphParser(), 1000),
))

// unit is a top-level block of a Markdown document, or an item of a list.
type unit struct {
	start int
	kind  ast.NodeKind
	level int    // of a heading
	title string // of a heading
}

// parseMarkdown is the parser of Markdown with front matter.
func parseMarkdown(in input) structure {
	fm := parseFrontMatter(in.text)
	s := structure{title: fm.title, description: prose.Plain(fm.description), tags: fm.tags, markdown: true, start: fm.end}
	units := markdownUnits(in.text, fm.end)
	s.blocks = make([]chunk.Block, 0, len(units))
	var open headingPath
	var headings []heading
	for i, u := range units {
		end := len(in.text)
		if i+1 < len(units) {
			end = units[i+1].start
		}
		b := chunk.Block{Start: u.start, End: end}
		switch u.kind {
		case ast.KindHeading:
			open.enter(u.level, u.title)
			headings = append(headings, heading{u.title, u.level, u.start})
			if s.title == "" && u.level == 1 {
				s.title = u.title
			}
			b.Break = true
		case ast.KindFencedCodeBlock, ast.KindCodeBlock:
			b.Keep = true
		case ast.KindParagraph:
			if b.Keep = isTable(in.text[u.start:end]); !b.Keep {
				s.prose = append(s.prose, span{u.start, end})
			}
		}
		b.Heading = open.titles
		s.blocks = append(s.blocks, b)
	}
	joinEmptySections(in, s.blocks, units)
	s.outline = outlineOf(headings, len(in.text))
	return s
}

// headingPath is the headings that a place stands under, outermost first.
type headingPath struct {
	levels []int
	titles []string // never changed in place: blocks share it
}

// enter goes to a section under a heading, leaving those of its level and below.
func (p *headingPath) enter(level int, title string) {
	n := len(p.levels)
	for n > 0 && p.levels[n-1] >= level {
		n--
	}
	p.levels = append(p.levels[:n], level)
	p.titles = append(p.titles[:n:n], title)
}

// joinEmptySections sees to it that headings without text of their own make
// few chunks. Those that lead to a section with text go with it. Others are
// joined up to the target size, under the headings that they share.
func joinEmptySections(in input, blocks []chunk.Block, units []unit) {
	for i := 0; i < len(units); i++ {
		end := i
		for end < len(units) && units[end].kind == ast.KindHeading {
			end++
		}
		leading := end
		if i < end && end < len(units) {
			leading--
			for leading > i && units[leading-1].level < units[leading].level {
				leading--
			}
			join(blocks[leading:end], blocks[end-1].Heading)
		}
		for i < leading {
			n, heading := fill(in, blocks[i:leading])
			join(blocks[i:i+n], heading)
			i += n
		}
		i = end
	}
}

// fill returns how many blocks, at least one, make a chunk of the target size,
// and the headings that they share.
func fill(in input, blocks []chunk.Block) (n int, heading []string) {
	size := 0
	for i, b := range blocks {
		if size += utf8.RuneCountInString(in.text[b.Start:b.End]); i > 0 && size > in.target {
			return i, heading
		}
		if i == 0 {
			heading = b.Heading
		}
		shared := 0
		for shared < min(len(heading), len(b.Heading)) && heading[shared] == b.Heading[shared] {
			shared++
		}
		heading = heading[:shared:shared]
	}
	return len(blocks), heading
}

// join makes blocks one section.
func join(blocks []chunk.Block, heading []string) {
	for i := range blocks {
		blocks[i].Heading = heading
		blocks[i].Break = i == 0
	}
}

// markdownUnits returns the blocks of text[from:]. They tile it but for blank
// lines before the first.
func markdownUnits(doc string, from int) []unit {
	src := []byte(doc[from:])
	root := blockParser.Parse(text.NewReader(src))
	var units []unit
	add := func(n ast.Node) {
		start := from + lineStart(src, firstByte(n))
		if len(units) > 0 && start <= units[len(units)-1].start {
			return
		}
		u := unit{start: start, kind: n.Kind()}
		if h, ok := n.(*ast.Heading); ok {
			u.level, u.title = h.Level, headingTitle(string(h.Lines().Value(src)))
		}
		units = append(units, u)
	}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindList {
			add(n)
			continue
		}
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			add(item)
		}
	}
	return units
}

// firstByte is where a block begins. A heading with an underline is positioned
// at that; its lines come before.
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

// headingTitle returns a heading's text without markup and "{#id}".
func headingTitle(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndex(s, "{#"); i >= 0 && strings.HasSuffix(s, "}") {
		s = s[:i]
	}
	return prose.Clip(prose.Plain(s), maxTitleRunes)
}

// isTable reports whether a paragraph is a table: its second line is a row of
// dashes between bars.
func isTable(paragraph string) bool {
	_, rest, _ := strings.Cut(paragraph, "\n")
	row, _, _ := strings.Cut(rest, "\n")
	row = strings.TrimSpace(row)
	return strings.Contains(row, "-") && strings.Contains(row, "|") && strings.Trim(row, "|-: \t") == ""
}
