package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// pptx reads a presentation. Each slide is a page under its title, with the speaker notes as a
// block quote. Hidden slides are included and marked, because they often hold backup material.
type pptx struct {
	parts *parts
	md    *markdown
	title string
}

func readPPTX(ctx context.Context, p *parts, main string, o Options) (Text, error) {
	d := &pptx{parts: p, md: &markdown{limit: o.MaxText}}
	props, err := p.core(ctx)
	if err != nil {
		return Text{}, err
	}
	slides, err := d.slides(ctx, main)
	if err != nil {
		return Text{}, err
	}
	if len(slides) == 0 {
		return Text{}, refuse("holds no slides")
	}
	for i, name := range slides {
		if i > 0 {
			d.md.page()
		}
		if err := d.slide(ctx, name, i+1); err != nil {
			return Text{}, err
		}
	}
	if d.md.full() {
		return Text{}, refuse("holds more than %d bytes of text; split the file", o.MaxText)
	}
	if props.userTitle() == "" {
		props.title = d.title
	}
	return convertedText(mimePPTX, d.md.String(), props, len(slides)), nil
}

// slides returns the slide parts in presentation order.
func (d *pptx) slides(ctx context.Context, main string) ([]string, error) {
	rels, err := d.parts.relations(ctx, main)
	if err != nil {
		return nil, err
	}
	s, err := d.parts.openXML(ctx, main)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var names []string
	err = eachDescendant(s, func(tag string, e xml.StartElement) {
		if tag == "p:sldId" && len(names) < maxRelations {
			names = append(names, rels[relAttr(e, "id")].target)
		}
	})
	if len(names) == 0 {
		names = rels.all("slide")
	}
	return names, err
}

// slide writes one slide.
func (d *pptx) slide(ctx context.Context, name string, number int) error {
	v := &slideReader{ctx: ctx, parts: d.parts}
	err := v.read(name)
	if errors.Is(err, errNoPart) {
		v.title, err = []string{fmt.Sprintf("Slide %d (missing from the file)", number)}, nil
	}
	if err != nil {
		return err
	}
	title := oneLine(strings.Join(v.title, " "))
	if d.title == "" && number == 1 {
		d.title = title
	}
	if title == "" {
		title = fmt.Sprintf("Slide %d", number)
	}
	if v.hidden {
		title += " (hidden slide)"
	}
	d.md.heading(2, title)
	for _, b := range v.blocks {
		d.md.block(b)
	}
	return d.notes(ctx, v.rels)
}

// notes writes the speaker notes of a slide.
func (d *pptx) notes(ctx context.Context, rels relations) error {
	name := rels.first("notesSlide", "")
	if name == "" {
		return nil
	}
	var notes []string
	err := d.parts.visitOptional(ctx, name, func(s *xmlScanner) error {
		v := &slideReader{ctx: ctx, parts: d.parts, notes: true}
		err := v.shapes(s)
		for _, b := range v.blocks {
			notes = append(notes, b.text)
		}
		return err
	})
	if len(notes) > 0 {
		d.md.quote("Notes: " + strings.Join(notes, "\n"))
	}
	return err
}

// slideReader reads the shapes of a slide or of its notes page.
type slideReader struct {
	ctx    context.Context
	parts  *parts
	rels   relations
	notes  bool
	hidden bool
	title  []string
	blocks []block
}

func (v *slideReader) read(name string) error {
	s, err := v.parts.openXML(v.ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	if v.rels, err = v.parts.relations(v.ctx, name); err != nil {
		return err
	}
	return s.children(func(_ string, e xml.StartElement) error {
		v.hidden = attr(e, "show") == "0" || attr(e, "show") == "false"
		return v.shapes(s)
	}, nil)
}

// shapes visits the shapes inside the open element, including grouped shapes.
func (v *slideReader) shapes(s *xmlScanner) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch tag {
		case "p:sp":
			return v.shape(s)
		case "mc:AlternateContent":
			return firstAlternative(s, func() error { return v.shapes(s) })
		case "a:tbl":
			b, err := drawingTable(s)
			v.blocks = append(v.blocks, b)
			return err
		case "dgm:relIds", "c:chart":
			blocks, err := v.parts.graphic(v.ctx, v.rels, tag, e)
			v.blocks = append(v.blocks, blocks...)
			return err
		case "p:nvPicPr":
			return v.picture(s)
		case "p:timing", "p:transition", "p:extLst", "p:spPr", "p:bg":
			return nil
		}
		return v.shapes(s)
	}, nil)
}

// picture reads the description of a picture.
func (v *slideReader) picture(s *xmlScanner) error {
	return s.children(func(tag string, e xml.StartElement) error {
		if alt := imageText(attr(e, "descr")); tag == "p:cNvPr" && alt != "" && !v.notes {
			v.blocks = append(v.blocks, block{text: alt})
		}
		return nil
	}, nil)
}

// slideShape is a shape being read.
type slideShape struct {
	holder bool   // fills a placeholder of the layout
	kind   string // kind of the placeholder
	hidden bool
	paras  []drawingPara
}

func (v *slideReader) shape(s *xmlScanner) error {
	var x slideShape
	err := s.children(func(tag string, _ xml.StartElement) error {
		switch tag {
		case "p:nvSpPr":
			return eachDescendant(s, func(tag string, e xml.StartElement) {
				switch tag {
				case "p:ph":
					x.holder, x.kind = true, attr(e, "type")
				case "p:cNvPr":
					x.hidden = attr(e, "hidden") == "1" || attr(e, "hidden") == "true"
				}
			})
		case "p:txBody":
			return drawingText(s, func(p drawingPara) { x.paras = append(x.paras, p) })
		}
		return nil
	}, nil)
	if !x.hidden {
		v.take(x)
	}
	return err
}

// take uses a shape's text according to its placeholder.
func (v *slideReader) take(x slideShape) {
	switch x.kind {
	case "dt", "ftr", "hdr", "sldNum", "sldImg":
		return
	case "title", "ctrTitle":
		if v.title == nil && !v.notes {
			for _, p := range x.paras {
				v.title = append(v.title, p.text)
			}
			return
		}
	}
	if v.notes && x.kind != "body" {
		return
	}
	bulleted := x.holder && (x.kind == "" || x.kind == "body" || x.kind == "obj")
	blocks := drawingBlocks(x.paras, bulleted)
	if len(blocks) > 0 {
		blocks[0].newList = true
	}
	v.blocks = append(v.blocks, blocks...)
}
