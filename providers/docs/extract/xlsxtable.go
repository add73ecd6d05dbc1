package extract

import (
	"slices"
	"strings"
)

// tableSample is how many rows are looked at to find a table's columns.
const tableSample = 64

// maxSample is how many bytes are held back at most, but for one row.
const maxSample = 1 << 20

// sheetTable turns the rows of a sheet into tables and lines of text as they come.
// A row of one cell before a table is a line above it. The head of a table is its
// first row with two texts or more and no numbers before it. Empty rows end a table
// if what follows looks like another.
type sheetTable struct {
	md    *markdown
	begin func() // writes the sheet's heading, before the first row
	// sample are the rows held back until the columns are known; open is set
	// while a table is.
	sample [][]sheetCell
	held   int // bytes of it
	open   bool
	place  map[int]int // column to position in the table
	width  int
	blanks int
}

// blank notes empty rows.
func (t *sheetTable) blank(n int) { t.blanks += n }

// add takes a row; cells are copied.
func (t *sheetTable) add(row []sheetCell) {
	if t.begin != nil {
		t.begin()
		t.begin = nil
	}
	if t.blanks > 0 && t.another(row) {
		t.flush()
	}
	t.blanks = 0
	if t.open {
		t.write(row)
		return
	}
	t.sample = append(t.sample, slices.Clone(row))
	for _, c := range row {
		t.held += len(c.text)
	}
	if len(t.sample) >= tableSample || t.held > maxSample {
		t.start()
	}
}

// another reports whether a row after empty ones begins another table: it is a
// title, or a head over other columns.
func (t *sheetTable) another(row []sheetCell) bool {
	if len(row) == 1 || !t.open && len(t.sample) == 1 {
		return true
	}
	first := row
	if len(t.sample) > 0 {
		first = t.sample[0]
	}
	return isHead(row) && (t.blanks > 1 || !t.open && !sameColumns(first, row) || t.open && len(row) != t.width)
}

func sameColumns(a, b []sheetCell) bool {
	return slices.EqualFunc(a, b, func(x, y sheetCell) bool { return x.column == y.column })
}

// isHead reports whether a row can be the head of a table.
func isHead(row []sheetCell) bool {
	return len(row) >= 2 && !slices.ContainsFunc(row, func(c sheetCell) bool { return !c.words })
}

// flush ends the table.
func (t *sheetTable) flush() {
	if !t.open {
		t.start()
	}
	t.open, t.sample = false, nil
}

// start writes the rows held back, now that the columns are known.
func (t *sheetTable) start() {
	rows := t.sample
	t.sample, t.held = nil, 0
	for len(rows) > 0 && len(rows[0]) == 1 {
		t.md.paragraph(rows[0][0].text)
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return
	}
	t.columns(rows)
	if isHead(rows[0]) || texts(rows[0]) >= 2 && !isHead(rows[min(1, len(rows)-1)]) {
		t.md.tableHead(t.cells(rows[0]), t.width)
		rows = rows[1:]
	} else {
		t.md.tableHead(nil, t.width)
	}
	t.open = true
	for _, row := range rows {
		t.write(row)
	}
}

func texts(row []sheetCell) (n int) {
	for _, c := range row {
		if c.words {
			n++
		}
	}
	return n
}

// columns gives a place to each column that has content in the sample.
func (t *sheetTable) columns(rows [][]sheetCell) {
	var used []int
	for _, row := range rows {
		for _, c := range row {
			used = append(used, c.column)
		}
	}
	slices.Sort(used)
	used = slices.Compact(used)
	used = used[:min(len(used), maxSheetWidth)]
	t.place, t.width = make(map[int]int, len(used)), len(used)
	for i, c := range used {
		t.place[c] = i
	}
}

// cells puts a row's cells into their places. Columns that the sample did not
// have come last.
func (t *sheetTable) cells(row []sheetCell) []string {
	out := make([]string, t.width)
	used := 0
	var beyond []string
	for _, c := range row {
		at, ok := t.place[c.column]
		if !ok {
			beyond = append(beyond, c.text)
			continue
		}
		out[at] = strings.TrimSpace(out[at] + " " + c.text)
		used = max(used, at+1)
	}
	if len(beyond) > 0 {
		return append(out, beyond...)
	}
	return out[:used]
}

func (t *sheetTable) write(row []sheetCell) { t.md.tableRow(t.cells(row)) }
