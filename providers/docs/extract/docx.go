package extract

import (
	"context"
	"encoding/xml"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxHeading is the longest text, in characters, that is taken for a heading:
// people give whole paragraphs the style of one.
const maxHeading = 250

// docx reads a document of Word's format. What was deleted while changes were
// tracked, comments, hidden text, headers and footers are left out.
type docx struct {
	parts  *parts
	rels   relations
	styles wordStyles
	nums   numbering
	md     *markdown
	// notes are the references to foot- and endnotes in their order.
	notes   []noteRef
	noteNum map[noteRef]int
	// fields are the open fields; true while the text is the field's instruction.
	fields []bool
	// titled is set once a title was written; headings then stand below it.
	titled bool
	title  string
	// fresh is set from a page break that somebody made until there is text: the
	// mark where the program broke the page then tells of the same break.
	fresh bool
	code  []string
}

// noteRef is a foot- or endnote by its kind, "footnote" or "endnote", and id.
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
	if props.named() == "" {
		props.title = d.title
	}
	text := d.md.String()
	return convertedText(mimeDOCX, text, props, pages(text)), nil
}

func (d *docx) body(ctx context.Context, main string) error {
	s, err := d.parts.scan(ctx, main)
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

// skipped reports whether what an element holds is no text of the document.
func skipped(tag string) bool {
	switch tag {
	case "w:del", "w:moveFrom", "w:delText", "w:instrText", "w:delInstrText", "w:rPr", "w:tblPr", "w:trPr", "w:tcPr", "w:sectPr",
		"w:sdtPr", "w:tblGrid", "w:rt", "w:docParts", "m:rPr", "m:ctrlPr":
		return true
	}
	return false
}

// blocks visits the paragraphs and tables inside of the element just opened,
// whatever they are wrapped in.
func (d *docx) blocks(s *scan, emit func(block)) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch {
		case tag == "w:p":
			return d.paragraph(s, emit)
		case tag == "w:tbl":
			return d.table(s, emit)
		case tag == "w:sdt":
			return d.control(s, func() error { return d.blocks(s, emit) })
		case tag == "mc:AlternateContent":
			return alternate(s, func() error { return d.blocks(s, emit) })
		case skipped(tag) || d.md.full():
			return nil
		}
		return d.blocks(s, emit)
	}, nil)
}

// control visits the content of a content control unless it is a table of contents.
func (d *docx) control(s *scan, content func() error) error {
	contents := false
	return s.children(func(tag string, _ xml.StartElement) error {
		switch {
		case tag == "w:sdtPr":
			return descend(s, func(tag string, e xml.StartElement) {
				contents = contents || tag == "w:docPartGallery" && attr(e, "val") == "Table of Contents"
			})
		case contents:
			return nil
		}
		return content()
	}, nil)
}

// descend visits all elements inside of the one just opened.
func descend(s *scan, visit func(tag string, e xml.StartElement)) error {
	return s.children(func(tag string, e xml.StartElement) error {
		visit(tag, e)
		return descend(s, visit)
	}, nil)
}

// alternate visits the first of several forms of the same content.
func alternate(s *scan, content func() error) error {
	taken := false
	return s.children(func(tag string, _ xml.StartElement) error {
		if taken || tag != "mc:Choice" && tag != "mc:Fallback" {
			return nil
		}
		taken = true
		return content()
	}, nil)
}

// write puts a block of the body into the text.
func (d *docx) write(b block) {
	if b.kind == tocPara {
		b = block{before: b.before, after: b.after}
	}
	if b.kind == codePara && b.before == 0 {
		d.code = append(d.code, b.text)
		if b.after == 0 {
			return
		}
		b.text = ""
	}
	d.flushCode()
	d.pageBreaks(b.before)
	switch {
	case b.rows != nil:
		d.writeTable(b)
	case strings.TrimSpace(b.text) == "":
	case b.kind == titlePara && !d.titled:
		d.titled, d.title = true, oneLine(b.text)
		d.md.heading(1, b.text)
	case b.kind == titlePara, b.heading > 0 && utf8.RuneCountInString(b.text) <= maxHeading:
		if d.titled {
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
	if b.after > 0 {
		d.flushCode()
		d.pageBreaks(b.after)
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

// writeTable writes a table; where a page ends in it, it begins again with its head.
func (d *docx) writeTable(b block) {
	from, head := 0, b.rows[0]
	for _, at := range b.breaks {
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

// writeNotes writes what the notes say that the text refers to.
func (d *docx) writeNotes(ctx context.Context) error {
	says := make(map[noteRef]string)
	for _, kind := range []string{"footnote", "endnote"} {
		name := d.rels.first(kind+"s", "word/"+kind+"s.xml")
		if err := d.parts.each(ctx, name, func(s *scan) error { return d.readNotes(s, kind, says) }); err != nil {
			return err
		}
	}
	for _, ref := range d.notes {
		d.md.note(strconv.Itoa(d.noteNum[ref]), says[ref])
	}
	return nil
}

func (d *docx) readNotes(s *scan, kind string, says map[noteRef]string) error {
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
			says[ref] = b.String()
			return nil
		}, nil)
	}, nil)
}

// reference returns what stands in the text for a note.
func (d *docx) reference(kind, id string) string {
	ref := noteRef{kind, id}
	if d.noteNum[ref] == 0 {
		d.notes = append(d.notes, ref)
		d.noteNum[ref] = len(d.notes)
	}
	return "[^" + strconv.Itoa(d.noteNum[ref]) + "]"
}
