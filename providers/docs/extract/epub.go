package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"
)

// epub reads a book: its chapters in reading order, without the tables of contents.
type epub struct {
	parts    *parts
	dir      string // directory of the package document
	props    core
	authors  []string
	manifest map[string]epubItem
	spine    []string // item ids in reading order
	// tocParts is the set of parts that are tables of contents.
	tocParts map[string]bool
	// labels holds the titles of parts in the table of contents.
	labels map[string]string
	ncx    string // item id of an EPUB 2 table of contents
}

// epubItem is a manifest entry.
type epubItem struct{ part, media, properties string }

func readEPUB(ctx context.Context, p *parts, o Options) (Text, error) {
	b := &epub{
		parts: p, manifest: make(map[string]epubItem), tocParts: make(map[string]bool), labels: make(map[string]string),
	}
	if err := b.refuseDRM(ctx); err != nil {
		return Text{}, err
	}
	if err := b.readPackage(ctx); err != nil {
		return Text{}, err
	}
	if err := b.readLabels(ctx); err != nil {
		return Text{}, err
	}
	text, found, err := b.chapters(ctx, o)
	if err == nil && !found {
		clear(b.tocParts) // the whole book is marked as a table of contents
		text, found, err = b.chapters(ctx, o)
	}
	if err != nil {
		return Text{}, err
	}
	if !found {
		return Text{}, refuse("is a book without a readable chapter; get it again")
	}
	b.props.author = strings.Join(b.authors, ", ")
	return convertedText(mimeEPUB, text, b.props, 0), nil
}

// refuseDRM rejects a book with encrypted content. Encrypted fonts are accepted; the encryption
// only protects them from being copied.
func (b *epub) refuseDRM(ctx context.Context) error {
	encrypted := false
	err := b.parts.visitOptional(ctx, "META-INF/encryption.xml", func(s *xmlScanner) error {
		return eachDescendant(s, func(_ string, e xml.StartElement) {
			if a := attr(e, "Algorithm"); e.Name.Local == "EncryptionMethod" &&
				a != "http://www.idpf.org/2008/embedding" && a != "http://ns.adobe.com/pdf/enc#RC" {
				encrypted = true
			}
		})
	})
	if err == nil && encrypted {
		return refuse("is a book protected by digital rights management; its text cannot be read")
	}
	return err
}

// readPackage finds and reads the package document.
func (b *epub) readPackage(ctx context.Context) error {
	name := ""
	err := b.parts.visitOptional(ctx, "META-INF/container.xml", func(s *xmlScanner) error {
		return eachDescendant(s, func(_ string, e xml.StartElement) {
			if e.Name.Local == "rootfile" && name == "" {
				name = attr(e, "full-path")
			}
		})
	})
	if err != nil {
		return err
	}
	b.dir = path.Dir(name)
	s, err := b.parts.openXML(ctx, name)
	if errors.Is(err, errNoPart) {
		return refuse("is a book whose list of chapters is missing; get it again")
	}
	if err != nil {
		return err
	}
	defer s.Close()
	s.d.Entity = xml.HTMLEntity
	return b.visit(s)
}

// visit reads the elements of the package document.
func (b *epub) visit(s *xmlScanner) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch e.Name.Local {
		case "creator":
			author, err := s.text()
			if author = oneLine(author); author != "" && len(b.authors) < 20 {
				b.authors = append(b.authors, author)
			}
			return err
		case "title", "language":
			return b.props.set(s, tag)
		case "item":
			if len(b.manifest) < maxRelations {
				b.manifest[attr(e, "id")] = epubItem{
					part: b.resolve(b.dir, attr(e, "href")), media: attr(e, "media-type"),
					properties: attr(e, "properties"),
				}
			}
		case "spine":
			b.ncx = attr(e, "toc")
		case "itemref":
			if len(b.spine) < maxRelations {
				b.spine = append(b.spine, attr(e, "idref"))
			}
		case "reference":
			if attr(e, "type") == "toc" {
				b.tocParts[b.resolve(b.dir, attr(e, "href"))] = true
			}
		}
		return b.visit(s)
	}, nil)
}

// resolve returns the part that href, relative to dir, refers to.
func (b *epub) resolve(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return partKey(path.Join(dir, href))
}

// readLabels reads the chapter titles from the table of contents, version 3 or 2.
func (b *epub) readLabels(ctx context.Context) error {
	lists := []string{b.manifest[b.ncx].part}
	for _, item := range b.manifest {
		if slices.Contains(strings.Fields(item.properties), "nav") {
			b.tocParts[item.part] = true
			lists = append(lists, item.part)
		}
	}
	slices.Sort(lists)
	for _, part := range lists {
		err := b.parts.visitOptional(ctx, part, func(s *xmlScanner) error {
			s.d.Entity = xml.HTMLEntity
			label := ""
			return b.visitLabels(s, path.Dir(part), &label)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *epub) visitLabels(s *xmlScanner, dir string, label *string) error {
	return s.children(func(_ string, e xml.StartElement) (err error) {
		switch e.Name.Local {
		case "text":
			*label, err = s.text()
			return err
		case "content":
			b.setLabel(b.resolve(dir, attr(e, "src")), *label)
		case "a":
			*label, err = s.text()
			b.setLabel(b.resolve(dir, attr(e, "href")), *label)
			return err
		}
		return b.visitLabels(s, dir, label)
	}, nil)
}

// setLabel stores the first title of a part.
func (b *epub) setLabel(part, label string) {
	if label = oneLine(label); label != "" && b.labels[part] == "" && len(b.labels) < maxRelations {
		b.labels[part] = label
	}
}

// chapters converts the parts in reading order, each once. It returns false if the book has no
// chapter.
func (b *epub) chapters(ctx context.Context, o Options) (string, bool, error) {
	var text strings.Builder
	found, done := false, make(map[string]bool)
	for _, id := range b.spine {
		item := b.manifest[id]
		if done[item.part] || b.tocParts[item.part] || !chapterType(item.media) {
			continue
		}
		done[item.part] = true
		md, err := b.chapter(ctx, item, o.MaxText-text.Len())
		switch {
		case errors.Is(err, errNoPart):
			continue
		case err != nil:
			return "", false, err
		}
		found = true
		if text.Len() > 0 && md != "" {
			text.WriteString("\n")
		}
		text.WriteString(md)
	}
	return text.String(), found, nil
}

func chapterType(media string) bool {
	return media == "application/xhtml+xml" || media == "text/html" || media == "text/x-oeb1-document"
}

// chapter converts a part. If the part has no heading, its title in the table of contents is added.
func (b *epub) chapter(ctx context.Context, item epubItem, limit int) (string, error) {
	raw, err := b.parts.read(item.part)
	if err != nil {
		return "", err
	}
	src, _, err := decodeText(raw, item.media)
	if err != nil {
		return "", err
	}
	if limit <= 0 {
		return "", refuse("holds too much text; split the book")
	}
	o := pageOptions{keepAll: true, xml: item.media == "application/xhtml+xml", maxText: limit}
	pg, err := htmlMarkdown(ctx, []byte(src), o)
	if err != nil {
		return "", err
	}
	md := strings.ReplaceAll(strings.Trim(pg.markdown, "\n"), "\f", "\n")
	if md == "" {
		return "", nil
	}
	if label := b.labels[item.part]; label != "" && !strings.HasPrefix(md, "#") && !strings.Contains(md, "\n#") {
		md = "# " + label + "\n\n" + md
	}
	return md + "\n", nil
}
