package extract

import (
	"context"
	"encoding/xml"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxHeading is the maximum length of a heading in characters. Some documents give whole paragraphs
// a heading style.
const maxHeading = 250

// docx reads a Word document. It leaves out tracked deletions, comments, hidden text, headers and
// footers.
type docx struct {
	parts  *parts
	rels   relations
	styles wordStyles
	nums   numbering
	md     *markdown
	// notes lists the referenced foot- and endnotes in order.
	notes   []noteRef
	noteNum map[noteRef]int
	// fields is the stack of open fields; an element is true while the text is the field's
	// instruction.
	fields []bool
	// hasTitle is set after a title was written; later headings move down one level.
	hasTitle bool
	title    string
	// explicitBreak is set after a manual page break until there is text. The rendered page break
	// that follows then marks the same break.
	explicitBreak bool
	code          []string
}

// noteRef identifies a foot- or endnote by its kind, "footnote" or "endnote", and id.
type noteRef struct{ kind, id string }

func readDOCX(ctx context.Context, p *parts, main string, o Options) (Text, error) {
	d := &docx{parts: p, md: &markdown{limit: o.MaxText}, noteNum: make(map[noteRef]int)}
	props, err := p.core(ctx)
	if err != nil {
		return Text{}, err
	}
	if d.rels, err = p.relations(ctx, main); err != nil {
		return Text{}, err
	}
	if err := d.readStyles(ctx, d.rels.first("styles", "word/styles.xml")); err != nil {
		return Text{}, err
	}
	if err := d.readNumbering(ctx, d.rels.first("numbering", "word/numbering.xml")); err != nil {
		return Text{}, err
	}
	if err := d.body(ctx, main); err != nil {
		return Text{}, err
	}
	if err := d.writeNotes(ctx); err != nil {
		return Text{}, err
	}
	if d.md.full() {
		return Text{}, refuse("holds more than %d bytes of text; split the file", o.MaxText)
	}
	if props.userTitle() == "" {
		props.title = d.title
	}
	text := d.md.String()
	return convertedText(mimeDOCX, text, props, countPages(text)), nil
}

func (d *docx) body(ctx context.Context, main string) error {
	s, err := d.parts.openXML(ctx, main)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := d.blocks(s, d.write); err != nil {
		return err
	}
	d.flushCode()
	return nil
}

// isSkipped reports whether the content of an element is not document text.
func isSkipped(tag string) bool {
	switch tag {
	case "w:del", "w:moveFrom", "w:delText", "w:instrText", "w:delInstrText", "w:rPr", "w:tblPr", "w:trPr",
		"w:tcPr", "w:sectPr",
		"w:sdtPr", "w:tblGrid", "w:rt", "w:docParts", "m:rPr", "m:ctrlPr":
		return true
	}
	return false
}

// blocks visits the paragraphs and tables inside the open element, at any depth of wrapping.
func (d *docx) blocks(s *xmlScanner, emit func(block)) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch {
		case tag == "w:p":
			return d.paragraph(s, emit)
		case tag == "w:tbl":
			return d.table(s, emit)
		case tag == "w:sdt":
			return d.contentControl(s, func() error { return d.blocks(s, emit) })
		case tag == "mc:AlternateContent":
			return firstAlternative(s, func() error { return d.blocks(s, emit) })
		case isSkipped(tag) || d.md.full():
			return nil
		}
		return d.blocks(s, emit)
	}, nil)
}

// contentControl visits the content of a content control, except a table of contents.
func (d *docx) contentControl(s *xmlScanner, content func() error) error {
	contents := false
	return s.children(func(tag string, _ xml.StartElement) error {
		switch {
		case tag == "w:sdtPr":
			return eachDescendant(s, func(tag string, e xml.StartElement) {
				contents = contents || tag == "w:docPartGallery" && attr(e, "val") == "Table of Contents"
			})
		case contents:
			return nil
		}
		return content()
	}, nil)
}

// eachDescendant visits all elements inside the open element.
func eachDescendant(s *xmlScanner, visit func(tag string, e xml.StartElement)) error {
	return s.children(func(tag string, e xml.StartElement) error {
		visit(tag, e)
		return eachDescendant(s, visit)
	}, nil)
}

// firstAlternative visits the first of several representations of the same content.
func firstAlternative(s *xmlScanner, content func() error) error {
	taken := false
	return s.children(func(tag string, _ xml.StartElement) error {
		if taken || tag != "mc:Choice" && tag != "mc:Fallback" {
			return nil
		}
		taken = true
		return content()
	}, nil)
}

// write writes a block of the body.
func (d *docx) write(b block) {
	if b.kind == tocPara {
		b = block{breaksBefore: b.breaksBefore, breaksAfter: b.breaksAfter}
	}
	if b.kind == codePara && b.breaksBefore == 0 {
		d.code = append(d.code, b.text)
		if b.breaksAfter == 0 {
			return
		}
		b.text = ""
	}
	d.flushCode()
	d.pageBreaks(b.breaksBefore)
	switch {
	case b.rows != nil:
		d.writeTable(b)
	case strings.TrimSpace(b.text) == "":
	case b.kind == titlePara && !d.hasTitle:
		d.hasTitle, d.title = true, oneLine(b.text)
		d.md.heading(1, b.text)
	case b.kind == titlePara, b.heading > 0 && utf8.RuneCountInString(b.text) <= maxHeading:
		if d.hasTitle {
			b.heading++
		}
		d.md.heading(max(b.heading, 1), strings.TrimSpace(b.marker+" "+b.text))
	case b.item:
		d.md.item(b.level, b.marker, b.text)
	case b.kind == codePara:
		d.code = append(d.code, b.text)
	default:
		d.md.paragraph(strings.TrimSpace(b.marker + " " + b.text))
	}
	if b.breaksAfter > 0 {
		d.flushCode()
		d.pageBreaks(b.breaksAfter)
	}
}

func (d *docx) pageBreaks(n int) {
	for range n {
		d.md.page()
	}
}

func (d *docx) flushCode() {
	d.md.code(strings.Join(d.code, "\n"))
	d.code = d.code[:0]
}

// writeTable writes a table. After a page break inside the table, the header row is repeated.
func (d *docx) writeTable(b block) {
	from, head := 0, b.rows[0]
	for _, at := range b.rowBreaks {
		switch {
		case at == 0:
			d.md.page()
			continue
		case at >= len(b.rows):
			continue
		}
		d.md.table(b.rows[from:at])
		d.md.page()
		from = at - 1
		b.rows[from] = head
	}
	d.md.table(b.rows[from:])
}

// writeNotes writes the text of the referenced notes.
func (d *docx) writeNotes(ctx context.Context) error {
	texts := make(map[noteRef]string)
	for _, kind := range []string{"footnote", "endnote"} {
		name := d.rels.first(kind+"s", "word/"+kind+"s.xml")
		read := func(s *xmlScanner) error { return d.readNotes(s, kind, texts) }
		if err := d.parts.visitOptional(ctx, name, read); err != nil {
			return err
		}
	}
	for _, ref := range d.notes {
		d.md.note(strconv.Itoa(d.noteNum[ref]), texts[ref])
	}
	return nil
}

func (d *docx) readNotes(s *xmlScanner, kind string, texts map[noteRef]string) error {
	return s.children(func(string, xml.StartElement) error {
		return s.children(func(tag string, e xml.StartElement) error {
			ref := noteRef{kind, attr(e, "id")}
			if tag != "w:"+kind || d.noteNum[ref] == 0 {
				return nil
			}
			var b strings.Builder
			if err := d.blocks(s, func(w block) { appendFlat(&b, w) }); err != nil {
				return err
			}
			texts[ref] = b.String()
			return nil
		}, nil)
	}, nil)
}

// noteMark returns the reference mark of a note in the text.
func (d *docx) noteMark(kind, id string) string {
	ref := noteRef{kind, id}
	if d.noteNum[ref] == 0 {
		d.notes = append(d.notes, ref)
		d.noteNum[ref] = len(d.notes)
	}
	return "[^" + strconv.Itoa(d.noteNum[ref]) + "]"
}
