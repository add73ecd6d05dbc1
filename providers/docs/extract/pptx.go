package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// pptx reads a presentation: each slide is a page under its title, what the
// speaker noted a quotation below it. Hidden slides are kept, and said to be
// hidden: they hold what people keep for questions.
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
	if props.named() == "" {
		props.title = d.title
	}
	return convertedText(mimePPTX, d.md.String(), props, len(slides)), nil
}

// slides returns the parts of the slides in the order of the presentation.
func (d *pptx) slides(ctx context.Context, main string) ([]string, error) {
	rels, err := d.parts.relations(ctx, main)
	if err != nil {
		return nil, err
	}
	s, err := d.parts.scan(ctx, main)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var names []string
	err = descend(s, func(tag string, e xml.StartElement) {
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

// notes writes what the speaker noted.
func (d *pptx) notes(ctx context.Context, rels relations) error {
	name := rels.first("notesSlide", "")
	if name == "" {
		return nil
	}
	var notes []string
	err := d.parts.each(ctx, name, func(s *scan) error {
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

// slideReader reads the shapes of a slide, or of the page of its notes.
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
	s, err := v.parts.scan(v.ctx, name)
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

// shapes visits the shapes inside of the element just opened, in groups or not.
func (v *slideReader) shapes(s *scan) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch tag {
		case "p:sp":
			return v.shape(s)
		case "mc:AlternateContent":
			return alternate(s, func() error { return v.shapes(s) })
		case "a:tbl":
			b, err := drawnTable(s)
			v.blocks = append(v.blocks, b)
			return err
		case "dgm:relIds", "c:chart":
			blocks, err := v.parts.drawn(v.ctx, v.rels, tag, e)
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

// picture takes the description of a picture.
func (v *slideReader) picture(s *scan) error {
	return s.children(func(tag string, e xml.StartElement) error {
		if alt := imageText(attr(e, "descr")); tag == "p:cNvPr" && alt != "" && !v.notes {
			v.blocks = append(v.blocks, block{text: alt})
		}
		return nil
	}, nil)
}

// slideShape is a shape being read.
type slideShape struct {
	holder bool   // it fills a placeholder of the layout
	kind   string // of the placeholder
	hidden bool
	paras  []drawnPara
}

func (v *slideReader) shape(s *scan) error {
	var x slideShape
	err := s.children(func(tag string, _ xml.StartElement) error {
		switch tag {
		case "p:nvSpPr":
			return descend(s, func(tag string, e xml.StartElement) {
				switch tag {
				case "p:ph":
					x.holder, x.kind = true, attr(e, "type")
				case "p:cNvPr":
					x.hidden = attr(e, "hidden") == "1" || attr(e, "hidden") == "true"
				}
			})
		case "p:txBody":
			return drawnText(s, func(p drawnPara) { x.paras = append(x.paras, p) })
		}
		return nil
	}, nil)
	if !x.hidden {
		v.take(x)
	}
	return err
}

// take sorts a shape's text by the placeholder that it fills.
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
	blocks := drawnItems(x.paras, bulleted)
	if len(blocks) > 0 {
		blocks[0].apart = true
	}
	v.blocks = append(v.blocks, blocks...)
}
