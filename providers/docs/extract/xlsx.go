package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"strings"
)

// Limits of a workbook. Long data tables are of little use as text; a remark in the text names the
// cut.
const (
	maxSheetRows  = 50_000
	maxCells      = 1_000_000
	maxSheetWidth = 2_000
	maxCellText   = 32 << 10 // bytes; Excel allows 32,767 characters
	maxSheets     = 1_000
)

// maxShared bounds the shared strings of a workbook in bytes.
const maxShared = 128 << 20

// xlsx reads a workbook. Each sheet becomes a section with its ranges as tables of the displayed
// values. Sheets are streamed; only the shared strings are held in memory.
type xlsx struct {
	parts    *parts
	md       *markdown
	maxText  int
	limits   sheetLimits
	strings  sharedStrings
	formats  []*numFormat // by cell style
	date1904 bool         // days are counted from 1904
	cells    int          // written so far
}

// sheetLimits bound the rows of a sheet and the cells of a workbook.
type sheetLimits struct{ rows, cells int }

// sheetRef is a sheet in the workbook's list.
type sheetRef struct {
	name, part string
	hidden     bool
}

func readXLSX(ctx context.Context, p *parts, main string, o Options) (Text, error) {
	return readWorkbook(ctx, p, main, o, sheetLimits{rows: maxSheetRows, cells: maxCells})
}

func readWorkbook(ctx context.Context, p *parts, main string, o Options, limits sheetLimits) (Text, error) {
	w := &xlsx{parts: p, limits: limits, md: &markdown{limit: o.MaxText - min(4096, o.MaxText/4)}, maxText: o.MaxText}
	props, err := p.core(ctx)
	if err != nil {
		return Text{}, err
	}
	sheets, err := w.workbook(ctx, main)
	if err != nil {
		return Text{}, err
	}
	if len(sheets) == 0 {
		return Text{}, refuse("holds no sheets")
	}
	for i, ref := range sheets {
		if w.full() {
			w.leftOut(sheets[i:])
			break
		}
		if err := w.sheet(ctx, ref); err != nil {
			return Text{}, err
		}
	}
	return convertedText(mimeXLSX, w.md.String(), props, 0), nil
}

// full reports whether the text or the cells have reached their limits.
func (w *xlsx) full() bool { return w.md.full() || w.cells >= w.limits.cells }

// remark writes a line in the room reserved for remarks.
func (w *xlsx) remark(text string) {
	limit, cut := w.md.limit, w.md.cut
	w.md.limit, w.md.cut = w.maxText, false
	w.md.paragraph(text)
	w.md.limit, w.md.cut = limit, cut
}

func (w *xlsx) leftOut(sheets []sheetRef) {
	names := make([]string, 0, 20)
	for _, s := range sheets[:min(len(sheets), cap(names))] {
		names = append(names, oneLine(s.name))
	}
	text := strings.Join(names, ", ")
	if len(sheets) > len(names) || len(text) > 1000 {
		text = strings.ToValidUTF8(text[:min(len(text), 1000)], "") + ", …"
	}
	w.remark("[Left out, because the text would be too long, are the sheets " + text + ".]")
}

// workbook reads the list of sheets, the number formats and the shared strings.
func (w *xlsx) workbook(ctx context.Context, main string) ([]sheetRef, error) {
	rels, err := w.parts.relations(ctx, main)
	if err != nil {
		return nil, err
	}
	sheets, err := w.list(ctx, main, rels)
	if err != nil {
		return nil, err
	}
	if err := w.parts.visitOptional(ctx, rels.first("styles", "xl/styles.xml"), w.readFormats); err != nil {
		return nil, err
	}
	s, err := w.parts.openXML(ctx, rels.first("sharedStrings", "xl/sharedStrings.xml"))
	if errors.Is(err, errNoPart) {
		return sheets, nil
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return sheets, w.strings.read(s)
}

func (w *xlsx) list(ctx context.Context, main string, rels relations) ([]sheetRef, error) {
	s, err := w.parts.openXML(ctx, main)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var sheets []sheetRef
	err = eachDescendant(s, func(tag string, e xml.StartElement) {
		switch tag {
		case "x:workbookPr":
			w.date1904 = attr(e, "date1904") == "1" || attr(e, "date1904") == "true"
		case "x:sheet":
			rel := rels[relAttr(e, "id")]
			if rel.kind == "worksheet" && len(sheets) < maxSheets {
				hidden := strings.Contains(strings.ToLower(attr(e, "state")), "hidden")
				sheets = append(sheets, sheetRef{name: attr(e, "name"), part: rel.target, hidden: hidden})
			}
		}
	})
	return sheets, err
}

// sharedStrings holds the strings that cells refer to by index, in one buffer.
type sharedStrings struct {
	text []byte
	ends []int
}

func (t *sharedStrings) at(i int) string {
	if i < 0 || i >= len(t.ends) {
		return ""
	}
	from := 0
	if i > 0 {
		from = t.ends[i-1]
	}
	return string(t.text[from:t.ends[i]])
}

func (t *sharedStrings) read(s *xmlScanner) error {
	return s.children(func(string, xml.StartElement) error {
		return s.children(func(tag string, _ xml.StartElement) error {
			if tag != "x:si" {
				return nil
			}
			if err := richText(s, &t.text); err != nil {
				return err
			}
			if t.ends = append(t.ends, len(t.text)); len(t.text)+16*len(t.ends) > maxShared {
				return refuse("holds more than %d bytes of strings; split the workbook", maxShared)
			}
			return nil
		}, nil)
	}, nil)
}

// richText appends the text inside the open element, cut at maxCellText, without phonetic readings.
func richText(s *xmlScanner, into *[]byte) error {
	from := len(*into)
	var visit func(tag string, _ xml.StartElement) error
	visit = func(tag string, _ xml.StartElement) error {
		switch tag {
		case "x:rPh", "x:phoneticPr", "x:rPr":
			return nil
		case "x:t":
			return s.children(nil, func(b []byte) {
				*into = append(*into, b[:max(0, min(len(b), maxCellText-(len(*into)-from)))]...)
			})
		}
		return s.children(visit, nil)
	}
	return s.children(visit, nil)
}
