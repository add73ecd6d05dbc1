package docs

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// unitKind says what a unit is.
type unitKind uint8

const (
	unitOther   unitKind = iota // an item of a list, a quote, a directive, a comment
	unitProse                   // a paragraph
	unitHeading                 // with what belongs to it, such as its underline
	unitCode                    // stays whole if it fits, is cut between lines if not
	unitTable                   // stays whole if it fits, is cut between rows if not
)

// unit is a block of a text with markup, or an item of a list. Units tile the
// text from the first one on: each ends where the next begins.
type unit struct {
	start int
	kind  unitKind
	level int    // of a heading, from 1
	title string // of a heading
	// leave is the level whose headings, and those below, end before this unit
	// without a new one; 0 for none.
	leave int
}

// rowsFunc finds the rows of a table: where each begins, in order, and what the
// columns are called, if the table says so.
type rowsFunc func(table string) (columns []string, rows []int)

// maxColumns is how long the names of columns are in a heading path, in code points.
const maxColumns = 160

// columnHeading is how the names of columns stand in the heading path of rows.
func columnHeading(columns []string) string {
	named := columns[:0:0]
	for _, c := range columns[:min(len(columns), maxColumns)] {
		if c = strings.Join(strings.Fields(sentence.Clip(c, maxColumns)), " "); c != "" {
			named = append(named, c)
		}
	}
	return sentence.Clip(strings.Join(named, " | "), maxColumns)
}

// arrange makes the blocks, outline and prose of a structure from units that
// are in order. The first heading of level 1 is the title where there is none yet.
func (s *structure) arrange(in input, units []unit, rows rowsFunc) {
	for i := range units {
		if units[i].kind == unitHeading && units[i].title == "" {
			units[i].kind = unitOther
		}
	}
	units = headed(in, units)
	s.blocks = make([]chunk.Block, 0, len(units))
	sections := make([]heading, 0, len(units)/4)
	firsts := make([]int, len(units)) // the first block of each unit
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
		if u.kind == unitTable && longer(in.text[u.start:end], in.max) {
			s.blocks = append(s.blocks, tableBlocks(in, b, rows)...)
			continue
		}
		s.blocks = append(s.blocks, b)
	}
	joinEmptySections(in, s.blocks, units, firsts)
	s.outline = outlineOf(sections, len(in.text))
}

// headed lets the first heading begin with what little there is before it, such
// as a directive or an anchor, unless that is text.
func headed(in input, units []unit) []unit {
	for i, u := range units {
		switch {
		case u.kind == unitProse || longer(in.text[units[0].start:u.start], in.target/4):
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

// longer reports whether s has more than n code points.
func longer(s string, n int) bool { return len(s) > n && utf8.RuneCountInString(s) > n }

// tableBlocks cuts a table that is too long for a chunk between its rows. Every
// part stands under the names of the columns, so that a row far down is found,
// and read, with them.
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

// recordBlocks cuts a block where its records begin: starts, relative to the
// block and in order. A record stays whole if it fits into a chunk.
func recordBlocks(in input, b chunk.Block, starts []int) []chunk.Block {
	out := make([]chunk.Block, 0, len(starts)+1)
	add := func(from, to int) {
		if from < to {
			out = append(out, chunk.Block{
				Start: from, End: to, Heading: b.Heading, Break: b.Break && len(out) == 0,
				Keep: !longer(strings.TrimSpace(in.text[from:to]), in.max),
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

// headingPath is the headings that a place stands under, outermost first.
type headingPath struct {
	levels []int
	titles []string // never changed in place: blocks share it
}

// leave goes out of the sections of a level and below; it reports whether there
// was one.
func (p *headingPath) leave(level int) bool {
	n := len(p.levels)
	for n > 0 && p.levels[n-1] >= level {
		n--
	}
	left := n < len(p.levels)
	p.levels, p.titles = p.levels[:n], p.titles[:n:n]
	return left
}

// enter goes to a section under a heading, leaving those of its level and below.
func (p *headingPath) enter(level int, title string) {
	p.leave(level)
	p.levels = append(p.levels, level)
	p.titles = append(p.titles, title)
}

// joinEmptySections sees to it that headings without text of their own make
// few chunks. Those that lead to a section with text go with it, and so does
// what is too little for a chunk; others are joined up to the target size, under
// the headings that they share. firsts are the first blocks of the units.
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
			n, heading, size := fill(in, blocks[firsts[i]:firsts[i]+leading-i])
			if i+n == leading && leading < end && size < in.target/4 {
				leading = i
				break
			}
			join(blocks[firsts[i]:firsts[i]+n], heading)
			i += n
		}
		if leading < end && end < len(units) {
			join(blocks[firsts[leading]:firsts[end]], blocks[firsts[end]].Heading)
		}
		i = end
	}
}

// fill returns how many blocks, at least one, make a chunk of the target size,
// the headings that they share, and their size.
func fill(in input, blocks []chunk.Block) (n int, heading []string, size int) {
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

// join makes blocks one section.
func join(blocks []chunk.Block, heading []string) {
	for i := range blocks {
		blocks[i].Heading = heading
		blocks[i].Break = i == 0
	}
}
