package extract

import (
	"context"
	"encoding/xml"
	"strconv"
	"strings"
)

// paraKind is what a paragraph is by its style.
type paraKind uint8

const (
	bodyPara paraKind = iota
	titlePara
	codePara
	tocPara // an entry of a table of contents: what it says stands in the text
)

// wordStyle is a paragraph's style, or what a paragraph says itself.
type wordStyle struct {
	name, based string
	// outline is the level of a heading from 1; 0 is body text, -1 unset.
	outline int
	num     numRef
	// pageBefore and hidden are as in the style itself.
	pageBefore, hidden bool
	kind               paraKind
	// depth is the level of a list whose styles have one each: "List Bullet 2".
	depth int
}

// numRef says of what list a paragraph is an item. Fields are -1 if unset; num 0
// is none.
type numRef struct{ num, level int }

// maxStyles bounds what is kept of a list of styles or numberings.
const maxStyles = 20_000

// maxBased is how long a chain of styles based on each other is followed.
const maxBased = 20

// wordStyles are the styles of a document by their id.
type wordStyles map[string]wordStyle

func (d *docx) readStyles(ctx context.Context, name string) error {
	d.styles = make(wordStyles)
	return d.parts.each(ctx, name, func(s *scan) error {
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

// set takes one element of a style or of a paragraph's properties.
func (w *wordStyle) set(s *scan, tag string, e xml.StartElement) error {
	switch tag {
	case "w:name":
		w.name = attr(e, "val")
	case "w:basedOn":
		w.based = attr(e, "val")
	case "w:outlineLvl":
		w.outline = (number(e, "val", -1, -1, 9) + 1) % 10
	case "w:pageBreakBefore":
		w.pageBefore = on(e)
	case "w:numId":
		w.num.num = number(e, "val", -1, 0, 1<<30)
	case "w:ilvl":
		w.num.level = number(e, "val", -1, 0, 8)
	case "w:pPr", "w:numPr":
		return s.children(func(tag string, e xml.StartElement) error { return w.set(s, tag, e) }, nil)
	case "w:rPr":
		return s.children(func(tag string, e xml.StartElement) error {
			w.hidden = w.hidden || tag == "w:vanish" && on(e)
			return nil
		}, nil)
	}
	return nil
}

// resolve returns a style with what it takes from those that it is based on. A
// style that is not listed is known by its id.
func (ws wordStyles) resolve(id string) wordStyle {
	r := wordStyle{outline: -1, num: numRef{-1, -1}}
	for range maxBased {
		s, ok := ws[id]
		if !ok {
			s = wordStyle{name: id, outline: -1, num: numRef{-1, -1}}
		}
		if r.name == "" {
			r.name, r.pageBefore, r.hidden, r.depth = s.name, s.pageBefore, s.hidden, listDepth(s.name)
		}
		if r.kind == bodyPara {
			r.kind = kindNamed(s.name)
		}
		if r.outline < 0 {
			if r.outline = s.outline; r.outline < 0 {
				r.outline = headingNamed(s.name)
			}
		}
		if r.num.num < 0 {
			r.num.num = s.num.num
		}
		if r.num.level < 0 {
			r.num.level = s.num.level
		}
		if id = s.based; id == "" {
			break
		}
	}
	return r
}

// headings are the words for a heading in names of styles. Word itself always
// writes the first, whatever its language; other programs, and people who made
// styles of their own, do not.
var headings = [...]string{
	"heading", "überschrift", "titre", "título", "titulo", "titolo", "kop", "rubrik", "overskrift", "otsikko",
	"nagłówek", "nadpis", "címsor", "titlu", "naslov", "başlık", "заголовок", "επικεφαλίδα", "標題", "标题", "見出し", "제목", "כותרת",
}

// headingNamed returns the level of a heading that is named like one: "heading 2",
// "Überschrift 2", "Heading2"; or -1.
func headingNamed(name string) int {
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

// listDepth returns the level, from 0, of a list whose style is named for it.
func listDepth(name string) int {
	name = strings.ToLower(strings.ReplaceAll(name, " ", ""))
	for _, list := range [...]string{"listbullet", "listnumber", "listcontinue"} {
		if rest, ok := strings.CutPrefix(name, list); ok && len(rest) == 1 && rest[0] >= '2' && rest[0] <= '9' {
			return int(rest[0] - '1')
		}
	}
	return 0
}

// kindNamed returns what a style means by its name.
func kindNamed(name string) paraKind {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "title", "titel", "titre", "título", "titulo", "titolo", "標題", "标题", "表題", "제목":
		return titlePara
	case "code", "source code", "sourcecode", "code block", "codeblock", "listing", "html preformatted", "htmlpreformatted",
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
