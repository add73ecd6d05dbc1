package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// wordPara is a paragraph being read.
type wordPara struct {
	text         strings.Builder
	style        string
	direct       wordStyle // direct formatting
	hasText      bool      // some text was added
	breaksBefore int       // page breaks before the text
	breaksAfter  int       // page breaks in or after the text
	// boxes holds the blocks of text boxes anchored in the paragraph.
	boxes []block
}

func (d *docx) paragraph(s *xmlScanner, emit func(block)) error {
	p := &wordPara{direct: wordStyle{outline: -1, num: numRef{-1, -1}}}
	if err := d.inline(s, p); err != nil {
		return err
	}
	for i := range d.fields {
		d.fields[i] = false // an unclosed field must not swallow the rest of the document
	}
	emit(d.classify(p))
	for _, b := range p.boxes {
		emit(b)
	}
	return nil
}

// classify determines the kind of a paragraph from its style and its direct formatting.
func (d *docx) classify(p *wordPara) block {
	style := d.styles.resolve(p.style)
	b := block{text: p.text.String(), kind: style.kind, breaksBefore: p.breaksBefore, breaksAfter: p.breaksAfter}
	if p.direct.outline >= 0 {
		style.outline = p.direct.outline
	}
	b.heading = max(style.outline, 0)
	if p.direct.num.num >= 0 {
		style.num.num = p.direct.num.num
	}
	if p.direct.num.level >= 0 {
		style.num.level = p.direct.num.level
	}
	if level, label, ok := d.nums.label(style.num, p.style, d.styles); ok {
		b.level, b.marker = max(level, style.depth), label
		b.item = label != "" && b.heading == 0
		if !b.item && (label == "-" || label == continuesItem) {
			b.marker = ""
		}
	}
	return b
}

// properties reads the direct formatting of a paragraph.
func (d *docx) properties(s *xmlScanner, p *wordPara) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch tag {
		case "w:pStyle":
			p.style = attr(e, "val")
			if d.styles.resolve(p.style).pageBefore {
				p.direct.pageBefore = true
			}
		case "w:rPr":
			return nil // applies to the paragraph mark
		}
		err := p.direct.set(s, tag, e)
		if tag == "w:pageBreakBefore" && !isOn(e) {
			p.direct.pageBefore = false
		}
		return err
	}, nil)
}

// inline reads the text runs inside the open element, at any depth of wrapping.
func (d *docx) inline(s *xmlScanner, p *wordPara) error {
	hidden := false
	return s.children(func(tag string, e xml.StartElement) error {
		switch {
		case tag == "w:pPr":
			if err := d.properties(s, p); err != nil {
				return err
			}
			if p.direct.pageBefore {
				d.pageBreak(p)
			}
			return nil
		case tag == "w:rPr":
			return s.children(func(tag string, e xml.StartElement) error {
				hidden = hidden || tag == "w:vanish" && isOn(e) || tag == "w:rStyle" && d.styles[attr(e, "val")].hidden
				return nil
			}, nil)
		case hidden || isSkipped(tag) || d.md.full():
			return nil
		case tag == "mc:AlternateContent":
			return firstAlternative(s, func() error { return d.inline(s, p) })
		case tag == "w:txbxContent":
			return d.textBox(s, p)
		case tag == "w:t" || tag == "m:t":
			return d.runText(s, p, e)
		case tag == "w:sdt":
			return d.contentControl(s, func() error { return d.inline(s, p) })
		case tag == "dgm:relIds" || tag == "c:chart":
			blocks, err := d.parts.graphic(s.ctx, d.rels, tag, e)
			p.boxes = append(p.boxes, blocks...)
			return err
		case tag == "m:d" || tag == "m:nary":
			return d.math(s, p, tag)
		}
		d.special(p, tag, e)
		return d.inline(s, p)
	}, nil)
}

// math reads brackets, or a sum with its operator. Both characters are stored as properties.
func (d *docx) math(s *xmlScanner, p *wordPara, tag string) error {
	before, after := "(", ")"
	if tag == "m:nary" {
		before, after = "∫", ""
	}
	return s.children(func(part string, _ xml.StartElement) error {
		if part == tag+"Pr" {
			return eachDescendant(s, func(tag string, e xml.StartElement) {
				switch tag {
				case "m:begChr", "m:chr":
					before = attr(e, "val")
				case "m:endChr":
					after = attr(e, "val")
				}
			})
		}
		d.add(p, before)
		before = ""
		d.special(p, part, xml.StartElement{})
		err := d.inline(s, p)
		if tag == "m:d" {
			d.add(p, after)
			before, after = "", ""
		}
		return err
	}, nil)
}

// textBox reads a text box. Its blocks follow the paragraph that it is anchored in.
func (d *docx) textBox(s *xmlScanner, p *wordPara) error {
	fields := d.fields
	d.fields = nil
	err := d.blocks(s, func(b block) {
		b.breaksBefore, b.breaksAfter = 0, 0
		p.boxes = append(p.boxes, b)
	})
	d.fields = fields
	return err
}

// runText adds the text of a run. White space at the ends counts if the file preserves it, or if it
// is not just line layout.
func (d *docx) runText(s *xmlScanner, p *wordPara, e xml.StartElement) error {
	text, err := s.text()
	if err != nil || d.inInstruction() {
		return err
	}
	if attr(e, "space") != "preserve" && strings.Contains(text, "\n") {
		text = strings.Join(strings.Fields(text), " ")
	}
	d.add(p, text)
	return nil
}

func (d *docx) add(p *wordPara, text string) {
	if strings.TrimSpace(text) != "" {
		d.explicitBreak, p.hasText = false, true
	}
	p.text.WriteString(text)
}

// inInstruction reports whether the text belongs to a field instruction, which is not displayed.
func (d *docx) inInstruction() bool {
	for _, instruction := range d.fields {
		if instruction {
			return true
		}
	}
	return false
}

// maxFields bounds the open fields.
const maxFields = 64

// special handles an element that stands for a character or a break.
func (d *docx) special(p *wordPara, tag string, e xml.StartElement) {
	switch tag {
	case "w:tab", "w:ptab":
		d.add(p, "\t")
	case "w:br", "w:cr":
		if attr(e, "type") == "page" {
			d.pageBreak(p)
			d.explicitBreak = true
		} else {
			d.add(p, "\n")
		}
	case "w:lastRenderedPageBreak":
		if !d.explicitBreak {
			d.pageBreak(p)
		}
		d.explicitBreak = false
	case "w:noBreakHyphen":
		d.add(p, "-")
	case "w:sym":
		d.add(p, symbol(attr(e, "font"), attr(e, "char")))
	case "w:fldChar":
		d.field(attr(e, "fldCharType"))
	case "w:footnoteReference", "w:endnoteReference":
		d.add(p, d.noteMark(strings.TrimSuffix(strings.TrimPrefix(tag, "w:"), "Reference"), attr(e, "id")))
	case "wp:docPr":
		if alt := imageText(attr(e, "descr")); alt != "" {
			d.add(p, " "+alt+" ")
		}
	case "m:den", "m:sup", "m:sub", "m:rad":
		d.add(p, map[string]string{"m:den": "/", "m:sup": "^", "m:sub": "_", "m:rad": "√"}[tag])
	case "w:p":
		d.add(p, "\n")
	}
}

func (d *docx) field(kind string) {
	n := len(d.fields)
	switch {
	case kind == "begin" && n < maxFields:
		d.fields = append(d.fields, true)
	case kind == "separate" && n > 0:
		d.fields[n-1] = false
	case kind == "end" && n > 0:
		d.fields = d.fields[:n-1]
	}
}

// pageBreak counts a page break. A break inside a paragraph moves to its end, because a paragraph
// belongs to the page that it starts on.
func (d *docx) pageBreak(p *wordPara) {
	if p.hasText {
		p.breaksAfter++
	} else {
		p.breaksBefore++
	}
}

// imageText returns the description of a picture as text, unless it was generated automatically.
func imageText(descr string) string {
	descr = oneLine(descr)
	if descr == "" || len(descr) > 2000 || strings.Contains(strings.ToLower(descr), "automatically generated") {
		return ""
	}
	return "[image: " + descr + "]"
}

// symbol maps a character of a symbol font to Unicode, or returns "".
func symbol(font, char string) string {
	n, err := strconv.ParseUint(char, 16, 32)
	if err != nil {
		return ""
	}
	if n &= 0xFFF; n >= 0xF00 {
		n -= 0xF00
	}
	switch strings.ToLower(font) {
	case "wingdings":
		return map[uint64]string{
			0xFC: "✓", 0xFB: "✗", 0xA8: "☐", 0xFE: "☑", 0xFD: "☒", 0xE0: "→", 0xDF: "←", 0xF0: "⇨",
		}[n]
	case "symbol":
		return map[uint64]string{
			0x61: "α", 0x62: "β", 0x67: "γ", 0x64: "δ", 0x65: "ε", 0x6C: "λ", 0x6D: "μ", 0x70: "π", 0x73: "σ",
			0x77: "ω", 0x44: "Δ", 0x53: "Σ", 0x57: "Ω", 0xA3: "≤", 0xB3: "≥", 0xB1: "±", 0xB4: "×", 0xB9: "≠",
			0xAE: "→", 0xAC: "←", 0xB0: "°",
		}[n]
	}
	return ""
}
