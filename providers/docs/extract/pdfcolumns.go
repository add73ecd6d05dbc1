package extract

import (
	"cmp"
	"math"
	"slices"
)

// Conditions for two columns.
const (
	columnDepth    = 3   // nested columns
	columnLines    = 6   // lines on each side
	columnFill     = .55 // fraction of the column width that lines fill
	columnCrossing = .4  // fraction of all lines that may cross the gutter
	columnBin      = 2.0 // points
)

// pdfColumns splits the segments of a page into blocks in reading order: text across the page, then
// the columns below it from left to right. Table cells are not columns, because they do not fill
// them as lines of text do.
func pdfColumns(segments []pdfSegment, depth int) [][]pdfSegment {
	if len(segments) == 0 {
		return nil
	}
	gutter, ok := pdfGutter(segments)
	if depth >= columnDepth || !ok {
		return [][]pdfSegment{segments}
	}
	left, right, across := splitAt(segments, gutter)
	if !isColumns(left, right, across) {
		return [][]pdfSegment{segments}
	}
	for _, part := range [...][]pdfSegment{left, right, across} {
		slices.SortStableFunc(part, func(a, b pdfSegment) int { return cmp.Compare(b.y, a.y) })
	}
	var out [][]pdfSegment
	for len(left)+len(right)+len(across) > 0 {
		var above, l, r []pdfSegment
		above, across = cutAbove(across, max(topOf(left), topOf(right)), true)
		if len(above) > 0 {
			out = append(out, above)
		}
		l, left = cutAbove(left, topOf(across), false)
		r, right = cutAbove(right, topOf(across), false)
		out = append(out, pdfColumns(l, depth+1)...)
		out = append(out, pdfColumns(r, depth+1)...)
	}
	return out
}

// topOf returns the top of segments, which are sorted from top to bottom.
func topOf(segments []pdfSegment) float64 {
	if len(segments) == 0 {
		return math.Inf(-1)
	}
	return segments[0].y
}

// cutAbove splits sorted segments into those above y (with at, also those at y) and the rest.
func cutAbove(segments []pdfSegment, y float64, at bool) (above, rest []pdfSegment) {
	i := 0
	for i < len(segments) && (segments[i].y > y || at && segments[i].y == y) {
		i++
	}
	return segments[:i:i], segments[i:]
}

// pdfGutter finds the vertical strip in the middle of a page that the fewest segments cross, and
// returns its centre.
func pdfGutter(segments []pdfSegment) (float64, bool) {
	x0, x1 := segments[0].x0, segments[0].x1
	sizes := make([]float64, 0, len(segments))
	for _, s := range segments {
		x0, x1 = min(x0, s.x0), max(x1, s.x1)
		sizes = append(sizes, s.size)
	}
	slices.Sort(sizes)
	em := sizes[len(sizes)/2]
	if len(segments) < 2*columnLines || x1-x0 < 20*em || x1-x0 > 1e5 {
		return 0, false
	}
	cover := make([]int, int((x1-x0)/columnBin)+1)
	for _, s := range segments {
		for i := int((s.x0 - x0) / columnBin); i <= int((s.x1-x0)/columnBin) && i < len(cover); i++ {
			cover[i]++
		}
	}
	from, to := len(cover)/5, len(cover)*4/5
	least := slices.Min(cover[from:to])
	best, width := 0, 0
	for i := from; i < to; i++ {
		run := 0
		for i+run < to && cover[i+run] <= least+len(segments)/50 {
			run++
		}
		if run > width {
			best, width = i, run
		}
		i += run
	}
	center := x0 + (float64(best)+float64(width)/2)*columnBin
	return center, float64(width)*columnBin >= .6*em
}

// splitAt splits segments into those left of x, right of x, and across x. A segment on the same
// line as one across x also counts as across.
func splitAt(segments []pdfSegment, x float64) (left, right, across []pdfSegment) {
	var ys []float64
	for _, s := range segments {
		if s.x0 < x && s.x1 > x {
			ys = append(ys, s.y)
		}
	}
	slices.Sort(ys)
	for _, s := range segments {
		i, _ := slices.BinarySearch(ys, s.y-.2*s.size)
		switch {
		case i < len(ys) && ys[i] <= s.y+.2*s.size:
			across = append(across, s)
		case s.x1 <= x:
			left = append(left, s)
		default:
			right = append(right, s)
		}
	}
	return left, right, across
}

func isColumns(left, right, across []pdfSegment) bool {
	l, r, crossing := countRows(left), countRows(right), countRows(across)
	return min(l, r) >= columnLines && float64(crossing) <= columnCrossing*float64(l+r) && filled(left) && filled(right)
}

// countRows counts the distinct baselines.
func countRows(segments []pdfSegment) int {
	ys := make([]int, 0, len(segments))
	for _, s := range segments {
		ys = append(ys, int(s.y/max(s.size, 1)*2))
	}
	slices.Sort(ys)
	return len(slices.Compact(ys))
}

// filled reports whether most lines are about as wide as their column.
func filled(segments []pdfSegment) bool {
	x0, x1 := segments[0].x0, segments[0].x1
	widths := make([]float64, 0, len(segments))
	for _, s := range segments {
		x0, x1 = min(x0, s.x0), max(x1, s.x1)
		widths = append(widths, s.x1-s.x0)
	}
	slices.Sort(widths)
	return widths[len(widths)/2] >= columnFill*(x1-x0)
}
