package extract

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// Limits of tables. A page can declare any span.
const (
	maxColumns  = 64
	maxRepeated = 80 // maximum bytes of a cell that is repeated in the rows it spans
)

// cell is one position of a table's grid.
type cell struct {
	n      *node
	text   string
	header bool
	down   int // further rows that it spans
}

// table renders a table. A layout table is rendered as its blocks.
func (r *renderer) table(n *node) {
	rows, captions := tableRows(n)
	for _, c := range captions {
		r.children(c)
		r.flush()
	}
	if isLayout(n, rows) {
		for _, row := range rows {
			r.layoutRow(row)
		}
		return
	}
	grid, columns := r.grid(rows)
	if len(grid) == 0 || columns == 0 {
		return
	}
	var b strings.Builder
	if !isHeader(grid[0]) {
		writeRow(&b, nil, columns)
		b.WriteString(separator(columns))
	}
	for i, row := range grid {
		writeRow(&b, row, columns)
		if i == 0 && isHeader(row) {
			b.WriteString(separator(columns))
		}
	}
	r.write(strings.TrimRight(b.String(), "\n"))
}

// layoutRow renders the cells of a layout row, on one line if they have no blocks.
func (r *renderer) layoutRow(row *node) {
	blocks := row.structured || slices.ContainsFunc(row.kids, func(c *node) bool { return c.hasBlocks })
	for _, c := range row.kids {
		r.children(c)
		if blocks {
			r.flush()
		} else {
			r.space()
		}
	}
	r.flush()
}

// tableRows returns the rows of a table without those of nested tables.
func tableRows(n *node) (rows, captions []*node) {
	for _, k := range n.kids {
		switch k.tag {
		case atom.Tr:
			rows = append(rows, k)
		case atom.Caption:
			captions = append(captions, k)
		case atom.Thead, atom.Tbody, atom.Tfoot, atom.Form, atom.Center:
			inner, c := tableRows(k)
			rows, captions = append(rows, inner...), append(captions, c...)
		default:
			if k.chars > 0 { // outside of rows; displayed before the table
				captions = append(captions, &node{isElement: true, kids: []*node{k}})
			}
		}
	}
	return rows, captions
}

// isLayout reports whether a table is used for layout, not for data.
func isLayout(n *node, rows []*node) bool {
	if role := n.attr("role"); role == "presentation" || role == "none" {
		return true
	}
	columns := 0
	for _, row := range rows {
		cells := 0
		for _, c := range row.kids {
			if c.structured {
				return true
			}
			if c.tag == atom.Td || c.tag == atom.Th {
				cells++
			}
		}
		columns = max(columns, cells)
	}
	return columns <= 1 || len(rows) == 1
}

// grid arranges and renders the cells with their spans.
func (r *renderer) grid(rows []*node) (grid [][]cell, columns int) {
	var above []cell
	for _, row := range rows {
		var line []cell
		for _, c := range row.kids {
			if c.tag != atom.Td && c.tag != atom.Th {
				continue
			}
			line = spanned(line, above)
			if len(line) >= maxColumns {
				break
			}
			line = append(line, cell{n: c, text: r.cellText(c), header: c.tag == atom.Th, down: span(c, "rowspan")})
			for range min(span(c, "colspan"), maxColumns-len(line)) {
				line = append(line, cell{header: c.tag == atom.Th, down: span(c, "rowspan")})
			}
		}
		line = spanned(line, above)
		above = line
		columns = max(columns, len(line))
		if hasText(line) {
			grid = append(grid, line)
		}
	}
	return grid, columns
}

// spanned appends the cells that span down from the row above.
func spanned(line, above []cell) []cell {
	for i := len(line); i < len(above) && above[i].down > 0; i++ {
		c := above[i]
		c.down--
		if len(c.text) > maxRepeated {
			c.text = ""
		}
		line = append(line, c)
	}
	return line
}

// span returns the number of further rows or columns that a cell covers.
func span(n *node, key string) int {
	k, err := strconv.Atoi(strings.TrimSpace(n.attr(key)))
	if err != nil {
		return 0
	}
	return min(max(k-1, 0), 1000)
}

func (r *renderer) cellText(n *node) string {
	return strings.ReplaceAll(r.flatText(n), "|", `\|`)
}

func hasText(line []cell) bool {
	for _, c := range line {
		if c.text != "" {
			return true
		}
	}
	return false
}

func isHeader(line []cell) bool {
	for _, c := range line {
		if !c.header && c.text != "" {
			return false
		}
	}
	return true
}

func writeRow(b *strings.Builder, row []cell, columns int) {
	for i := range columns {
		b.WriteString("| ")
		if i < len(row) && row[i].text != "" {
			b.WriteString(row[i].text)
			b.WriteByte(' ')
		}
	}
	b.WriteString("|\n")
}

func separator(columns int) string { return "|" + strings.Repeat("---|", columns) + "\n" }
