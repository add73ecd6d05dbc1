package extract

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	// maxXMLDepth bounds the nesting of XML elements. Documents reach a few dozen levels, such as a
	// table in a text box in a table.
	maxXMLDepth = 400
	// maxToken bounds one tag or one text, which is held in memory.
	maxToken = 8 << 20
	// maxPartText bounds the text that is read from a part.
	maxPartText = 64 << 20
	// maxTags bounds the memory for element names.
	maxTags = 4096
)

// xmlScanner reads XML as a stream. Elements are visited in order, unwanted ones are skipped, and
// no tree is built. It knows only the predefined XML entities, so entities cannot multiply. Errors
// name the part.
type xmlScanner struct {
	ctx   context.Context
	name  string
	d     *xml.Decoder
	in    *tokenMeter
	rc    io.ReadCloser
	depth int
	count int
	texts int // bytes of text so far
	tags  map[xml.Name]string
}

func newXMLScanner(ctx context.Context, rc io.ReadCloser, name string) *xmlScanner {
	s := &xmlScanner{ctx: ctx, name: name, rc: rc, tags: make(map[xml.Name]string)}
	b := bufio.NewReaderSize(rc, 32<<10)
	var r io.Reader = b
	if bom, _ := b.Peek(2); bytes.Equal(bom, []byte{0xFF, 0xFE}) || bytes.Equal(bom, []byte{0xFE, 0xFF}) {
		r = transform.NewReader(b, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	} else if bom, _ := b.Peek(3); bytes.Equal(bom, []byte("\ufeff")) {
		b.Discard(3) //nolint:errcheck // the bytes have just been peeked
	}
	s.in = &tokenMeter{r: bufio.NewReaderSize(r, 32<<10)}
	s.d = xml.NewDecoder(s.in)
	s.d.CharsetReader = charsetReader
	return s
}

// charsetReader decodes XML that declares an encoding other than UTF-8. UTF-16 is already decoded.
func charsetReader(label string, r io.Reader) (io.Reader, error) {
	if strings.HasPrefix(strings.ToLower(label), "utf-16") {
		return r, nil
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil, fmt.Errorf("its encoding %q is unknown", label)
	}
	return enc.NewDecoder().Reader(r), nil
}

// tokenMeter rejects a token that is too long before it is in memory.
type tokenMeter struct {
	r *bufio.Reader
	n int
}

func (m *tokenMeter) over() error {
	if m.n > maxToken {
		return refuse("a tag or text inside is longer than %d bytes", maxToken)
	}
	return nil
}

func (m *tokenMeter) ReadByte() (byte, error) {
	if m.n++; m.n > maxToken {
		return 0, m.over()
	}
	return m.r.ReadByte()
}

func (m *tokenMeter) Read(b []byte) (int, error) {
	if err := m.over(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(b)
	m.n += n
	return n, err
}

func (s *xmlScanner) Close() error { return s.rc.Close() }

// next returns the next token, or io.EOF at the end of the part.
func (s *xmlScanner) next() (xml.Token, error) {
	if s.count++; s.count%256 == 0 && s.ctx.Err() != nil {
		return nil, s.ctx.Err()
	}
	s.in.n = 0
	t, err := s.d.Token()
	if err != nil {
		return nil, s.explain(err)
	}
	switch t.(type) {
	case xml.StartElement:
		if s.depth++; s.depth > maxXMLDepth {
			return nil, refuse("its part %s nests elements more than %d deep; save it again", s.name, maxXMLDepth)
		}
	case xml.EndElement:
		s.depth--
	}
	return t, nil
}

func (s *xmlScanner) explain(err error) error {
	var e *Error
	if errors.Is(err, io.EOF) || errors.As(err, &e) || s.ctx.Err() != nil {
		return err
	}
	return refuse("its part %s is damaged (%v); save it again", s.name, err)
}

// children visits the content of the open element, or the whole part if no element is open. elem
// may visit the children of its element; otherwise they are skipped. Both functions may be nil.
func (s *xmlScanner) children(elem func(tag string, e xml.StartElement) error, text func(b []byte)) error {
	outer := s.depth
	for {
		t, err := s.next()
		if errors.Is(err, io.EOF) && outer == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if elem != nil {
				if err := elem(s.tag(t.Name), t); err != nil {
					return err
				}
			}
			if err := s.skipTo(outer); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		case xml.CharData:
			if text == nil {
				continue
			}
			if s.texts += len(t); s.texts > maxPartText {
				return refuse("its part %s holds more than %d bytes of text; split the file", s.name, maxPartText)
			}
			text(t)
		}
	}
}

// skipTo skips the rest of the open elements below a depth.
func (s *xmlScanner) skipTo(depth int) error {
	for s.depth > depth {
		if _, err := s.next(); err != nil {
			return err
		}
	}
	return nil
}

// text returns the text inside the open element.
func (s *xmlScanner) text() (string, error) {
	var b strings.Builder
	err := s.appendText(&b)
	return b.String(), err
}

func (s *xmlScanner) appendText(b *strings.Builder) error {
	return s.children(func(string, xml.StartElement) error { return s.appendText(b) }, func(t []byte) { b.Write(t) })
}

// tag returns the name of an element with the conventional prefix of its namespace, such as "w:p",
// whatever prefix the file uses.
func (s *xmlScanner) tag(n xml.Name) string {
	if t, ok := s.tags[n]; ok {
		return t
	}
	t := nsPrefix(n.Space) + ":" + n.Local
	if len(s.tags) < maxTags {
		s.tags[n] = t
	}
	return t
}

// attr returns an attribute by its local name. An attribute without a namespace wins.
func attr(e xml.StartElement, local string) string {
	found := ""
	for _, a := range e.Attr {
		switch {
		case a.Name.Local != local || nsPrefix(a.Name.Space) == "r":
		case a.Name.Space == "":
			return a.Value
		default:
			found = a.Value
		}
	}
	return found
}

// relAttr returns an attribute that refers to a relation.
func relAttr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local && nsPrefix(a.Name.Space) == "r" {
			return a.Value
		}
	}
	return ""
}

// intAttr returns an integer attribute, limited to low and high, or def.
func intAttr(e xml.StartElement, local string, def, low, high int) int {
	n, err := strconv.Atoi(strings.TrimSpace(attr(e, local)))
	if err != nil {
		return def
	}
	return min(max(n, low), high)
}

// isOn reports whether a switch such as <w:vanish/> is on.
func isOn(e xml.StartElement) bool {
	switch attr(e, "val") {
	case "0", "false", "off":
		return false
	}
	return true
}

// nsPrefix returns the conventional prefix of a namespace. Strict and transitional namespaces have
// the same prefix. An undeclared prefix is returned unchanged.
func nsPrefix(space string) string {
	switch space {
	case "":
		return ""
	case "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
		"http://purl.oclc.org/ooxml/wordprocessingml/main":
		return "w"
	case "http://schemas.openxmlformats.org/presentationml/2006/main", "http://purl.oclc.org/ooxml/presentationml/main":
		return "p"
	case "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main":
		return "x"
	case "http://schemas.openxmlformats.org/drawingml/2006/main", "http://purl.oclc.org/ooxml/drawingml/main":
		return "a"
	case "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
		"http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing":
		return "wp"
	case "http://schemas.openxmlformats.org/drawingml/2006/diagram", "http://purl.oclc.org/ooxml/drawingml/diagram":
		return "dgm"
	case "http://schemas.openxmlformats.org/drawingml/2006/chart", "http://purl.oclc.org/ooxml/drawingml/chart":
		return "c"
	case "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
		"http://purl.oclc.org/ooxml/officeDocument/relationships":
		return "r"
	case "http://schemas.openxmlformats.org/officeDocument/2006/math", "http://purl.oclc.org/ooxml/officeDocument/math":
		return "m"
	case "http://schemas.openxmlformats.org/markup-compatibility/2006":
		return "mc"
	case "http://schemas.openxmlformats.org/package/2006/relationships":
		return "rel"
	case "http://purl.org/dc/elements/1.1/":
		return "dc"
	case "http://www.idpf.org/2007/opf":
		return "opf"
	}
	return space
}
