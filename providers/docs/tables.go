package docs

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// isTable reports whether a paragraph is a table: its second line has dashes between bars.
func isTable(paragraph string) bool {
	_, rest, _ := strings.Cut(paragraph, "\n")
	row, _, _ := strings.Cut(rest, "\n")
	row = strings.TrimSpace(row)
	return strings.Contains(row, "-") && strings.Contains(row, "|") && strings.Trim(row, "|-: \t") == ""
}

// tableTag reports whether an HTML block opens a table or has table rows.
func tableTag(block []byte) bool {
	for _, tag := range [...]string{"<table", "<TABLE", "<tr", "<TR"} {
		if bytes.Contains(block, []byte(tag)) {
			return true
		}
	}
	return false
}

// joinTables joins the units of an HTML table that contains blank lines.
func joinTables(in input, units []unit) []unit {
	out := units[:0]
	open := -1    // index of the table in out
	var since int // index of the table in units
	for i, u := range units {
		out = append(out, u)
		text := in.text[u.start:unitEnd(in, units, i)]
		switch {
		case u.kind == unitHeading:
			open = -1
		case open < 0 && u.kind == unitTable && strings.Contains(text, "<table") && !strings.Contains(text, "</table"):
			open, since = len(out)-1, i
		case open >= 0 && i > since && strings.Contains(text, "</table"):
			out = out[:open+1]
			open = -1
		}
	}
	return out
}

// markdownRows is the [rowsFunc] of Markdown tables.
func markdownRows(table string) ([]string, []int) {
	if !isTable(table) {
		return htmlRows(table)
	}
	head, _, _ := strings.Cut(table, "\n")
	rows := lineStarts(table, func(string) bool { return true })
	return barCells(head), rows[min(2, len(rows)):]
}

// barCells returns the cells of a row such as "| a | b |".
func barCells(row string) []string {
	row = strings.Trim(strings.TrimSpace(row), "|")
	cells := strings.SplitN(row, "|", maxColumns)
	for i, c := range cells {
		cells[i] = sentence.Plain(c)
	}
	return cells
}

// lineStarts returns the offsets of the lines for which wanted returns true.
func lineStarts(text string, wanted func(line string) bool) []int {
	var starts []int
	at := 0
	for line := range strings.Lines(text) {
		if wanted(line) {
			starts = append(starts, at)
		}
		at += len(line)
	}
	return starts
}

// headCell matches the cells of an HTML header row.
var headCell = regexp.MustCompile(`(?is)<th[^>]{0,200}>(.{0,300}?)</th>`)

// maxHead is the limit in bytes for finding the header row of an HTML table.
const maxHead = 8 << 10

// htmlRows is the [rowsFunc] of HTML tables with rows on separate lines.
func htmlRows(table string) (columns []string, rows []int) {
	rows = lineStarts(table, func(line string) bool {
		line = strings.TrimSpace(line)
		return len(line) > 3 && strings.EqualFold(line[:3], "<tr") && (line[3] == '>' || line[3] == ' ')
	})
	if len(rows) == 0 {
		return nil, nil
	}
	head := table[:min(len(table), maxHead)]
	if len(rows) > 1 {
		head = table[:min(rows[1], maxHead)]
	}
	for _, m := range headCell.FindAllStringSubmatch(head, maxColumns) {
		columns = append(columns, sentence.Plain(m[1]))
	}
	return columns, rows
}
