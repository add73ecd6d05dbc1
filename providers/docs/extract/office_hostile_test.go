package extract

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const (
	wordOpen = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
		`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:body>`
	wordClose = `</w:body></w:document>`
	para      = `<w:p><w:r><w:t>text</w:t></w:r></w:p>`

	workbookXML = `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" ` +
		`r:id="a"/><sheet name="T" r:id="b"/></sheets></workbook>`
	workbookRel = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="x/worksheet" Target="s.xml"/><Relationship Id="b" Type="x/worksheet" Target="t.xml"/></Relationships>`
	sheetOpen   = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`
	sheetClose  = `</sheetData></worksheet>`
)

func wordWith(t testing.TB, body string, more ...string) []byte {
	t.Helper()
	return zipped(t, append([]string{"word/document.xml", wordOpen + body + wordClose}, more...)...)
}

func bookWith(t testing.TB, rows string, more ...string) []byte {
	t.Helper()
	return zipped(t, append([]string{
		"xl/workbook.xml", workbookXML, "xl/_rels/workbook.xml.rels", workbookRel,
		"xl/s.xml", sheetOpen + rows + sheetClose,
	}, more...)...)
}

// TestDamagedDocuments checks the errors of unreadable documents.
func TestDamagedDocuments(t *testing.T) {
	whole := wordWith(t, para)
	lol := `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>`
	for _, x := range []struct {
		name, file string
		data       []byte
		opts       Options
		want       string
	}{
		{"empty", "a.docx", nil, Options{}, "not a complete zip archive"},
		{"cut off", "a.docx", whole[:len(whole)/2], Options{}, "not a complete zip archive"},
		{"another zip", "a.docx", zipped(t, "readme.txt", "x"), Options{}, "lacks the main part"},
		{
			"another document", "a.docx", zipped(t, "word/document.xml", "<html/>"),
			Options{},
			"not a supported document",
		},
		{"broken XML", "a.docx", wordWith(t, para+"<w:p>"), Options{}, "part word/document.xml is damaged"},
		{
			"no XML", "a.docx", zipped(t, "word/document.xml", "\x00\x01\x02"),
			Options{},
			"part word/document.xml is damaged",
		},
		{
			"entities", "a.docx",
			zipped(t, "word/document.xml", lol+wordOpen+"<w:p><w:r><w:t>&b;</w:t></w:r></w:p>"+wordClose),
			Options{},
			"invalid character entity &b;",
		},
		{
			"external entity", "a.docx",
			zipped(t, "word/document.xml",
				`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>`+wordOpen+"<w:p><w:r><w:t>&e;</w:t></w:r></w:p>"+wordClose),
			Options{},
			"invalid character entity &e;",
		},
		{
			"deep", "a.docx", wordWith(t, strings.Repeat("<w:sdt>", 5000)+strings.Repeat("</w:sdt>", 5000)),
			Options{},
			"more than 400 deep",
		},
		{
			"deep tables", "a.docx", wordWith(t, strings.Repeat("<w:tbl><w:tr><w:tc>", 5000)),
			Options{},
			"more than 400 deep",
		},
		{
			"bomb", "a.docx", wordWith(t, strings.Repeat(para, 40_000)),
			Options{MaxExpand: 1 << 20},
			"unpacks to more than 1048576 bytes",
		},
		{
			"bomb of styles", "a.docx",
			wordWith(t, para, "word/styles.xml", "<s>"+strings.Repeat("<w:style/>", 200_000)+"</s>"),
			Options{MaxExpand: 1 << 20},
			"unpacks to more than 1048576 bytes",
		},
		{
			"huge attribute", "a.docx", wordWith(t, `<w:p w:x="`+strings.Repeat("a", maxToken+1)+`"/>`),
			Options{},
			"longer than 8388608 bytes",
		},
		{
			"too much text", "a.docx", wordWith(t, strings.Repeat(para, 1000)),
			Options{MaxText: 1000},
			"more than 1000 bytes of text",
		},
		{
			"many parts", "a.docx", zipped(t, "a", "", "b", "", "c", ""),
			Options{MaxMembers: 2},
			"holds 3 files; the limit is 2",
		},
		{"opendocument", "a.odt", zipped(t, "content.xml", "<x/>"), Options{}, "OpenDocument file; save it as .docx"},
		{
			"no slides", "a.pptx",
			zipped(t, "ppt/presentation.xml",
				`<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"/>`),
			Options{},
			"holds no slides",
		},
		{"no sheets", "a.xlsx", zipped(t, "xl/workbook.xml", workbookXML), Options{}, "holds no sheets"},
		{"damaged sheet", "a.xlsx", bookWith(t, "<row><c>"), Options{}, "part xl/s.xml is damaged"},
		{"binary workbook", "a.xlsb", zipped(t, "xl/workbook.bin", ""), Options{}, "save it as .xlsx"},
		{
			"drm", "a.epub", zipped(t, "META-INF/container.xml", "<c/>", "META-INF/encryption.xml",
				`<e><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/></e>`),
			Options{},
			"digital rights",
		},
		{
			"no package", "a.epub", zipped(t, "META-INF/container.xml", `<c><rootfile full-path="../../x.opf"/></c>`),
			Options{},
			"list of chapters is missing",
		},
		{"no chapters", "a.epub", zipped(t, "META-INF/container.xml", `<c><rootfile full-path="x.opf"/></c>`,
			"x.opf", "<package/>"), Options{}, "without a readable chapter"},
		{
			"old word", "a.doc",
			[]byte(oleMagic + "......W\x00o\x00r\x00d\x00D\x00o\x00c\x00u\x00m\x00e\x00n\x00t\x00"),
			Options{},
			"save it as .docx",
		},
		{
			"old excel", "a.xls", []byte(oleMagic + "W\x00o\x00r\x00k\x00b\x00o\x00o\x00k\x00"),
			Options{},
			"save it as .xlsx",
		},
		{
			"encrypted", "a.docx",
			[]byte(oleMagic + "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"),
			Options{},
			"protected by a password",
		},
		{"rich text of another name", "a.doc", []byte(`{\rtf1 x}`), Options{}, "is RTF; save it as .docx"},
		{"rich text", "a.rtf", []byte(`{\rtf1 x}`), Options{}, "is RTF; save it as .docx"},
		{
			"a presentation of OpenDocument named as an archive", "talk.zip",
			typedZip(t, "application/vnd.oasis.opendocument.presentation", "content.xml"),
			Options{},
			"is an OpenDocument file",
		},
	} {
		_, err := readOne(t, x.file, x.data, x.opts)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
}

// TestTextOfPart stops at a part with endless text.
func TestTextOfPart(t *testing.T) {
	s := newXMLScanner(t.Context(), io.NopCloser(strings.NewReader("<a><b>12345</b></a>")), "x.xml")
	s.texts = maxPartText - 3
	if text, err := s.text(); err == nil || !strings.Contains(err.Error(),
		"part x.xml holds more than 67108864 bytes of text") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestMalformedDocuments reads malformed documents that are still readable.
func TestMalformedDocuments(t *testing.T) {
	rel := func(target, more string) string {
		return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship ` +
			`Id="a" Type="x/officeDocument" Target="` + target + `"` + more + `/></Relationships>`
	}
	numbered := func(id string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="99"/><w:numId w:val="` +
			id + `"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>`
	}
	for _, x := range []struct {
		name, file string
		data       []byte
		want       string
	}{
		{"damaged styles", "a.docx", wordWith(t, para, "word/styles.xml", "<s>", "word/numbering.xml", "&"), "text\n"},
		{
			"main part outside", "a.docx",
			wordWith(t, para, "_rels/.rels", rel("https://example.org/document.xml", ` TargetMode="External"`)),
			"text\n",
		},
		{
			"main part above", "a.docx", wordWith(t, para, "_rels/.rels", rel("../../../word/document.xml", "")),
			"text\n",
		},
		{"main part in a loop", "a.docx", wordWith(t, para, "_rels/.rels", rel("_rels/.rels", "")), ""},
		{"two parts of a name", "a.docx", wordWith(t, para, "word/document.xml", wordOpen+wordClose), "text\n"},
		{"another case", "a.docx", zipped(t, `Word\Document.XML`, wordOpen+para+wordClose), "text\n"},
		{"under another extension", "a.xlsx", wordWith(t, para), "text\n"},
		{
			"absurd list", "a.docx", wordWith(t, numbered("7")+numbered("-1")+numbered("9999999999999999999")),
			"- x\n\nx\n\nx\n",
		},
		{
			"absurd span", "a.docx",
			wordWith(t, `<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan `+
				`w:val="2000000000"/></w:tcPr>`+para+`</w:tc><w:tc>`+para+`</w:tc></w:tr></w:tbl>`), "text\n",
		},
		{
			"styles in a ring", "a.docx",
			wordWith(t, `<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>`, "word/styles.xml",
				`<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style `+
					`w:styleId="a"><w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn `+
					`w:val="a"/></w:style></w:styles>`), "x\n",
		},
		{
			"end of a field that never began", "a.docx",
			wordWith(t, `<w:p><w:r><w:fldChar w:fldCharType="end"/><w:fldChar `+
				`w:fldCharType="separate"/><w:t>x</w:t></w:r></w:p>`), "x\n",
		},
		{
			"signs of no text", "a.docx", wordWith(t, "<w:p><w:r><w:t>a\u200bb\u00adc\u00a0d\ufeff</w:t></w:r></w:p>"),
			"abc d\n",
		},
		{
			"cells out of order", "a.xlsx",
			bookWith(t, `<row r="5"><c r="C5"><v>3</v></c><c r="A5"><v>1</v></c></row><row r="2"><c `+
				`r="ZZZ2"><v>9</v></c><c r="!"><v>8</v></c></row>`),
			"## S\n\n| | | | |\n|---|---|---|---|\n| 1 | 3 |\n| | | 9 | 8 |\n",
		},
		{
			"absurd numbers", "a.xlsx",
			bookWith(t, `<row r="99999999999"><c t="s"><v>-5</v></c><c `+
				`s="77"><v>1e999</v></c><c><v>1e300</v></c><c><v>NaN</v></c></row>`),
			"## S\n\n| | | |\n|---|---|---|\n| 1e999 | 1E+300 | NaN |\n",
		},
	} {
		got, err := readOne(t, x.file, x.data, Options{})
		if x.want == "" {
			if err == nil {
				t.Errorf("%s: no error, but %q", x.name, got.Text)
			}
			continue
		}
		if err != nil || got.Text != x.want {
			t.Errorf("%s: %q, %v", x.name, got.Text, err)
		}
	}
}

// TestSheetsAreCut cuts workbooks at the limits of rows, cells and text.
func TestSheetsAreCut(t *testing.T) {
	rows := func(n, cells int) string {
		return strings.Repeat("<row>"+strings.Repeat("<c><v>1</v></c>", cells)+"</row>", n)
	}
	last := func(x Text) string {
		lines := strings.Split(strings.TrimSpace(x.Text), "\n")
		return lines[len(lines)-1]
	}
	read := func(o Options, parts []byte) Text {
		t.Helper()
		o = o.withDefaults()
		p, err := openParts(parts, o)
		if err != nil {
			t.Fatal(err)
		}
		x, err := readWorkbook(t.Context(), p, "xl/workbook.xml", o, sheetLimits{rows: 100, cells: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := read(Options{}, bookWith(t, rows(105, 2)))
	if strings.Count(x.Text, "\n| 1 |") != 100 ||
		last(x) != "[The rows after row 100 are left out, because the text would be too long.]" {
		t.Errorf("rows: %d bytes, %q", len(x.Text), last(x))
	}
	x = read(Options{}, bookWith(t, rows(50, 50), "xl/t.xml", sheetOpen+rows(1, 2)+sheetClose))
	if !strings.Contains(x.Text, "[The rows after row 20 are left out") ||
		last(x) != "[Left out, because the text would be too long, are the sheets T.]" {
		t.Errorf("cells: %d bytes, %q", len(x.Text), last(x))
	}
	x = read(Options{MaxText: 1000}, bookWith(t, rows(90, 5)))
	if len(x.Text) > 1000 || !strings.Contains(x.Text, "[The rows after row ") {
		t.Errorf("text: %d bytes, %q", len(x.Text), last(x))
	}
}

// TestDocumentsStop stops the reading at the end of the context and at the timeout.
func TestDocumentsStop(t *testing.T) {
	data := wordWith(t, strings.Repeat(para, 50_000))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for x, err := range Read(ctx, File{Name: "a.docx", Data: data}, Options{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%q, %v", x.Text, err)
		}
	}
	if _, err := readOne(t, "a.docx", data, Options{Timeout: time.Nanosecond}); err == nil ||
		!strings.Contains(err.Error(), "takes longer than 1ns") {
		t.Error(err)
	}
}

// TestMutatedDocuments damages documents at random, in the archive and in its parts. The result is a
// text or an error with a reason.
func TestMutatedDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"handbook.docx", "results.pptx", "orders.xlsx", "lighthouse.epub"} {
		data, err := os.ReadFile(filepath.Join("testdata", "office", name))
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			mutate(t, name, corrupt(r, data))
			mutate(t, name, corruptPart(t, r, data))
		}
	}
}

// corrupt overwrites, removes or repeats some bytes.
func corrupt(r *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	for range 1 + r.IntN(8) {
		if len(data) == 0 {
			break
		}
		at, n := r.IntN(len(data)), r.IntN(40)
		end := min(at+n, len(data))
		switch r.IntN(3) {
		case 0:
			data[at] = byte(r.Uint32())
		case 1:
			data = append(data[:at:at], data[end:]...)
		default:
			data = append(data[:end:end], data[at:]...)
		}
	}
	return data
}

// corruptPart damages one part of an archive.
func corruptPart(t *testing.T, r *rand.Rand, data []byte) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	victim := r.IntN(len(z.File))
	for i, f := range z.File {
		rc, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(rc); err != nil {
			t.Fatal(err)
		}
		body := b.Bytes()
		if i == victim && len(body) > 0 {
			body = corrupt(r, body)
		}
		parts = append(parts, f.Name, string(body))
	}
	return zipped(t, parts...)
}

func mutate(t *testing.T, name string, data []byte) {
	t.Helper()
	for x, err := range Read(t.Context(), File{Name: name, Data: data}, Options{MaxExpand: 8 << 20, MaxText: 1 << 20}) {
		if err != nil && strings.Contains(err.Error(), "kind that cannot be read (") {
			t.Errorf("%s: %v", name, err) // a panic
		}
		if !utf8.ValidString(x.Text) || len(x.Text) > 1<<20 {
			t.Errorf("%s: %d bytes", name, len(x.Text))
		}
	}
}

// fuzzPart reads a package with one fuzzed part and requires a text within the limits and no panic.
func fuzzPart(t *testing.T, name string, parts ...string) {
	const limit = 1 << 18
	x := File{Name: name, Data: zipped(t, parts...)}
	text, err := readOffice(t.Context(), x, Options{MaxText: limit, MaxExpand: 1 << 20}.withDefaults())
	if err != nil {
		return
	}
	if len(text.Text) > limit || !utf8.ValidString(text.Text) {
		t.Fatalf("%d bytes", len(text.Text))
	}
	for i, c := range text.Text {
		if c < ' ' && c != '\n' && c != '\t' && c != '\f' {
			t.Fatalf("control character %q at %d", c, i)
		}
	}
	again, err := readOffice(t.Context(), x, Options{MaxText: limit, MaxExpand: 1 << 20}.withDefaults())
	if err != nil || again.Text != text.Text {
		t.Fatalf("another text the second time: %v", err)
	}
}

// seeds adds all parts of the corpus whose names have a suffix.
func seeds(f *testing.F, pattern, suffix string) {
	files, err := filepath.Glob(filepath.Join("testdata", "office", pattern))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		for _, part := range archived(f, file) {
			if strings.HasSuffix(part.Name, suffix) {
				f.Add(string(part.Data))
			}
		}
	}
}

func FuzzDOCX(f *testing.F) {
	seeds(f, "*.docx.txtar", "word/document.xml")
	support := supporting(f, "word.docx.txtar", "word/document.xml")
	f.Fuzz(func(t *testing.T, body string) {
		fuzzPart(t, "a.docx", append([]string{"word/document.xml", body}, support...)...)
	})
}

func FuzzPPTX(f *testing.F) {
	seeds(f, "*.pptx.txtar", "slides/slide1.xml")
	support := supporting(f, "deck.pptx.txtar", "ppt/slides/slide1.xml")
	f.Fuzz(func(t *testing.T, slide string) {
		fuzzPart(t, "a.pptx", append([]string{"ppt/slides/slide1.xml", slide}, support...)...)
	})
}

func FuzzXLSX(f *testing.F) {
	files := archived(f, filepath.Join("testdata", "office", "ledger.xlsx.txtar"))
	format := "yyyy-mm-dd [h]:mm AM/PM;#,##0.00_)%"
	for _, part := range files {
		if strings.HasSuffix(part.Name, "sheet1.xml") {
			f.Add(string(part.Data), format, 1.5)
			f.Add(string(part.Data), `[$€-407] 000\-00\-0000;0.0E+00;"zero";@`, -44200.6)
		}
	}
	support := supporting(f, "ledger.xlsx.txtar", "xl/worksheets/sheet1.xml")
	f.Fuzz(func(t *testing.T, sheet, format string, value float64) {
		fuzzPart(t, "a.xlsx", append([]string{"xl/worksheets/sheet1.xml", sheet}, support...)...)
		if got := parseFormat(format).format(value, false); len(got) > 4*maxFormat+1000 {
			t.Fatalf("%q of %v: %d bytes", format, value, len(got))
		}
	})
}

func FuzzEPUB(f *testing.F) {
	seeds(f, "*.epub.txtar", "content.opf")
	support := supporting(f, "old.epub.txtar", "OEBPS/content.opf")
	f.Fuzz(func(t *testing.T, opf string) {
		fuzzPart(t, "a.epub", append([]string{"OEBPS/content.opf", opf}, support...)...)
	})
}

func BenchmarkDOCX(b *testing.B) {
	var body strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&body,
			`<w:p><w:pPr><w:pStyle w:val="Normal"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t `+
				`xml:space="preserve">Paragraph %d </w:t></w:r><w:r><w:t>goes on with some more `+
				`words.</w:t></w:r></w:p>`, i)
	}
	data := wordWith(b, body.String())
	b.SetBytes(int64(body.Len()))
	for b.Loop() {
		if _, err := readOne(b, "a.docx", data, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
