package extract

import (
	"bytes"
	"context"
	"encoding/xml"
	"unicode/utf16"
)

// MIME types of office documents.
const (
	mimeDOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	mimePPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	mimeXLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	mimeEPUB = "application/epub+zip"
	mimeODT  = "application/vnd.oasis.opendocument.text" // and its aliases, other documents of OpenDocument
)

const markdownType = "text/markdown"

// readOffice reads a package according to its main part.
func readOffice(ctx context.Context, f File, o Options) (Text, error) {
	if bytes.HasPrefix(f.Data, []byte(oleMagic)) {
		return refuseOLE(ctx, f, o)
	}
	p, err := openParts(f.Data, o)
	if err != nil {
		return Text{}, err
	}
	if p.has("META-INF/container.xml") {
		return readEPUB(ctx, p, o)
	}
	main, err := p.mainPart(ctx)
	if err != nil {
		return Text{}, err
	}
	switch root, err := p.root(ctx, main); {
	case err != nil:
		return Text{}, err
	case root == "w:document" || root == "w:glossaryDocument":
		return readDOCX(ctx, p, main, o)
	case root == "p:presentation":
		return readPPTX(ctx, p, main, o)
	case root == "x:workbook":
		return readXLSX(ctx, p, main, o)
	}
	return Text{}, refuse("is a zip archive, but not a supported document")
}

// root returns the tag of a part's root element.
func (p *parts) root(ctx context.Context, name string) (string, error) {
	s, err := p.openXML(ctx, name)
	if err != nil {
		return "", err
	}
	defer s.Close()
	for {
		t, err := s.next()
		if err != nil {
			return "", err
		}
		if e, ok := t.(xml.StartElement); ok {
			return s.tag(e.Name), nil
		}
	}
}

// rtfMagic begins files in the Rich Text Format.
const rtfMagic = "{\\rtf"

func refuseRTF(context.Context, File, Options) (Text, error) {
	return Text{}, refuse("is RTF; save it as .docx")
}

const isOpenDocument = "is an OpenDocument file; save it as .docx, .xlsx or .pptx"

func refuseOpenDocument(context.Context, File, Options) (Text, error) {
	return Text{}, refuse(isOpenDocument)
}

// oleMagic begins the compound files of old Office formats and of encrypted new ones.
const oleMagic = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

// refuseOLE names the format of a compound file, by the names in its directory, and the remedy.
// Other data only has the extension of such a file.
func refuseOLE(_ context.Context, f File, _ Options) (Text, error) {
	if !bytes.HasPrefix(f.Data, []byte(oleMagic)) {
		return Text{}, refuse("is in a binary format that cannot be read; save it as .docx, .xlsx, .pptx or PDF")
	}
	for _, kind := range [...]struct{ stream, reason string }{
		{"EncryptedPackage", "is protected by a password; save it without"},
		{"WordDocument", "is in the binary format of Word 97–2003; save it as .docx"},
		{"Workbook", "is in the binary format of Excel 97–2003; save it as .xlsx"},
		{"PowerPoint Document", "is in the binary format of PowerPoint 97–2003; save it as .pptx"},
		{"__nameid_version1.0", "is a message of Outlook; save it as .eml"},
		{"VisioDocument", "is a drawing of Visio; save it as PDF"},
	} {
		if bytes.Contains(f.Data, utf16LE(kind.stream)) {
			return Text{}, refuse("%s", kind.reason)
		}
	}
	return Text{}, refuse("is a compound file of an older program; save it as .docx, .xlsx, .pptx or PDF")
}

func utf16LE(s string) []byte {
	b := make([]byte, 0, 2*len(s))
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}
