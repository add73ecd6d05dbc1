package extract

import (
	"context"
	"encoding/xml"
	"strconv"
	"strings"
)

// bullet is the bullet kind of a paragraph in a shape.
type bullet uint8

const (
	inheritedBullet bullet = iota
	noBullet
	charBullet
	numberBullet
)

// drawingPara is a paragraph of a shape, a cell or a diagram.
type drawingPara struct {
	text   string
	level  int
	bullet bullet
	scheme string // numbering scheme for autoNumber
	start  int
}

// drawingText reads the paragraphs inside the open element.
func drawingText(s *xmlScanner, add func(drawingPara)) error {
	return s.children(func(tag string, _ xml.StartElement) error {
		switch tag {
		case "a:p":
			return readDrawingPara(s, add)
		case "mc:AlternateContent":
			return firstAlternative(s, func() error { return drawingText(s, add) })
		}
		return drawingText(s, add)
	}, nil)
}

func readDrawingPara(s *xmlScanner, add func(drawingPara)) error {
	p := drawingPara{start: 1}
	var b strings.Builder
	if err := p.runs(s, &b); err != nil {
		return err
	}
	if p.text = cleanText(b.String()); p.text != "" {
		add(p)
	}
	return nil
}

// runs reads the text of a paragraph, at any depth of wrapping.
func (p *drawingPara) runs(s *xmlScanner, b *strings.Builder) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch tag {
		case "a:pPr":
			p.level = intAttr(e, "lvl", 0, 0, 8)
			return s.children(func(tag string, e xml.StartElement) error { p.setBullet(tag, e); return nil }, nil)
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
			return firstAlternative(s, func() error { return p.runs(s, b) })
		}
		return p.runs(s, b)
	}, nil)
}

// setBullet applies a bullet property of a paragraph.
func (p *drawingPara) setBullet(tag string, e xml.StartElement) {
	switch tag {
	case "a:buNone":
		p.bullet = noBullet
	case "a:buChar", "a:buBlip":
		p.bullet = charBullet
	case "a:buAutoNum":
		p.bullet, p.scheme = numberBullet, attr(e, "type")
		p.start = intAttr(e, "startAt", 1, 1, 32767)
	}
}

// marker formats the number of an item in a scheme such as "alphaLcParenR".
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

// drawingBlocks converts paragraphs to blocks. Bulleted is the default for paragraphs without a
// bullet property of their own.
func drawingBlocks(paras []drawingPara, bulleted bool) []block {
	blocks := make([]block, 0, len(paras))
	var counts [listLevels]int
	for _, p := range paras {
		b := block{text: p.text, level: p.level}
		clear(counts[p.level+1:])
		switch {
		case p.bullet == numberBullet:
			if counts[p.level] == 0 {
				counts[p.level] = p.start - 1
			}
			counts[p.level]++
			b.item, b.marker = true, marker(p.scheme, counts[p.level])
		case p.bullet == charBullet, p.bullet == inheritedBullet && (p.level > 0 || bulleted && len(paras) > 1):
			b.item, b.marker, counts[p.level] = true, "-", 0
		default:
			counts[p.level] = 0
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// drawingTable reads the open table element.
func drawingTable(s *xmlScanner) (block, error) {
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
			err := drawingText(s, func(p drawingPara) { paras = append(paras, p.text) })
			text := strings.Join(paras, " ")
			if above := len(b.rows) - 1; attr(e, "vMerge") == "1" && above >= 0 && len(row) < len(b.rows[above]) &&
				len(b.rows[above][len(row)]) <= maxMergedText {
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

// graphic reads the diagram or chart that a drawing element refers to.
func (p *parts) graphic(
	ctx context.Context, rels relations, tag string, e xml.StartElement,
) (blocks []block, err error) {
	switch tag {
	case "dgm:relIds":
		err = p.visitOptional(ctx, rels[relAttr(e, "dm")].target, func(s *xmlScanner) error {
			return drawingText(s, func(p drawingPara) {
				blocks = append(blocks, block{text: p.text, item: true, marker: "-"})
			})
		})
	case "c:chart":
		err = p.visitOptional(ctx, rels[relAttr(e, "id")].target, func(s *xmlScanner) error {
			c := &chart{}
			err := c.read(s)
			blocks = c.blocks()
			return err
		})
	}
	return blocks, err
}

// maxPoints bounds the values of a chart series, and the number of series.
const maxPoints = 200

// chart is the data of a chart: series of values over common categories.
type chart struct {
	title      []string
	categories []string
	names      []string
	values     [][]string
}

// read visits the elements of a chart.
func (c *chart) read(s *xmlScanner) error {
	return s.children(func(tag string, _ xml.StartElement) error {
		switch {
		case tag == "c:title" && c.title == nil && c.names == nil:
			return drawingText(s, func(p drawingPara) { c.title = append(c.title, p.text) })
		case tag == "c:ser" && len(c.names) < maxPoints:
			return c.series(s)
		}
		return c.read(s)
	}, nil)
}

func (c *chart) series(s *xmlScanner) error {
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

// points appends the values inside the open element, each at its index.
func points(s *xmlScanner, into *[]string) error {
	return s.children(func(tag string, e xml.StartElement) error {
		if tag == "c:pt" {
			if at := intAttr(e, "idx", len(*into), 0, maxPoints); at < maxPoints {
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

// shortNumber removes floating-point noise: 0.30000000000000004 becomes 0.3.
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

// blocks returns the title and the table of a chart.
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
		row := []string{elementAt(c.categories, i)}
		for _, v := range c.values {
			row = append(row, elementAt(v, i))
		}
		rows = append(rows, row)
	}
	return append(out, block{rows: rows})
}

// elementAt returns list[i], or "" beyond the end.
func elementAt(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}
