package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Conditions for a header or footer. An undetected header does little harm, but a lost line of text
// does: in doubt a line stays.
const (
	repeatBand   = .14 // fraction of the page height, at the top and at the bottom
	repeatLines  = 3   // lines from the edge
	repeatPages  = 3
	repeatNear   = 2   // maximum page distance between two: left and right pages may differ
	repeatHeight = 4   // tolerance of the vertical position, in points
	repeatExact  = .5  // tolerance in points for letters larger than the body
	repeatApart  = 1.5 // distance from the text, in line distances
	repeatWide   = .8  // fraction of the text width, with the number at the edge
	repeatOffset = 30  // maximum difference of a number next to words and the page index
	repeatBytes  = 200
)

// Patterns of page numbers: alone, after a word for page, or at one end of a line. The first group
// is the number.
var (
	romanNumber = regexp.MustCompile(`^(?:[ivxlc]{1,7}|[IVXLC]{1,7})$`)
	pageNumber  = regexp.MustCompile(`^(?i:[-–—\[(|. ]*(?:page|seite|p\.|pág\.?|página)?\s*([0-9]{1,6})` +
		`(?:\s*(?:/|of|von|sur|de)\s*[0-9]{1,6})?[-–—\]|). ]*)$`)
	pageWord   = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:page|seite|p\.|pág\.?|página)\s*([0-9]{1,6})(?:$|[\s|·/)\]])`)
	barNumbers = []*regexp.Regexp{
		regexp.MustCompile(`^([0-9]{1,6}) +[|·] `), regexp.MustCompile(` [|·] +([0-9]{1,6})$`),
	}
	wideNumbers = []*regexp.Regexp{regexp.MustCompile(`^([0-9]{1,6}) {3}`), regexp.MustCompile(` {3}([0-9]{1,6})$`)}
)

// repeatKey identifies a header or footer across pages: its text without the page number, and the
// difference of that number and the page index.
type repeatKey struct {
	text     string
	numbered bool
	offset   int
}

// edge is a candidate line for a header or footer.
type edge struct {
	page, level int
	line        *pdfLine
	top         bool
	keys        []repeatKey
	bareNumber  bool // a page number without other words
	apart       bool // clearly separated from the text, as far as known
}

// pdfLevel holds the lines of a page at one height.
type pdfLevel struct {
	y     float64
	lines []*pdfLine
}

// pdfRepeats detects headers and footers.
type pdfRepeats struct {
	body, distance float64 // size and distance of most lines, in points
	levels         [][]pdfLevel
	edges          []edge
	found          map[*pdfLine]bool
}

// repeatedLines returns the lines of headers, footers and page numbers to drop. The first
// occurrence of a header with text stays.
func (d *pdfDoc) repeatedLines() (drop map[*pdfLine]bool) {
	r := pdfRepeats{found: make(map[*pdfLine]bool)}
	r.measure(d.pages)
	for n := range d.pages {
		r.addPage(&d.pages[n])
	}
	for range repeatLines { // outer header lines become detectable after the inner ones
		drop = r.round()
	}
	return drop
}

// measure computes the size and the distance of most lines.
func (r *pdfRepeats) measure(pages []pdfPage) {
	sizes, distances := make(map[float64]int), make(map[float64]int)
	for _, p := range pages {
		for i, l := range p.lines {
			sizes[roundToHalf(l.size)] += len(l.text)
			if i > 0 && l.block == p.lines[i-1].block {
				if gap := p.lines[i-1].y - l.y; gap > .8*l.size {
					distances[roundToHalf(gap)]++
				}
			}
		}
	}
	r.body, r.distance = mostFrequent(sizes), mostFrequent(distances)
}

// addPage adds the outermost lines of a page.
func (r *pdfRepeats) addPage(p *pdfPage) {
	levels, n := p.levels(), len(r.levels)
	r.levels = append(r.levels, levels)
	left, right := math.Inf(1), math.Inf(-1)
	for _, l := range p.lines {
		left, right = min(left, l.x0), max(right, l.x1)
	}
	for i, level := range levels {
		y := level.y / max(p.height, 1)
		top := i < repeatLines && y > 1-repeatBand
		if !top && (i < len(levels)-repeatLines || y >= repeatBand) {
			continue
		}
		for _, l := range level.lines {
			e := edge{page: n, level: i, line: l, top: top}
			e.addKeys(l.x1-l.x0 >= repeatWide*(right-left), roundToHalf(l.size) > r.body)
			r.edges = append(r.edges, e)
		}
	}
}

// levels groups the lines of a page by height, the highest first.
func (p *pdfPage) levels() (levels []pdfLevel) {
	order := make([]*pdfLine, len(p.lines))
	for i := range order {
		order[i] = &p.lines[i]
	}
	slices.SortStableFunc(order, func(a, b *pdfLine) int { return cmp.Compare(b.y, a.y) })
	for _, l := range order {
		if n := len(levels); n > 0 && levels[n-1].y-l.y <= .5*l.size {
			levels[n-1].lines = append(levels[n-1].lines, l)
			continue
		}
		levels = append(levels, pdfLevel{y: l.y, lines: []*pdfLine{l}})
	}
	return levels
}

// addKeys adds each interpretation of a line as a header: the text as it is, and the text with one
// of its numbers as the page number. Numbers in large letters are chapter numbers.
func (e *edge) addKeys(wide, large bool) {
	s := strings.TrimSpace(e.line.text)
	if len(s) > repeatBytes {
		return
	}
	if strings.IndexFunc(s, isLetter) >= 0 {
		e.keys = append(e.keys, repeatKey{text: strings.Join(strings.Fields(s), " ")})
	}
	if large {
		return
	}
	if m := pageNumber.FindStringSubmatchIndex(s); m != nil {
		e.bareNumber = true
		e.addNumber(s, m, math.MaxInt)
		return
	}
	if romanNumber.MatchString(s) {
		if n := romanValue(s); strings.EqualFold(roman(n), s) {
			e.bareNumber = true
			e.keys = append(e.keys, repeatKey{text: "roman", numbered: true, offset: n - e.page - 1})
		}
		return
	}
	if strings.IndexFunc(s, isLetter) < 0 { // digits only, as in tables
		return
	}
	for _, re := range append([]*regexp.Regexp{pageWord}, barNumbers...) {
		e.addNumber(s, re.FindStringSubmatchIndex(s), repeatOffset)
	}
	for _, re := range wideNumbers {
		if wide {
			e.addNumber(s, re.FindStringSubmatchIndex(s), repeatOffset)
		}
	}
}

// addNumber interprets the match's first group as the page number.
func (e *edge) addNumber(s string, match []int, limit int) {
	if match == nil {
		return
	}
	n, err := strconv.Atoi(s[match[2]:match[3]])
	offset := n - e.page - 1
	if err != nil || max(offset, -offset) > limit {
		return
	}
	text := strings.Join(strings.Fields(s[:match[2]]+"\x00"+s[match[3]:]), " ")
	e.keys = append(e.keys, repeatKey{text: text, numbered: true, offset: offset})
}

// romanValue parses Roman numerals up to C.
func romanValue(s string) (n int) {
	values := map[rune]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100}
	last := 0
	for _, c := range strings.ToLower(s) {
		v := values[c]
		if n += v; last < v {
			n -= 2 * last
		}
		last = v
	}
	return n
}

// round finds the headers and footers that are apart from the text or from those found before, and
// returns the lines to drop. A bare number may be closer to the text if it continues the numbers of
// such lines.
func (r *pdfRepeats) round() map[*pdfLine]bool {
	groups := make(map[repeatKey][]edge)
	for _, e := range r.edges {
		if len(e.keys) == 0 {
			continue
		}
		e.apart = r.found[e.line] || r.isApart(e)
		for _, key := range e.keys {
			if e.apart || e.bareNumber && key.numbered {
				groups[key] = append(groups[key], e)
			}
		}
	}
	drop := make(map[*pdfLine]bool)
	for key, edges := range groups {
		for run := range repeatRuns(edges) {
			if !r.isRepeat(run) {
				continue
			}
			for i, e := range run {
				r.found[e.line] = true
				if i > 0 || key.numbered && e.bareNumber {
					drop[e.line] = true
				}
			}
		}
	}
	return drop
}

// isApart reports whether a line is clearly farther from the text than the lines of the text are
// from each other, on most pages and next to it.
func (r *pdfRepeats) isApart(e edge) bool {
	levels, step := r.levels[e.page], -1
	if e.top {
		step = 1
	}
	text := e.level + step
	for text >= 0 && text < len(levels) && r.allFound(levels[text]) {
		text += step
	}
	if text < 0 || text >= len(levels) || r.distance == 0 {
		return false
	}
	near := math.Inf(1)
	for i := text + step; i >= 0 && i < len(levels) && i != text+4*step; i += step {
		near = min(near, math.Abs(levels[i].y-levels[i-step].y))
	}
	if math.IsInf(near, 1) {
		near = 0
	}
	return math.Abs(levels[e.level].y-levels[text].y) > repeatApart*max(r.distance, near)
}

func (r *pdfRepeats) allFound(level pdfLevel) bool {
	return !slices.ContainsFunc(level.lines, func(l *pdfLine) bool { return !r.found[l] })
}

// repeatRuns splits lines with a common key where their heights differ and where pages without the
// key lie between them. At least half of a run's pages have the key.
func repeatRuns(edges []edge) func(yield func([]edge) bool) {
	return func(yield func([]edge) bool) {
		slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.line.y, b.line.y) })
		for len(edges) > 0 {
			n := 1
			for n < len(edges) && edges[n].line.y-edges[0].line.y <= repeatHeight {
				n++
			}
			same := edges[:n]
			edges = edges[n:]
			slices.SortStableFunc(same, func(a, b edge) int { return cmp.Compare(a.page, b.page) })
			for from, i := 0, 1; i <= n; i++ {
				if i == n || same[i].page-same[i-1].page > repeatNear {
					if !yield(same[from:i]) {
						return
					}
					from = i
				}
			}
		}
	}
}

// isRepeat reports whether the lines of a run are headers or footers. Lines in letters larger than
// the body are titles, unless all have the same position.
func (r *pdfRepeats) isRepeat(run []edge) bool {
	pages, apart, last, exact, large := 0, 0, -1, true, false
	for _, e := range run {
		if e.page != last {
			pages, last = pages+1, e.page
			apart += b2i(e.apart)
		}
		a, b := e.line, run[0].line
		exact = exact && math.Abs(a.x0-b.x0) <= repeatExact && math.Abs(a.y-b.y) <= repeatExact
		large = large || roundToHalf(a.size) > r.body
	}
	return apart >= repeatPages && 2*apart >= pages && (exact || !large)
}
