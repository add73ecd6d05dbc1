package extract

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/ragctx/ragctx/providers/docs/extract/internal/pdf"
)

// Limits of PDF files, beside those of [Options].
const (
	maxPDFPages  = 20_000
	maxPDFGlyphs = 500_000 // on a page
)

const mimePDF = "application/pdf"

// pdfFormats is the row of PDF.
func pdfFormats() []format {
	return []format{{
		mime: mimePDF, also: []string{"application/x-pdf"}, exts: []string{"pdf"}, magic: []string{"%PDF-"},
		read: readPDF, isolate: true,
	}}
}

// pdfPage is the lines of a page in the order of reading.
type pdfPage struct {
	height float64
	lines  []pdfLine
}

// pdfDoc is a document as far as it is read.
type pdfDoc struct {
	pages           []pdfPage
	glyphs, unknown int
	images, bytes   int
}

// readPDF reads a PDF as Markdown, page by page. Words are told apart in two ways,
// by the spaces that the file draws and by the gaps between characters, and the
// more plausible text is taken.
func readPDF(ctx context.Context, f File, o Options) (Text, error) {
	var doc pdfDoc
	lim := pdf.Limits{MaxExpand: o.MaxExpand, MaxPages: maxPDFPages, MaxGlyphs: maxPDFGlyphs}
	info, err := pdf.Read(ctx, f.Data, lim, func(_ int, p *pdf.Page) error { return doc.add(p, o.MaxText) })
	if err == nil {
		err = doc.readable(info.Damaged)
	}
	switch {
	case errors.Is(err, pdf.ErrTooManyPages):
		return Text{}, refuse("has more than %d pages; split it", maxPDFPages)
	case err != nil:
		return Text{}, err
	}
	return pdfText(doc.markdown(doc.choose()), info), nil
}

// pdfText is the result for a text and what the file says of itself.
func pdfText(s string, info pdf.Info) Text {
	meta := map[string]any{MetaPages: max(info.Pages, strings.Count(s, "\f")+1)}
	if author := sensible(info.Author); author != "" {
		meta[MetaAuthor] = author
	}
	return Text{Text: s, MIME: mimeMarkdown, Format: mimePDF, Title: sensible(info.Title), Metadata: meta}
}

// add takes over the lines of a page.
func (d *pdfDoc) add(p *pdf.Page, maxText int) error {
	lines, unknown := pdfLines(p)
	d.pages = append(d.pages, pdfPage{height: p.Height, lines: lines})
	d.glyphs += len(p.Glyphs)
	d.unknown += unknown
	d.images += p.Images
	for _, l := range lines {
		d.bytes += len(l.boxes)
	}
	if d.bytes > maxText {
		return refuse("holds more than %d bytes of text, the limit; split it", maxText)
	}
	return nil
}

// readable says why a document has no text.
func (d *pdfDoc) readable(damaged bool) error {
	switch {
	case d.bytes > 0 && 2*d.unknown < d.glyphs:
		return nil
	case d.unknown > 0:
		return refuse("does not say which characters its fonts draw (%d of %d unknown); run OCR, for example ocrmypdf --force-ocr",
			d.unknown, d.glyphs)
	case damaged:
		return refuse("is damaged; no text can be read from it")
	case d.images > 0:
		return refuse("has no text, only images; run OCR, for example ocrmypdf")
	}
	return refuse("has no text")
}

// drawnMargin is how much more plausible the drawn spaces have to be: files that
// draw them all still leave them out between the cells of tables.
const (
	drawnMargin = .02
	drawnWords  = 20 // fewer prove nothing
)

// choose reports whether the spaces that the file draws are more plausible than
// those of the gaps.
func (d *pdfDoc) choose() (drawn bool) {
	a, b := d.plausibility(true), d.plausibility(false)
	return b.words >= drawnWords && a.score() > b.score()+drawnMargin
}

func (d *pdfDoc) plausibility(drawn bool) (sum plausibility) {
	for _, p := range d.pages {
		for _, l := range p.lines {
			if drawn {
				sum.add(l.drawn)
			} else {
				sum.add(l.boxes)
			}
		}
	}
	return sum
}

// placeholders are titles and authors that nobody wrote.
var placeholders = []string{
	"untitled", "unknown", "anonymous", "(anonymous)", "(unspecified)", "none", "null", "title", "author", "user", "root", "admin",
	"administrator",
}

// documentExts end the names of files that became titles.
const documentExts = ".doc .docx .indd .tex .dvi .pdf .ps .qxd .ppt .pptx .xls .xlsx .rtf .odt .fm .txt .html .htm .md .exe .cdr .ai "

// sensible returns a title or author if a person wrote it, "" for what programs put
// there: names of files and of programs.
func sensible(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)), " ")
	lower := strings.ToLower(s)
	letters := strings.IndexFunc(s, unicode.IsLetter) >= 0
	if !letters || len(s) > 300 {
		return ""
	}
	if slices.Contains(placeholders, lower) {
		return ""
	}
	if _, rest, ok := strings.Cut(s, "Microsoft Word - "); ok {
		s, lower = rest, strings.ToLower(rest)
	}
	if ext := path.Ext(lower); ext != "" && strings.Contains(documentExts, ext+" ") {
		return ""
	}
	return s
}
