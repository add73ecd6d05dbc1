package web

import "slices"

// edit is a line that two texts share (' '), or that one of them has ('-', '+'). from and to count from 1;
// 0 is absent.
type edit struct {
	op       byte
	from, to int
	text     string
}

// maxEdits bounds the work of a comparison. Texts that differ more are compared in part.
const maxEdits = 1500

// difference returns the edits from a to b. It reports whether they are as few as possible.
func difference(a, b []string) (edits []edit, whole bool) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		edits = append(edits, edit{' ', head + 1, head + 1, a[head]})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	between, whole := shortest(a[head:len(a)-tail], b[head:len(b)-tail], head)
	edits = append(edits, between...)
	for i := tail; i > 0; i-- {
		edits = append(edits, edit{' ', len(a) - i + 1, len(b) - i + 1, a[len(a)-i]})
	}
	return edits, whole
}

// shortest finds the fewest edits by Myers' algorithm. Line numbers begin after skipped lines. Beyond maxEdits
// it removes all of a and adds all of b.
func shortest(a, b []string, skipped int) (edits []edit, whole bool) {
	var trace [][]int // trace[d][k+d] is how far in a the path with d edits reaches on the diagonal k
	limit := min(len(a)+len(b), maxEdits)
	for d := 0; d <= limit; d++ {
		row := make([]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && trace[d-1][k-1+d-1] < trace[d-1][k+1+d-1]:
				x = trace[d-1][k+1+d-1]
			default:
				x = trace[d-1][k-1+d-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			row[k+d] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(a, b, append(trace, row), skipped), true
			}
		}
		trace = append(trace, row)
	}
	for i, line := range a {
		edits = append(edits, edit{'-', skipped + i + 1, 0, line})
	}
	for i, line := range b {
		edits = append(edits, edit{'+', 0, skipped + i + 1, line})
	}
	return edits, false
}

// walkBack returns the edits of a path that reached the end of both texts.
func walkBack(a, b []string, trace [][]int, skipped int) (edits []edit) {
	x, y := len(a), len(b)
	for d := len(trace) - 1; x > 0 || y > 0; d-- {
		k := x - y
		before, down := 0, false
		if d > 0 {
			row := trace[d-1]
			down = k == -d || k != d && row[k-1+d-1] < row[k+1+d-1]
			if down {
				before = row[k+1+d-1]
			} else {
				before = row[k-1+d-1] + 1
			}
		}
		for x > before && x > 0 && y > 0 {
			x, y = x-1, y-1
			edits = append(edits, edit{' ', skipped + x + 1, skipped + y + 1, a[x]})
		}
		switch {
		case d == 0:
		case down:
			y--
			edits = append(edits, edit{'+', 0, skipped + y + 1, b[y]})
		default:
			x--
			edits = append(edits, edit{'-', skipped + x + 1, 0, a[x]})
		}
	}
	slices.Reverse(edits)
	return edits
}
