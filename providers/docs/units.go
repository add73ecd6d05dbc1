package docs

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// unitKind is the kind of a unit.
type unitKind uint8

const (
	unitOther   unitKind = iota // a list item, quote, directive or comment
	unitProse                   // a paragraph
	unitHeading                 // a heading with its underline and the like
	unitCode                    // stays whole if it fits, otherwise split between lines
	unitTable                   // stays whole if it fits, otherwise split between rows
)

// unit is a block of a text with markup, or a list item. Each unit ends where the next begins.
type unit struct {
	start int
	kind  unitKind
	level int    // of a heading, from 1
	title string // of a heading
	// leave, unless 0, is the level at and below which sections end before this unit without a new
	// heading.
	leave int
}

// rowsFunc finds the rows of a table. It returns the offset of each row, in order, and the column
// names, if any.
type rowsFunc func(table string) (columns []string, rows []int)

// maxColumns is the limit of the column names in a heading path, in code points.
const maxColumns = 160

// columnHeading joins column names for the heading path of rows.
func columnHeading(columns []string) string {
	named := columns[:0:0]
	for _, c := range columns[:min(len(columns), maxColumns)] {
		if c = strings.Join(strings.Fields(sentence.Clip(c, maxColumns)), " "); c != "" {
			named = append(named, c)
		}
	}
	return sentence.Clip(strings.Join(named, " | "), maxColumns)
}

// arrange sets the blocks, outline and prose of a structure from ordered units. The first heading
// of level 1 becomes the title if it is missing.
func (s *structure) arrange(in input, units []unit, rows rowsFunc) {
	for i := range units {
		if units[i].kind == unitHeading && units[i].title == "" {
			units[i].kind = unitOther
		}
	}
	units = extendFirstHeading(in, units)
	s.blocks = make([]chunk.Block, 0, len(units))
	sections := make([]heading, 0, len(units)/4)
	firsts := make([]int, len(units)) // first block of each unit
	var open headingPath
	for i, u := range units {
		end := unitEnd(in, units, i)
		firsts[i] = len(s.blocks)
		if u.leave > 0 && open.leave(u.leave) {
			sections = append(sections, heading{level: u.leave, start: u.start})
		}
		b := chunk.Block{Start: u.start, End: end}
		switch u.kind {
		case unitHeading:
			open.enter(u.level, u.title)
			sections = append(sections, heading{u.title, u.level, u.start})
			if s.title == "" && u.level == 1 {
				s.title = u.title
			}
			b.Break = true
		case unitProse:
			s.prose = append(s.prose, span{u.start, end})
		case unitCode, unitTable:
			b.Keep = true
		case unitOther:
			s.rest = append(s.rest, span{u.start, end})
		}
		b.Heading = open.titles
		if u.kind == unitTable && longerThan(in.text[u.start:end], in.max) {
			s.blocks = append(s.blocks, tableBlocks(in, b, rows)...)
			continue
		}
		s.blocks = append(s.blocks, b)
	}
	joinEmptySections(in, s.blocks, units, firsts)
	s.outline = outlineOf(sections, len(in.text))
}

// extendFirstHeading extends the first heading backwards over short preceding units, such as a directive or an
// anchor, unless they are prose.
func extendFirstHeading(in input, units []unit) []unit {
	for i, u := range units {
		switch {
		case u.kind == unitProse || longerThan(in.text[units[0].start:u.start], in.target/4):
			return units
		case u.kind == unitHeading && i > 0:
			units[i].start = units[0].start
			return units[i:]
		case u.kind == unitHeading:
			return units
		}
	}
	return units
}

func unitEnd(in input, units []unit, i int) int {
	if i+1 < len(units) {
		return units[i+1].start
	}
	return len(in.text)
}

// longerThan reports whether s has more than n code points.
func longerThan(s string, n int) bool { return len(s) > n && utf8.RuneCountInString(s) > n }

// tableBlocks splits a table that is too long for a chunk between its rows. Every part has the
// column names as heading, so that each row is found and shown with them.
func tableBlocks(in input, b chunk.Block, rows rowsFunc) []chunk.Block {
	if rows == nil {
		return []chunk.Block{b}
	}
	columns, starts := rows(in.text[b.Start:b.End])
	if len(starts) == 0 {
		return []chunk.Block{b}
	}
	if h := columnHeading(columns); h != "" {
		b.Heading = append(slices.Clip(b.Heading), h)
	}
	return recordBlocks(in, b, starts)
}

// recordBlocks splits a block at its records. starts are their ordered offsets relative to the
// block. A record stays whole if it fits into a chunk.
func recordBlocks(in input, b chunk.Block, starts []int) []chunk.Block {
	out := make([]chunk.Block, 0, len(starts)+1)
	add := func(from, to int) {
		if from < to {
			out = append(out, chunk.Block{
				Start: from, End: to, Heading: b.Heading, Break: b.Break && len(out) == 0,
				Keep: !longerThan(strings.TrimSpace(in.text[from:to]), in.max),
			})
		}
	}
	at := b.Start
	for _, s := range starts {
		add(at, b.Start+s)
		at = max(at, b.Start+s)
	}
	add(at, b.End)
	return out
}

// headingPath is the path of headings above a position, outermost first.
type headingPath struct {
	levels []int
	titles []string // never modified in place: blocks share it
}

// leave closes the sections at and below a level. It reports whether there were any.
func (p *headingPath) leave(level int) bool {
	n := len(p.levels)
	for n > 0 && p.levels[n-1] >= level {
		n--
	}
	left := n < len(p.levels)
	p.levels, p.titles = p.levels[:n], p.titles[:n:n]
	return left
}

// enter opens a section with a heading. It closes the sections at and below its level.
func (p *headingPath) enter(level int, title string) {
	p.leave(level)
	p.levels = append(p.levels, level)
	p.titles = append(p.titles, title)
}

// joinEmptySections joins headings without text into few chunks. Headings directly above a section
// with text are joined with it, and so are headings too short for a chunk. Others are joined up to the
// target size, under their common headings. firsts are the first blocks of the units.
func joinEmptySections(in input, blocks []chunk.Block, units []unit, firsts []int) {
	for i := 0; i < len(units); i++ {
		end := i
		for end < len(units) && units[end].kind == unitHeading {
			end++
		}
		leading := end
		if i < end && end < len(units) {
			leading--
			for leading > i && units[leading-1].level < units[leading].level {
				leading--
			}
		}
		for i < leading {
			n, heading, size := fillChunk(in, blocks[firsts[i]:firsts[i]+leading-i])
			if i+n == leading && leading < end && size < in.target/4 {
				leading = i
				break
			}
			joinBlocks(blocks[firsts[i]:firsts[i]+n], heading)
			i += n
		}
		if leading < end && end < len(units) {
			joinBlocks(blocks[firsts[leading]:firsts[end]], blocks[firsts[end]].Heading)
		}
		i = end
	}
}

// fillChunk returns the number of blocks, at least one, that fit into a chunk of the target size, their
// common headings and their size.
func fillChunk(in input, blocks []chunk.Block) (n int, heading []string, size int) {
	for i, b := range blocks {
		more := utf8.RuneCountInString(in.text[b.Start:b.End])
		if i > 0 && size+more > in.target {
			return i, heading, size
		}
		size += more
		if i == 0 {
			heading = b.Heading
		}
		shared := 0
		for shared < min(len(heading), len(b.Heading)) && heading[shared] == b.Heading[shared] {
			shared++
		}
		heading = heading[:shared:shared]
	}
	return len(blocks), heading, size
}

// joinBlocks combines blocks into one section.
func joinBlocks(blocks []chunk.Block, heading []string) {
	for i := range blocks {
		blocks[i].Heading = heading
		blocks[i].Break = i == 0
	}
}
