package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What it takes to be a header or footer. A header too many does no harm, a line of
// the text too few does: what is in doubt stays.
const (
	repeatBand   = .14 // of the height of a page, at its top and at its bottom
	repeatLines  = 3   // from the edge inwards
	repeatPages  = 3
	repeatNear   = 2   // pages between two of them: left and right pages differ
	repeatHeight = 4   // points that they may stand higher or lower
	repeatExact  = .5  // points, for those in letters larger than the text
	repeatApart  = 1.5 // distances of lines between them and the text
	repeatWide   = .8  // of the width of the text, with the number at its edge
	repeatOffset = 30  // between a number beside words and the page
	repeatBytes  = 200
)

// Page numbers: alone, after a word for page, or at one end of a line. The first
// group is the number.
var (
	romanNumber = regexp.MustCompile(`^(?:[ivxlc]{1,7}|[IVXLC]{1,7})$`)
	pageNumber  = regexp.MustCompile(`^(?i:[-–—\[(|. ]*(?:page|seite|p\.|pág\.?|página)?\s*([0-9]{1,6})(?:\s*(?:/|of|von|sur|de)\s*[0-9]{1,6})?[-–—\]|). ]*)$`)
	pageWord    = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:page|seite|p\.|pág\.?|página)\s*([0-9]{1,6})(?:$|[\s|·/)\]])`)
	barNumbers  = []*regexp.Regexp{regexp.MustCompile(`^([0-9]{1,6}) +[|·] `), regexp.MustCompile(` [|·] +([0-9]{1,6})$`)}
	wideNumbers = []*regexp.Regexp{regexp.MustCompile(`^([0-9]{1,6}) {3}`), regexp.MustCompile(` {3}([0-9]{1,6})$`)}
)

// repeatKey is what a header or footer has in common on all pages: its text without
// the page's number, and how far that number is from the page's place in the file.
type repeatKey struct {
	text     string
	numbered bool
	offset   int
}

// edge is a line that may be a header or footer.
type edge struct {
	page, level int
	line        *pdfLine
	top         bool
	keys        []repeatKey
	alone       bool // a page number without other words
	apart       bool // from the text, as far as is known
}

// pdfLevel is the lines of a page at one height.
type pdfLevel struct {
	y     float64
	lines []*pdfLine
}

// pdfRepeats finds headers and footers.
type pdfRepeats struct {
	body, distance float64 // size and distance of most lines, in points
	levels         [][]pdfLevel
	edges          []edge
	found          map[*pdfLine]bool
}

// repeated marks the lines of headers, footers and page numbers. The first of a
// header that says something stays.
func (d *pdfDoc) repeated() (drop map[*pdfLine]bool) {
	r := pdfRepeats{found: make(map[*pdfLine]bool)}
	r.measure(d.pages)
	for n := range d.pages {
		r.addPage(&d.pages[n])
	}
	for range repeatLines { // the outer lines of a header show once the inner ones are known
		drop = r.round()
	}
	return drop
}

// measure finds the size and the distance of most lines.
func (r *pdfRepeats) measure(pages []pdfPage) {
	sizes, distances := make(map[float64]int), make(map[float64]int)
	for _, p := range pages {
		for i, l := range p.lines {
			sizes[half(l.size)] += len(l.boxes)
			if i > 0 && l.block == p.lines[i-1].block {
				if gap := p.lines[i-1].y - l.y; gap > .8*l.size {
					distances[half(gap)]++
				}
			}
		}
	}
	r.body, r.distance = most(sizes), most(distances)
}

// addPage notes the outermost lines of a page.
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
			e.addKeys(l.x1-l.x0 >= repeatWide*(right-left), half(l.size) > r.body)
			r.edges = append(r.edges, e)
		}
	}
}

// levels orders the lines of a page by their heights, the highest first.
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

// addKeys notes each way to read a line as a header: as it is, and with one of its
// numbers as that of the page. Numbers in large letters count chapters.
func (e *edge) addKeys(wide, large bool) {
	s := strings.TrimSpace(e.line.boxes)
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
		e.alone = true
		e.addNumber(s, m, math.MaxInt)
		return
	}
	if romanNumber.MatchString(s) {
		if n := romanValue(s); strings.EqualFold(roman(n), s) {
			e.alone = true
			e.keys = append(e.keys, repeatKey{text: "roman", numbered: true, offset: n - e.page - 1})
		}
		return
	}
	if strings.IndexFunc(s, isLetter) < 0 { // figures, as in tables
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

// addNumber reads the match's first group as the number of the page.
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

// romanValue reads Roman numerals up to C.
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

// round finds the headers and footers that stand apart from the text or from those
// found before, and returns the lines to drop. A bare number may be nearer to the text
// if it goes on with those that stand apart.
func (r *pdfRepeats) round() map[*pdfLine]bool {
	groups := make(map[repeatKey][]edge)
	for _, e := range r.edges {
		if len(e.keys) == 0 {
			continue
		}
		e.apart = r.found[e.line] || r.apart(e)
		for _, key := range e.keys {
			if e.apart || e.alone && key.numbered {
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
				if i > 0 || key.numbered && e.alone {
					drop[e.line] = true
				}
			}
		}
	}
	return drop
}

// apart reports whether a line is clearly farther from the text than the lines of the
// text are from each other: those of most pages, and those next to it.
func (r *pdfRepeats) apart(e edge) bool {
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

// repeatRuns splits lines that have a key in common where their heights differ and
// where pages are between them that lack it: at least half of a run's pages have it.
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

// isRepeat decides whether the lines of a run are headers or footers. Those in letters
// larger than the text are titles unless they are all in one place.
func (r *pdfRepeats) isRepeat(run []edge) bool {
	pages, apart, last, exact, large := 0, 0, -1, true, false
	for _, e := range run {
		if e.page != last {
			pages, last = pages+1, e.page
			apart += b2i(e.apart)
		}
		a, b := e.line, run[0].line
		exact = exact && math.Abs(a.x0-b.x0) <= repeatExact && math.Abs(a.y-b.y) <= repeatExact
		large = large || half(a.size) > r.body
	}
	return apart >= repeatPages && 2*apart >= pages && (exact || !large)
}
