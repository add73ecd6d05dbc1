package extract

import (
	"context"
	"encoding/xml"
	"strconv"
	"strings"
)

// bullet is how a paragraph of a shape is marked.
type bullet uint8

const (
	inherited bullet = iota
	noBullet
	signBullet
	autoNumber
)

// drawnPara is a paragraph of a shape, a cell or a diagram.
type drawnPara struct {
	text   string
	level  int
	bullet bullet
	scheme string // of an automatic number
	start  int
}

// drawnText reads the paragraphs inside of the element just opened.
func drawnText(s *scan, add func(drawnPara)) error {
	return s.children(func(tag string, _ xml.StartElement) error {
		switch tag {
		case "a:p":
			return drawnParagraph(s, add)
		case "mc:AlternateContent":
			return alternate(s, func() error { return drawnText(s, add) })
		}
		return drawnText(s, add)
	}, nil)
}

func drawnParagraph(s *scan, add func(drawnPara)) error {
	p := drawnPara{start: 1}
	var b strings.Builder
	if err := p.runs(s, &b); err != nil {
		return err
	}
	if p.text = cleanText(b.String()); p.text != "" {
		add(p)
	}
	return nil
}

// runs reads the text of a paragraph, whatever it is wrapped in.
func (p *drawnPara) runs(s *scan, b *strings.Builder) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch tag {
		case "a:pPr":
			p.level = number(e, "lvl", 0, 0, 8)
			return s.children(func(tag string, e xml.StartElement) error { p.mark(tag, e); return nil }, nil)
		case "a:t", "m:t":
			return s.appendText(b)
		case "a:br":
			b.WriteString("\n")
			return nil
		case "a:rPr", "a:endParaRPr":
			return nil
		case "a:fld":
			if t := attr(e, "type"); t == "slidenum" || strings.HasPrefix(t, "datetime") {
				return nil
			}
		case "mc:AlternateContent":
			return alternate(s, func() error { return p.runs(s, b) })
		}
		return p.runs(s, b)
	}, nil)
}

// mark takes how a paragraph says that it is marked.
func (p *drawnPara) mark(tag string, e xml.StartElement) {
	switch tag {
	case "a:buNone":
		p.bullet = noBullet
	case "a:buChar", "a:buBlip":
		p.bullet = signBullet
	case "a:buAutoNum":
		p.bullet, p.scheme = autoNumber, attr(e, "type")
		p.start = number(e, "startAt", 1, 1, 32767)
	}
}

// marker writes the number of an item in a scheme such as "alphaLcParenR".
func marker(scheme string, n int) string {
	format := "decimal"
	for prefix, f := range map[string]string{
		"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman",
	} {
		if strings.HasPrefix(scheme, prefix) {
			format = f
		}
	}
	text := ordinalText(n, format)
	switch {
	case strings.HasSuffix(scheme, "ParenBoth"):
		return "(" + text + ")"
	case strings.HasSuffix(scheme, "ParenR"):
		return text + ")"
	}
	return text + "."
}

// drawnItems makes blocks of paragraphs; bulleted says what those are that do not
// say it themselves.
func drawnItems(paras []drawnPara, bulleted bool) []block {
	blocks := make([]block, 0, len(paras))
	var counts [listLevels]int
	for _, p := range paras {
		b := block{text: p.text, level: p.level}
		clear(counts[p.level+1:])
		switch {
		case p.bullet == autoNumber:
			if counts[p.level] == 0 {
				counts[p.level] = p.start - 1
			}
			counts[p.level]++
			b.item, b.marker = true, marker(p.scheme, counts[p.level])
		case p.bullet == signBullet, p.bullet == inherited && (p.level > 0 || bulleted && len(paras) > 1):
			b.item, b.marker, counts[p.level] = true, "-", 0
		default:
			counts[p.level] = 0
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// drawnTable reads the table just opened.
func drawnTable(s *scan) (block, error) {
	var b block
	err := s.children(func(tag string, _ xml.StartElement) error {
		if tag != "a:tr" {
			return nil
		}
		var row []string
		err := s.children(func(tag string, e xml.StartElement) error {
			if tag != "a:tc" || len(row) >= maxRowCells {
				return nil
			}
			var paras []string
			err := drawnText(s, func(p drawnPara) { paras = append(paras, p.text) })
			text := strings.Join(paras, " ")
			if above := len(b.rows) - 1; attr(e, "vMerge") == "1" && above >= 0 && len(row) < len(b.rows[above]) && len(b.rows[above][len(row)]) <= maxRepeat {
				text = b.rows[above][len(row)]
			}
			row = append(row, text)
			return err
		}, nil)
		b.rows = append(b.rows, row)
		return err
	}, nil)
	return b, err
}

// drawn reads what an element of a drawing refers to: a diagram or a chart.
func (p *parts) drawn(ctx context.Context, rels relations, tag string, e xml.StartElement) (blocks []block, err error) {
	switch tag {
	case "dgm:relIds":
		err = p.each(ctx, rels[relAttr(e, "dm")].target, func(s *scan) error {
			return drawnText(s, func(p drawnPara) { blocks = append(blocks, block{text: p.text, item: true, marker: "-"}) })
		})
	case "c:chart":
		err = p.each(ctx, rels[relAttr(e, "id")].target, func(s *scan) error {
			c := &chart{}
			err := c.read(s)
			blocks = c.blocks()
			return err
		})
	}
	return blocks, err
}

// maxPoints bounds the values of a series of a chart, and the series.
const maxPoints = 200

// chart is what a chart shows: series of values over common categories.
type chart struct {
	title      []string
	categories []string
	names      []string
	values     [][]string
}

// read visits the elements of a chart.
func (c *chart) read(s *scan) error {
	return s.children(func(tag string, _ xml.StartElement) error {
		switch {
		case tag == "c:title" && c.title == nil && c.names == nil:
			return drawnText(s, func(p drawnPara) { c.title = append(c.title, p.text) })
		case tag == "c:ser" && len(c.names) < maxPoints:
			return c.series(s)
		}
		return c.read(s)
	}, nil)
}

func (c *chart) series(s *scan) error {
	var name, values []string
	err := s.children(func(tag string, _ xml.StartElement) error {
		switch tag {
		case "c:tx":
			return points(s, &name)
		case "c:cat", "c:xVal":
			c.categories = c.categories[:0]
			return points(s, &c.categories)
		case "c:val", "c:yVal":
			return points(s, &values)
		}
		return nil
	}, nil)
	if len(name) == 0 {
		name = []string{"Series " + strconv.Itoa(len(c.names)+1)}
	}
	c.names, c.values = append(c.names, strings.Join(name, " ")), append(c.values, values)
	return err
}

// points adds the values inside of the element just opened, each at its index.
func points(s *scan, into *[]string) error {
	return s.children(func(tag string, e xml.StartElement) error {
		if tag == "c:pt" {
			if at := number(e, "idx", len(*into), 0, maxPoints); at < maxPoints {
				for len(*into) < at {
					*into = append(*into, "")
				}
			}
		}
		if tag != "c:v" {
			return points(s, into)
		}
		text, err := s.text()
		if len(*into) < maxPoints {
			*into = append(*into, shortNumber(text))
		}
		return err
	}, nil)
}

// shortNumber drops the digits that only a computer sees: 0.30000000000000004.
func shortNumber(s string) string {
	if len(s) < 12 || strings.Trim(s, "0123456789.eE+-") != "" {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(f, 'g', 10, 64)
}

// blocks returns the chart's title and its table.
func (c *chart) blocks() []block {
	var out []block
	if len(c.title) > 0 {
		out = append(out, block{text: strings.Join(c.title, " ")})
	}
	if len(c.names) == 0 {
		return out
	}
	rows := [][]string{append([]string{""}, c.names...)}
	count := len(c.categories)
	for _, v := range c.values {
		count = max(count, len(v))
	}
	for i := range count {
		row := []string{at(c.categories, i)}
		for _, v := range c.values {
			row = append(row, at(v, i))
		}
		rows = append(rows, row)
	}
	return append(out, block{rows: rows})
}

// at returns an element, "" beyond the end.
func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}
