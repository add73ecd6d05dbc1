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

// Limits of PDF files, in addition to [Options].
const (
	maxPDFPages  = 20_000
	maxPDFGlyphs = 500_000 // per page
)

const mimePDF = "application/pdf"

// pdfPage holds the lines of a page in reading order.
type pdfPage struct {
	height float64
	lines  []pdfLine
}

// pdfDoc collects the pages of a document.
type pdfDoc struct {
	pages           []pdfPage
	glyphs, unknown int
	images, bytes   int
}

// readPDF converts a PDF to Markdown, page by page. It separates words in two ways, by the drawn
// spaces and by the gaps between characters, and uses the more plausible text.
func readPDF(ctx context.Context, f File, o Options) (Text, error) {
	var doc pdfDoc
	lim := pdf.Limits{MaxExpand: o.MaxExpand, MaxPages: maxPDFPages, MaxGlyphs: maxPDFGlyphs}
	info, err := pdf.Read(ctx, f.Data, lim, func(_ int, p *pdf.Page) error { return doc.add(p, o.MaxText) })
	if err == nil {
		err = doc.checkReadable(info.Damaged)
	}
	switch {
	case errors.Is(err, pdf.ErrTooManyPages):
		return Text{}, refuse("has more than %d pages; split it", maxPDFPages)
	case err != nil:
		return Text{}, err
	}
	return pdfText(doc.markdown(doc.preferDrawn()), info), nil
}

// pdfText returns the Text with the metadata of the file.
func pdfText(s string, info pdf.Info) Text {
	meta := map[string]any{MetaPages: max(info.Pages, strings.Count(s, "\f")+1)}
	if author := userValue(info.Author); author != "" {
		meta[MetaAuthor] = author
	}
	return Text{Text: s, MIME: mimeMarkdown, Format: mimePDF, Title: userValue(info.Title), Metadata: meta}
}

// add adds the lines of a page.
func (d *pdfDoc) add(p *pdf.Page, maxText int) error {
	lines, unknown := pdfLines(p)
	d.pages = append(d.pages, pdfPage{height: p.Height, lines: lines})
	d.glyphs += len(p.Glyphs)
	d.unknown += unknown
	d.images += p.Images
	for _, l := range lines {
		d.bytes += len(l.text)
	}
	if d.bytes > maxText {
		return refuse("holds more than %d bytes of text, the limit; split it", maxText)
	}
	return nil
}

// checkReadable returns an error that explains why a document has no text.
func (d *pdfDoc) checkReadable(damaged bool) error {
	switch {
	case d.bytes > 0 && 2*d.unknown < d.glyphs:
		return nil
	case d.unknown > 0:
		return refuse("does not say which characters its fonts draw (%d of %d unknown); run OCR, "+
			"for example ocrmypdf --force-ocr", d.unknown, d.glyphs)
	case damaged:
		return refuse("is damaged; no text can be read from it")
	case d.images > 0:
		return refuse("has no text, only images; run OCR, for example ocrmypdf")
	}
	return refuse("has no text")
}

// drawnMargin is how much more plausible the drawn spaces must be. Files that draw all spaces
// between words still leave them out between table cells.
const (
	drawnMargin = .02
	drawnWords  = 20 // fewer words are not enough evidence
)

// preferDrawn reports whether the drawn spaces are more plausible than the gaps.
func (d *pdfDoc) preferDrawn() (drawn bool) {
	a, b := d.plausibility(true), d.plausibility(false)
	return b.words >= drawnWords && a.score() > b.score()+drawnMargin
}

func (d *pdfDoc) plausibility(drawn bool) (sum plausibility) {
	for _, p := range d.pages {
		for _, l := range p.lines {
			if drawn {
				sum.add(l.drawnText)
			} else {
				sum.add(l.text)
			}
		}
	}
	return sum
}

// placeholders are default titles and authors.
var placeholders = []string{
	"untitled", "unknown", "anonymous", "(anonymous)", "(unspecified)", "none", "null", "title", "author", "user",
	"root", "admin",
	"administrator",
}

// documentExts are extensions of file names that programs set as titles.
const documentExts = ".doc .docx .indd .tex .dvi .pdf .ps .qxd .ppt .pptx .xls .xlsx .rtf .odt .fm .txt .html .htm " +
	".md .exe .cdr .ai "

// userValue returns a title or author, or "" for values that programs set, such as file and program
// names.
func userValue(s string) string {
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
