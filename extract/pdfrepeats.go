package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Where headers and footers are looked for, and how often they have to be seen.
const (
	repeatBand  = .14 // of the height of a page, at its top and at its bottom
	repeatLines = 3   // from the edge inwards
	repeatPages = 3
	repeatNear  = 2 // pages between two of them: left and right pages differ
)

var (
	digits      = regexp.MustCompile(`[0-9]+`)
	romanDigits = regexp.MustCompile(`^[ivxlcIVXLC]{1,7}$`)
	pageNumber  = regexp.MustCompile(`^(?i:[-–—\[(|. ]*(page|seite|p\.|pág\.?|página)?\s*#(\s*(/|of|von|sur|de)\s*#)?[-–—\]|). ]*)$`)
)

// repeatKey is what a header or footer has in common on all pages: its words, its
// side of the page, and about how high it stands.
type repeatKey struct {
	words string
	at    int
}

// edge is a line that may be a header or footer.
type edge struct {
	page, line int
	number     bool
}

// repeated marks the lines of headers, footers and page numbers. The first of a
// header that says something stays.
func (d *pdfDoc) repeated() map[*pdfLine]bool {
	seen := make(map[repeatKey][]edge)
	for n := range d.pages {
		d.pages[n].edges(func(i int) {
			key, number := d.pages[n].repeatKey(i)
			seen[key] = append(seen[key], edge{page: n, line: i, number: number})
		})
	}
	drop := make(map[*pdfLine]bool)
	for key, edges := range seen {
		if !isRepeat(key, edges, len(d.pages)) {
			continue
		}
		for i, e := range edges {
			if i > 0 || e.number {
				drop[&d.pages[e.page].lines[e.line]] = true
			}
		}
	}
	return drop
}

// edges calls use for the outermost lines of a page.
func (p *pdfPage) edges(use func(line int)) {
	order := make([]int, len(p.lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.lines[b].y, p.lines[a].y) })
	for rank, i := range order {
		y := p.lines[i].y / max(p.height, 1)
		if rank < repeatLines && y > 1-repeatBand || rank >= len(order)-repeatLines && y < repeatBand {
			use(i)
		}
	}
}

func (p *pdfPage) repeatKey(i int) (key repeatKey, number bool) {
	l := p.lines[i]
	words := strings.Join(strings.Fields(digits.ReplaceAllString(l.boxes, "#")), " ")
	if romanDigits.MatchString(words) {
		words = "#"
	}
	if number = pageNumber.MatchString(words); number {
		words = "#"
	}
	return repeatKey{words: strings.ToLower(words), at: int(math.Round(l.y / 6))}, number
}

// isRepeat decides whether lines with one key are headers or footers. Lines of
// figures are not: that is how tables look.
func isRepeat(key repeatKey, edges []edge, pages int) bool {
	if edges[0].number {
		return pages > 1 && len(edges) >= min(repeatPages, pages)
	}
	if strings.IndexFunc(key.words, isLetter) < 0 || len(key.words) > 200 {
		return false
	}
	near := 0
	for i, e := range edges {
		if i > 0 && e.page != edges[i-1].page && e.page-edges[i-1].page <= repeatNear {
			near++
		}
	}
	return near+1 >= min(repeatPages, max(pages, 2)) && near+1 >= repeatPages-b2i(pages == 2)
}
