package extract

import (
	"context"
	"encoding/xml"
	"strconv"
	"strings"
)

// paraKind is the kind of a paragraph according to its style.
type paraKind uint8

const (
	bodyPara paraKind = iota
	titlePara
	codePara
	tocPara // entry of a table of contents; repeats text of the document
)

// wordStyle is a paragraph style, or the direct formatting of a paragraph.
type wordStyle struct {
	name, basedOn string
	// outline is the heading level from 1; 0 is body text, -1 is unset.
	outline int
	num     numRef
	// pageBefore and hidden are not inherited from the base style.
	pageBefore, hidden bool
	kind               paraKind
	// depth is the list level of styles with one style per level: "List Bullet 2".
	depth int
}

// numRef refers to a list and a level. Fields are -1 if unset; num 0 means no list.
type numRef struct{ num, level int }

// maxStyles bounds the number of styles and of list definitions.
const maxStyles = 20_000

// maxBasedOn bounds the chain of base styles.
const maxBasedOn = 20

// wordStyles holds the styles of a document by id.
type wordStyles map[string]wordStyle

func (d *docx) readStyles(ctx context.Context, name string) error {
	d.styles = make(wordStyles)
	return d.parts.visitOptional(ctx, name, func(s *xmlScanner) error {
		return s.children(func(string, xml.StartElement) error {
			return s.children(func(tag string, e xml.StartElement) error {
				if tag != "w:style" || len(d.styles) >= maxStyles {
					return nil
				}
				style := wordStyle{outline: -1, num: numRef{-1, -1}}
				err := s.children(func(tag string, e xml.StartElement) error { return style.set(s, tag, e) }, nil)
				d.styles[attr(e, "styleId")] = style
				return err
			}, nil)
		}, nil)
	})
}

// set applies one element of a style or of paragraph properties.
func (w *wordStyle) set(s *xmlScanner, tag string, e xml.StartElement) error {
	switch tag {
	case "w:name":
		w.name = attr(e, "val")
	case "w:basedOn":
		w.basedOn = attr(e, "val")
	case "w:outlineLvl":
		w.outline = (intAttr(e, "val", -1, -1, 9) + 1) % 10
	case "w:pageBreakBefore":
		w.pageBefore = isOn(e)
	case "w:numId":
		w.num.num = intAttr(e, "val", -1, 0, 1<<30)
	case "w:ilvl":
		w.num.level = intAttr(e, "val", -1, 0, 8)
	case "w:pPr", "w:numPr":
		return s.children(func(tag string, e xml.StartElement) error { return w.set(s, tag, e) }, nil)
	case "w:rPr":
		return s.children(func(tag string, e xml.StartElement) error {
			w.hidden = w.hidden || tag == "w:vanish" && isOn(e)
			return nil
		}, nil)
	}
	return nil
}

// resolve returns a style with the values inherited from its base styles. For an unlisted style,
// the id is used as the name.
func (ws wordStyles) resolve(id string) wordStyle {
	r := wordStyle{outline: -1, num: numRef{-1, -1}}
	for range maxBasedOn {
		s, ok := ws[id]
		if !ok {
			s = wordStyle{name: id, outline: -1, num: numRef{-1, -1}}
		}
		if r.name == "" {
			r.name, r.pageBefore, r.hidden, r.depth = s.name, s.pageBefore, s.hidden, listDepth(s.name)
		}
		if r.kind == bodyPara {
			r.kind = kindByName(s.name)
		}
		if r.outline < 0 {
			if r.outline = s.outline; r.outline < 0 {
				r.outline = headingByName(s.name)
			}
		}
		if r.num.num < 0 {
			r.num.num = s.num.num
		}
		if r.num.level < 0 {
			r.num.level = s.num.level
		}
		if id = s.basedOn; id == "" {
			break
		}
	}
	return r
}

// headings lists the words for "heading" in style names. Word always writes the English name; other
// programs and user-defined styles may not.
var headings = [...]string{
	"heading", "überschrift", "titre", "título", "titulo", "titolo", "kop", "rubrik", "overskrift", "otsikko",
	"nagłówek", "nadpis", "címsor", "titlu", "naslov", "başlık", "заголовок", "επικεφαλίδα", "標題", "标题", "見出し",
	"제목", "כותרת",
}

// headingByName returns the heading level in a style name such as "heading 2", "Überschrift 2" or
// "Heading2", or -1.
func headingByName(name string) int {
	name = strings.ToLower(strings.TrimSpace(name))
	word := strings.TrimRight(name, "0123456789")
	level, err := strconv.Atoi(name[len(word):])
	if err != nil || level < 1 || level > 9 {
		return -1
	}
	word = strings.TrimSpace(word)
	for _, h := range headings {
		if word == h {
			return level
		}
	}
	return -1
}

// listDepth returns the list level, from 0, in a style name.
func listDepth(name string) int {
	name = strings.ToLower(strings.ReplaceAll(name, " ", ""))
	for _, list := range [...]string{"listbullet", "listnumber", "listcontinue"} {
		if rest, ok := strings.CutPrefix(name, list); ok && len(rest) == 1 && rest[0] >= '2' && rest[0] <= '9' {
			return int(rest[0] - '1')
		}
	}
	return 0
}

// kindByName returns the paragraph kind for a style name.
func kindByName(name string) paraKind {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "title", "titel", "titre", "título", "titulo", "titolo", "標題", "标题", "表題", "제목":
		return titlePara
	case "code", "source code", "sourcecode", "code block", "codeblock", "listing", "html preformatted",
		"htmlpreformatted",
		"preformatted text", "preformattedtext", "macro", "macro text":
		return codePara
	case "toc heading", "tocheading", "contents heading", "table of figures", "tableoffigures":
		return tocPara
	}
	for _, entry := range [...]string{"toc", "contents", "verzeichnis", "inhaltsverzeichnis"} {
		if rest, ok := strings.CutPrefix(name, entry); ok && len(strings.TrimSpace(rest)) == 1 {
			return tocPara
		}
	}
	return bodyPara
}
