package extract

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/ragctx/ragctx/providers/docs/extract/internal/pdf"
)

// Gaps in units of the font size. Spaces are .25 wide and up to a third narrower in justified text;
// kerning moves letters by at most .1.
const (
	gapWord    = .16 // a space that is not drawn
	gapSegment = 1.2 // the next cell or column
)

// pdfSegment is text on one baseline without wide gaps, in drawing order.
type pdfSegment struct {
	x0, x1, y, size float64
	glyphs          []pdf.Glyph
}

// pdfLine is a line of a page.
type pdfLine struct {
	// drawnText has only the drawn spaces; text also has spaces for the gaps between characters.
	drawnText, text string
	x0, x1, y, size float64
	bold, mono      bool
	cells           int  // parts separated by wide gaps
	block           int  // index of the column or part of the page
	leader          bool // dots lead to a page number, as in a table of contents
}

// pdfLines converts a page's glyphs to lines in reading order. It also returns the number of glyphs
// without characters.
func pdfLines(p *pdf.Page) (lines []pdfLine, unknown int) {
	angles := make(map[int][]pdf.Glyph)
	for _, g := range p.Glyphs {
		if g.S == "" {
			unknown++
			continue
		}
		if g.S = cleanPDF(g.S); g.S == "" || offPage(p, g) {
			continue
		}
		angles[g.Angle] = append(angles[g.Angle], g)
	}
	order := slices.SortedFunc(maps.Keys(angles), func(a, b int) int {
		return cmp.Or(cmp.Compare(len(angles[b]), len(angles[a])), cmp.Compare(a, b))
	})
	for _, a := range order {
		for _, block := range pdfColumns(pdfSegments(angles[a]), 0) {
			n := 0
			if len(lines) > 0 {
				n = lines[len(lines)-1].block + 1
			}
			lines = append(lines, pdfBlockLines(block, n)...)
		}
	}
	return lines, unknown
}

// offPage reports whether a glyph is outside the visible page. The coordinates of rotated text do
// not refer to the page, so it is never off page.
func offPage(p *pdf.Page, g pdf.Glyph) bool {
	const margin = 20 // some boxes are slightly too small
	return g.Angle == 0 && (g.X < -margin || g.Y < -margin || g.X > p.Width+margin || g.Y > p.Height+margin)
}

// cleanPDF returns plain characters: it decomposes ligatures and Arabic presentation forms and
// unifies spaces. Superscripts and fractions stay.
func cleanPDF(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2010', r == '\u2011':
			return '-'
		case r == '\t', unicode.Is(unicode.Zs, r):
			return ' '
		case r == '\u200B', r == '\uFEFF', r == unicode.ReplacementChar, unicode.IsControl(r):
			return -1
		}
		return r
	}, normalizeCompat(s))
}

func normalizeCompat(s string) string {
	for _, r := range s {
		if r >= 0xFB00 && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC ||
			r >= 0x2E80 && r <= 0x2FD5 || r >= 0xF900 && r <= 0xFAFF {
			return norm.NFKC.String(s)
		}
	}
	return s
}

// pdfSegments splits glyphs, in drawing order, where the baseline changes or a gap is wide.
func pdfSegments(glyphs []pdf.Glyph) []pdfSegment {
	var out []pdfSegment
	var last *pdfSegment
	for _, g := range glyphs {
		if last != nil && (last.accepts(g) || g.S == " " && math.Abs(g.Y-last.y) < last.size) {
			last.add(g)
			continue
		}
		if g.S == " " {
			continue // a segment does not begin with a space
		}
		out = append(out, pdfSegment{x0: g.X, x1: g.X, y: g.Y, size: g.Size})
		last = &out[len(out)-1]
		last.add(g)
	}
	return out
}

func (s *pdfSegment) accepts(g pdf.Glyph) bool {
	size := max(s.size, g.Size)
	gap := g.X - s.x1
	return math.Abs(g.Y-s.y) < .15*size && gap < gapSegment*size && gap > -size && math.Abs(g.Size-s.size) < .35*size
}

// add appends a glyph, unless it repeats a glyph at the same position (simulated bold).
func (s *pdfSegment) add(g pdf.Glyph) {
	for i := len(s.glyphs) - 1; i >= max(0, len(s.glyphs)-3); i-- {
		if o := s.glyphs[i]; o.S == g.S && g.S != " " && math.Abs(o.X-g.X) < .12*g.Size &&
			math.Abs(o.Y-g.Y) < .12*g.Size {
			return
		}
	}
	s.glyphs = append(s.glyphs, g)
	if g.S != " " {
		s.x1 = max(s.x1, g.X+g.W)
	}
}

// dotLeader matches the dots between a title and a page number.
var dotLeader = regexp.MustCompile(` *(\. *){4,}`)

// repeats reports whether a segment is drawn over another with the same text.
func (s pdfSegment) repeats(o pdfSegment) bool {
	return math.Abs(s.x0-o.x0) < .3*s.size && len(s.glyphs) == len(o.glyphs) &&
		slices.EqualFunc(s.glyphs, o.glyphs, func(a, b pdf.Glyph) bool { return a.S == b.S })
}

// pdfRow holds the segments of one line.
type pdfRow struct {
	y, size  float64
	segments []pdfSegment
}

// overlaps reports whether a segment belongs to the row: the vertical overlap is at least half of
// the smaller height.
func (r pdfRow) overlaps(s pdfSegment) bool {
	const height = .7
	top, bottom := min(r.y+height*r.size, s.y+height*s.size), max(r.y, s.y)
	return top-bottom > .5*height*min(r.size, s.size)
}

// maxScriptBases bounds the segments of a row that are checked as the base of a script.
const maxScriptBases = 64

// hasBase reports whether a segment is a subscript or superscript of a segment in the row: smaller,
// slightly higher or lower, and touching.
func (r pdfRow) hasBase(s pdfSegment) bool {
	for _, o := range r.segments[:min(len(r.segments), maxScriptBases)] {
		gap := max(s.x0-o.x1, o.x0-s.x1)
		if s.size < .85*o.size && math.Abs(o.y-s.y) < .7*o.size && gap < .3*o.size && gap > -.4*o.size {
			return true
		}
	}
	return false
}

// joinScripts moves subscripts and superscripts from their own rows to the rows of their base.
func joinScripts(rows []pdfRow) []pdfRow {
	for i := range rows {
		own := rows[i].segments[:0:0]
		for _, s := range rows[i].segments {
			at := -1
			for j := max(0, i-2); j <= min(i+2, len(rows)-1) && at < 0; j++ {
				if j != i && rows[j].hasBase(s) {
					at = j
				}
			}
			if at < 0 {
				own = append(own, s)
			} else {
				rows[at].segments = append(rows[at].segments, s)
			}
		}
		rows[i].segments = own
	}
	return slices.DeleteFunc(rows, func(r pdfRow) bool { return len(r.segments) == 0 })
}

// pdfRows groups segments on the same line into rows.
func pdfRows(segments []pdfSegment) []pdfRow {
	slices.SortStableFunc(segments, func(a, b pdfSegment) int { return cmp.Compare(b.y, a.y) })
	var rows []pdfRow
	for _, s := range segments {
		at := -1
		for i := len(rows) - 1; i >= max(0, len(rows)-4); i-- {
			if rows[i].overlaps(s) {
				at = i
				break
			}
		}
		if at < 0 {
			rows = append(rows, pdfRow{y: s.y, size: s.size, segments: []pdfSegment{s}})
			continue
		}
		if s.size > rows[at].size {
			rows[at].y, rows[at].size = s.y, s.size
		}
		rows[at].segments = append(rows[at].segments, s)
	}
	slices.SortStableFunc(rows, func(a, b pdfRow) int { return cmp.Compare(b.y, a.y) })
	return joinScripts(rows)
}

// pdfBlockLines converts the segments of a column to lines.
func pdfBlockLines(segments []pdfSegment, block int) []pdfLine {
	var out []pdfLine
	for _, row := range pdfRows(segments) {
		slices.SortStableFunc(row.segments, func(a, b pdfSegment) int { return cmp.Compare(a.x0, b.x0) })
		if l, ok := row.line(); ok {
			l.block = block
			out = append(out, l)
		}
	}
	return out
}

// line writes a row with drawn spaces and with gaps.
func (r pdfRow) line() (pdfLine, bool) {
	l := pdfLine{x0: math.Inf(1), x1: math.Inf(-1), y: r.y, size: r.size, bold: true, mono: true, cells: 1}
	var glyphs []pdf.Glyph
	right := math.Inf(-1)
	for i, s := range r.segments {
		if i > 0 && s.repeats(r.segments[i-1]) {
			continue
		}
		l.x0, l.x1 = min(l.x0, s.x0), max(l.x1, s.x1)
		if s.x0-right > 2*r.size && right > math.Inf(-1) {
			l.cells++
		}
		right = max(right, s.x1)
		glyphs = append(glyphs, s.glyphs...)
	}
	l.size = usualSize(glyphs)
	for i := range glyphs {
		g := &glyphs[i]
		if g.S != " " {
			l.bold, l.mono = l.bold && g.Font.Bold, l.mono && g.Font.Mono
		}
		if g.Size < .85*l.size && g.Y > r.y+.2*l.size {
			g.S = superscript(g.S)
		}
	}
	glyphs = logicalOrder(combineAccents(glyphs))
	l.drawnText, l.text = writeGlyphs(glyphs, gapSegment, l.mono), writeGlyphs(glyphs, gapWord, l.mono)
	if l.leader = dotLeader.MatchString(l.text); l.leader {
		l.drawnText, l.text = dotLeader.ReplaceAllString(l.drawnText, " … "), dotLeader.ReplaceAllString(l.text, " … ")
	}
	return l, strings.TrimSpace(l.text) != ""
}

// usualSize returns the size of most glyphs. List markers may be larger than their text.
func usualSize(glyphs []pdf.Glyph) float64 {
	sizes := make(map[float64]int)
	for _, g := range glyphs {
		if g.S != " " {
			sizes[g.Size] += 1 + b2i(isLetters(g.S))
		}
	}
	return mostFrequent(sizes)
}

// superscript converts a raised digit to a superscript character, so that it does not join the
// number before it.
func superscript(s string) string {
	if len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
		return string([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[s[0]-'0'])
	}
	return s
}

// writeGlyphs writes glyphs with the drawn spaces, and a space for each gap wider than gap. A wide
// gap between cells becomes three spaces; in a fixed-width font, as many spaces as fit.
func writeGlyphs(glyphs []pdf.Glyph, gap float64, mono bool) string {
	var out strings.Builder
	var last *pdf.Glyph
	spaced := true
	for i := range glyphs {
		g := &glyphs[i]
		if g.S == " " {
			if mono || !spaced {
				out.WriteByte(' ')
			}
			spaced, last = true, advanced(last, g, mono)
			continue
		}
		if last != nil {
			space := distance(last, g) / max(last.Size, g.Size)
			switch {
			case mono && space > .3:
				out.WriteString(strings.Repeat(" ", min(int(math.Round(space/.6)), 80)))
			case space > 2:
				out.WriteString("   "[:3-b2i(spaced)])
			case space > gap && !spaced:
				out.WriteByte(' ')
			}
		}
		out.WriteString(g.S)
		spaced, last = false, g
	}
	return strings.TrimRight(out.String(), " ")
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// advanced returns the glyph from which the next gap is measured. A drawn space counts only in a
// fixed-width font.
func advanced(last, space *pdf.Glyph, mono bool) *pdf.Glyph {
	if mono {
		return space
	}
	return last
}

// distance returns the gap between two glyphs in either order.
func distance(a, b *pdf.Glyph) float64 {
	return max(b.X-(a.X+a.W), a.X-(b.X+b.W))
}
