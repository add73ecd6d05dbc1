package extract

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"path"
	"slices"
	"strings"
)

// relation is a reference from one part to another.
type relation struct {
	kind   string // last element of its type: "styles", "slide"
	target string // name of the part; "" if outside the package
}

// relations holds the references of a part by id.
type relations map[string]relation

// maxRelations bounds the references of a part.
const maxRelations = 100_000

// relations returns the references of a part, or of the package for "". A missing or damaged list
// gives no references, because most documents can be read without them.
func (p *parts) relations(ctx context.Context, part string) (relations, error) {
	rels, list := make(relations), "_rels/.rels"
	if part != "" {
		list = path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
	}
	err := p.visitOptional(ctx, list, func(s *xmlScanner) error {
		return s.children(func(_ string, e xml.StartElement) error {
			return s.children(func(tag string, e xml.StartElement) error {
				if tag == "rel:Relationship" && len(rels) < maxRelations {
					rels[attr(e, "Id")] = relation{kind: path.Base(attr(e, "Type")), target: target(part, e)}
				}
				return nil
			}, nil)
		}, nil)
	})
	return rels, err
}

// target resolves a reference within the package.
func target(part string, e xml.StartElement) string {
	t := attr(e, "Target")
	if strings.EqualFold(attr(e, "TargetMode"), "External") || strings.Contains(t, "://") {
		return ""
	}
	t, _, _ = strings.Cut(t, "#")
	if !strings.HasPrefix(t, "/") {
		t = path.Join("/", path.Dir(part), t)
	}
	return strings.TrimPrefix(path.Clean(t), "/")
}

// first returns the target of a reference of that kind, or def. Of several references, the least id
// wins.
func (r relations) first(kind, def string) string {
	best, found := "", def
	for id, rel := range r {
		if rel.kind == kind && rel.target != "" && (best == "" || id < best) {
			best, found = id, rel.target
		}
	}
	return found
}

// all returns the targets of all references of that kind, ordered by length, then by name.
func (r relations) all(kind string) []string {
	var names []string
	for _, rel := range r {
		if rel.kind == kind && rel.target != "" {
			names = append(names, rel.target)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return slices.Compact(names)
}

// visitOptional visits a part that may be missing or damaged. It returns only errors of limits and
// of the context.
func (p *parts) visitOptional(ctx context.Context, name string, visit func(*xmlScanner) error) error {
	s, err := p.openXML(ctx, name)
	if err == nil {
		err = visit(s)
		s.Close()
	}
	if err == nil || errors.Is(err, errNoPart) {
		return nil
	}
	if ctx.Err() != nil || p.left <= 0 {
		return err
	}
	return nil
}

// mainPart finds the main part of a package.
func (p *parts) mainPart(ctx context.Context) (string, error) {
	rels, err := p.relations(ctx, "")
	if err != nil {
		return "", err
	}
	if p.has("xl/workbook.bin") {
		return "", refuse("is a binary workbook; save it as .xlsx")
	}
	declared := rels.first("officeDocument", "")
	for _, name := range []string{declared, "word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"} {
		if name != "" && p.has(name) {
			return name, nil
		}
	}
	if p.has("content.xml") {
		return "", refuse(isOpenDocument)
	}
	return "", refuse("is a zip archive that lacks the main part of a document; if it is a document, save it again")
}

// core holds the core properties of a document.
type core struct{ title, author, language string }

// core reads the core properties of a package.
func (p *parts) core(ctx context.Context) (c core, err error) {
	rels, err := p.relations(ctx, "")
	if err != nil {
		return c, err
	}
	err = p.visitOptional(ctx, rels.first("core-properties", "docProps/core.xml"), func(s *xmlScanner) error {
		return s.children(func(string, xml.StartElement) error {
			return s.children(func(tag string, _ xml.StartElement) error { return c.set(s, tag) }, nil)
		}, nil)
	})
	return c, err
}

// set applies one element of the properties.
func (c *core) set(s *xmlScanner, tag string) (err error) {
	var into *string
	switch tag {
	case "dc:title":
		into = &c.title
	case "dc:creator":
		into = &c.author
	case "dc:language":
		into = &c.language
	}
	if into == nil || *into != "" {
		return nil
	}
	*into, err = s.text()
	*into = oneLine(*into)
	return err
}

// defaultTitles are titles that programs give to new documents.
var defaultTitles = [...]string{
	"word document", "powerpoint presentation", "powerpoint-präsentation", "présentation powerpoint",
	"presentación de powerpoint", "presentazione standard di powerpoint", "presentation", "workbook", "untitled",
	"slide 1",
}

// userTitle returns the title, unless it is a default title of a program.
func (c *core) userTitle() string {
	t := strings.ToLower(c.title)
	if slices.Contains(defaultTitles[:], t) || strings.HasPrefix(t, "microsoft word - ") {
		return ""
	}
	return c.title
}

// defaultAuthors are authors that libraries set by default.
var defaultAuthors = [...]string{"python-docx", "openpyxl", "unknown"}

// convertedText returns the Text of a converted document.
func convertedText(mime, text string, c core, pageCount int) Text {
	t := Text{Text: text, MIME: markdownType, Format: mime, Title: c.userTitle(), Metadata: make(map[string]any)}
	if c.author != "" && !slices.Contains(defaultAuthors[:], strings.ToLower(c.author)) {
		t.Metadata[MetaAuthor] = c.author
	}
	if l := languageCode(c.language); l != "" {
		t.Metadata[MetaLanguage] = l
	}
	if pageCount > 0 {
		t.Metadata[MetaPages] = pageCount
	}
	if len(t.Metadata) == 0 {
		t.Metadata = nil
	}
	return t
}
