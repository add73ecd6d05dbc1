package docs

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// sampleRecords is the number of records examined to detect the delimiter.
const sampleRecords = 25

// delimiters lists the possible field delimiters. The first wins a tie.
const delimiters = ",\t;|"

// parseCSV parses records of delimited fields. A record stays whole if it fits into a chunk. All
// records but the header have the column names as heading.
func parseCSV(in input) structure {
	records, delim := splitRecords(in.text)
	s := structure{blocks: []chunk.Block{{End: len(in.text)}}}
	if len(records) == 0 {
		return s
	}
	var columns []string
	if len(records) > 1 {
		first := fields(in.text[records[0]:records[1]], delim)
		if isHeader(first, fields(in.text[records[1]:recordEnd(in.text, records, 1)], delim)) {
			columns = first
		}
	}
	b := s.blocks[0]
	if h := columnHeading(columns); h != "" {
		b.Heading = []string{h}
	}
	s.blocks = recordBlocks(in, b, records[1:])
	s.description = describeRecords(len(records), columns)
	return s
}

// describeRecords summarizes a file of records.
func describeRecords(n int, columns []string) string {
	if len(columns) == 0 {
		return fmt.Sprintf("%d records.", n)
	}
	return sentence.Clip(fmt.Sprintf("%d records with %s.", n-1, strings.Join(columns, ", ")), maxAbstractRunes/2)
}

func recordEnd(text string, records []int, i int) int {
	if i+1 < len(records) {
		return records[i+1]
	}
	return len(text)
}

// splitRecords returns the offsets of the records and the field delimiter. A line end between
// quotation marks does not end a record, unless the quotation marks never close.
func splitRecords(text string) (records []int, delim byte) {
	first, _ := recordStarts(text[:min(len(text), 64<<10)], 0, sampleRecords)
	delim = delimiterOf(text, first)
	records, closed := recordStarts(text, delim, -1)
	if !closed {
		records = lineStarts(text, func(line string) bool { return strings.TrimSpace(line) != "" })
	}
	return records, delim
}

// recordStarts returns the offsets of the first n records (all if n is negative), and whether all
// quotation marks close. A quotation mark opens only at the beginning of a field. delim 0 matches
// any delimiter. Blank lines are skipped.
func recordStarts(text string, delim byte, n int) (starts []int, closed bool) {
	isDelim := func(c byte) bool {
		return c == delim || delim == 0 && strings.IndexByte(delimiters, c) >= 0
	}
	quoted, field, record := false, true, true
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted:
			if c == '"' {
				if i+1 < len(text) && text[i+1] == '"' {
					i++
				} else {
					quoted = false
				}
			}
			continue
		case c == '\n':
			field, record = true, true
			continue
		case c == '\r' && record:
			continue
		}
		if record {
			if starts = append(starts, i); len(starts) == n {
				return starts, true
			}
			record = false
		}
		quoted = c == '"' && field
		field = isDelim(c) || field && c == ' '
	}
	return starts, !quoted
}

// delimiterOf returns the delimiter with which the records have the most consistent and largest
// number of fields; a comma by default.
func delimiterOf(text string, records []int) byte {
	best, score := byte(','), 0
	for i := range len(delimiters) {
		d := delimiters[i]
		counts := make(map[int]int)
		for r := range records {
			counts[len(fields(text[records[r]:recordEnd(text[:min(len(text), 64<<10)], records, r)], d))]++
		}
		for n, c := range counts {
			if s := c * c * min(n-1, 20); s > score {
				best, score = d, s
			}
		}
	}
	return best
}

// fields returns the fields of a record, without surrounding white space and quotation marks.
func fields(record string, delim byte) []string {
	var out []string
	quoted := false
	from := 0
	add := func(to int) {
		f := strings.TrimSpace(record[from:to])
		if len(f) > 1 && f[0] == '"' && f[len(f)-1] == '"' {
			f = strings.ReplaceAll(f[1:len(f)-1], `""`, `"`)
		}
		out = append(out, f)
		from = to + 1
	}
	for i := range len(record) {
		switch c := record[i]; {
		case c == '"':
			quoted = !quoted
		case c == delim && !quoted:
			add(i)
		}
	}
	add(len(record))
	return out
}

// isHeader reports whether the first record names the columns: short, distinct names with letters
// that do not look like values, as many as the second record has fields.
func isHeader(first, second []string) bool {
	if len(first) != len(second) || len(first) == 1 && (strings.ContainsRune(first[0], ' ') || strings.EqualFold(first[0], second[0])) {
		return false
	}
	seen := make(map[string]bool, len(first))
	for _, f := range first {
		if f == "" {
			continue
		}
		if longerThan(f, 64) || seen[f] || !sentence.HasLetter(f) || isValue(f) {
			return false
		}
		seen[f] = true
	}
	return len(seen)*2 > len(first)
}

// isValue reports whether a field looks like a number, a date, an address or a boolean.
func isValue(f string) bool {
	if _, err := strconv.ParseFloat(f, 64); err == nil {
		return true
	}
	digits := strings.IndexFunc(f, unicode.IsDigit) == 0 && strings.ContainsAny(f, "-:/.")
	return digits || strings.Contains(f, "://") || strings.Contains(f, "@") || strings.EqualFold(f, "true") || strings.EqualFold(f, "false")
}
