package extract

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var updatePDF = flag.Bool("update-pdf", false, "rewrite the texts in testdata/pdf")

// onePDF reads a PDF that must yield exactly one text or error.
func onePDF(t *testing.T, data []byte, o Options) (Text, error) {
	t.Helper()
	var texts []Text
	var errs []error
	for x, err := range Read(t.Context(), File{Name: "a.pdf", Data: data}, o) {
		texts, errs = append(texts, x), append(errs, err)
	}
	if len(texts) != 1 {
		t.Fatalf("%d results", len(texts))
	}
	return texts[0], errs[0]
}

// TestPDFGolden compares with golden files that a person checked.
func TestPDFGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/pdf/*.pdf")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			x, readErr := onePDF(t, data, Options{})
			got := fmt.Sprintf("title: %s\nauthor: %v\npages: %v\nerror: %v\n\n%s", x.Title, x.Metadata[MetaAuthor],
				x.Metadata[MetaPages],
				readErr, strings.ReplaceAll(x.Text, "\f", "<<page>>\n"))
			golden := strings.TrimSuffix(name, ".pdf") + ".md"
			if *updatePDF {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// pdfOf makes a file with a page for each content stream and three fonts: F1 Helvetica,
// F2 Courier, F3 Helvetica-Bold.
func pdfOf(pages ...string) []byte {
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", ""}
	font := func(name string) string {
		return "<</Type/Font/Subtype/Type1/Encoding/WinAnsiEncoding/BaseFont/" + name + ">>"
	}
	objects = append(objects, "<</Font<</F1 4 0 R/F2 5 0 R/F3 6 0 R>>>>", font("Helvetica"), font("Courier"),
		font("Helvetica-Bold"))
	var kids []string
	for _, content := range pages {
		n := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/Resources 3 0 R/MediaBox[0 0 600 800]/Contents %d 0 R>>", n+1),
			fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), strings.Join(kids, " "))
	return pdfObjects(objects...)
}

// pdfObjects makes a file of numbered objects, the first of which is the catalog.
func pdfObjects(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// lines draws lines at 10 points, 12 apart, from a height downwards.
func lines(top int, text ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "BT /F1 10 Tf 12 TL 1 0 0 1 72 %d Tm ", top)
	for _, s := range text {
		fmt.Fprintf(&b, "(%s) Tj T* ", s)
	}
	return b.String() + "ET\n"
}

func TestPDFLayout(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{
			"words by gaps",
			"BT /F1 10 Tf 72 700 Td [(No)-300(space)-300(is)-300(dra)10(wn)-300(in)-300(the)-300(file)]TJ ET",
			"No space is drawn in the file\n",
		},
		{"words by spaces", lines(700, "Spaces are drawn in the file"), "Spaces are drawn in the file\n"},
		{
			"each word placed", "BT /F1 10 Tf 72 700 Td (Each) Tj 26 0 Td (word) Tj 26 0 Td (alone) Tj ET",
			"Each word alone\n",
		},
		{
			"letters set apart", "BT /F1 10 Tf 4 Tc 72 700 Td (TITLE) Tj ET", "TITLE\n",
		},
		{
			"drawn twice", "BT /F1 10 Tf 72 700 Td (Bold) Tj ET BT /F1 10 Tf 72.3 700 Td (Bold) Tj ET", "Bold\n",
		},
		{
			"hyphens", lines(700, "The engineers of the time measured every sub-",
				"stance, each well-known, and wrote well-",
				"known figures into one large and heavy book-", "let of the Upper-",
				"Austrian office of weights, lengths and meas-", "ures."),
			"The engineers of the time measured every substance, each well-known, and wrote well-known figures " +
				"into one large " +
				"and heavy booklet of the Upper-Austrian office of weights, lengths and measures.\n",
		},
		{
			"paragraphs", lines(700, "The first paragraph has two lines of text that are", "joined into one.") +
				lines(664, "The second one follows after a gap."),
			"The first paragraph has two lines of text that are joined into one.\n\nThe second one follows after a " +
				"gap.\n",
		},
		{
			"heading", "BT /F1 18 Tf 72 740 Td (A Large Title) Tj ET " +
				lines(700, "Text of the usual size, which is most of the text.",
					"Some more of the usual text to be read.") +
				"BT /F3 10 Tf 72 660 Td (1.2 Bold with a Number) Tj ET " + lines(640, "More text of the usual size."),
			"# A Large Title\n\nText of the usual size, which is most of the text. Some more of the usual text to " +
				"be read.\n\n" +
				"## 1.2 Bold with a Number\n\nMore text of the usual size.\n",
		},
		{
			"code", lines(700, "Text before the code, long enough to be the most of all text here.",
				"And more of it that is in the usual font.") +
				"BT /F2 10 Tf 12 TL 72 660 Td (if x {) Tj T* (    y\\(\\)) Tj T* (}) Tj ET",
			"Text before the code, long enough to be the most of all text here. And more of it that is in the " +
				"usual font.\n\n```\nif x {\n    y()\n}\n```\n",
		},
		{
			"list", lines(700, "\\225 one",
				"\\225 two goes on in a second line that is joined with it as one text, of", "course", "\\225 three"),
			"- one\n- two goes on in a second line that is joined with it as one text, of course\n- three\n",
		},
		{"not markup", lines(700, "# no heading"), "\\# no heading\n"},
		{
			"exponent", "BT /F1 10 Tf 72 700 Td (10) Tj 6 Tf /F1 6 Tf 4 Ts (3) Tj 0 Ts /F1 10 Tf ( m of H) Tj /F1 " +
				"6 Tf -2 Ts (2) Tj 0 Ts /F1 10 Tf (O) Tj ET",
			"10³ m of H2O\n",
		},
		{"accents", "BT /F1 10 Tf 72 700 Td (caf) Tj (\\264) Tj -3.33 0 Td 15.56 0 Td (e) Tj ET", "café\n"},
		{
			"contents", lines(700, "1 Beginning . . . . . . . . . 3", "2 End . . . . . . . . . . . . . 14"),
			"1 Beginning … 3\n2 End … 14\n",
		},
		{
			"table", "BT /F1 10 Tf 72 700 Td (Name) Tj 100 0 Td (Size) Tj -100 -12 Td (alpha) Tj 100 0 Td (12) Tj " +
				"ET", "Name   Size\nalpha   12\n",
		},
		{"turned", "BT /F1 10 Tf 0 1 -1 0 300 100 Tm (Upwards along the edge) Tj ET", "Upwards along the edge\n"},
		{"off the page", "BT /F1 10 Tf 72 2000 Td (Nobody sees it) Tj ET " + lines(700, "Seen"), "Seen\n"},
		{
			"what it means", "BT /F1 10 Tf 72 700 Td /Span <</ActualText (Actual)>> BDC (Akt) Tj EMC ( text) Tj ET",
			"Actual text\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := onePDF(t, pdfOf(tt.content), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Text); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// bomb returns a content stream that unpacks to n zeros.
func bomb(n int) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(bytes.Repeat([]byte(" "), n))
	w.Close()
	return fmt.Sprintf("<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream", b.Len(), b.String())
}

// TestPDFHostile reads files made to exhaust a reader. Each ends quickly, with an error or the
// readable text.
func TestPDFHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	page := "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>"
	content := "<</Length 0>>stream\n\nendstream"
	form := "<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<</XObject<</F 4 0 R>>>>/Length 60>>stream\n" +
		strings.Repeat("/F Do ", 10) + "\nendstream"
	for _, tt := range []struct {
		name   string
		data   []byte
		reason string // "" accepts any result
	}{
		{"not at all", []byte("%PDF-1.4\nnothing"), "not a PDF"},
		{
			"a page tree that is its own child",
			pdfObjects("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"), "not a PDF",
		},
		{"a page tree that never ends", pdfObjects("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]>>",
			"<</Type/Pages/Kids[2 0 R]>>"), "not a PDF"},
		{
			"pages that are one",
			pdfObjects("<</Type/Catalog/Pages 2 0 R>>",
				"<</Type/Pages/Kids["+strings.Repeat("3 0 R ", 1e5)+"]>>", page, content), "no text",
		},
		{
			"pages that are more than one",
			pdfObjects("<</Type/Catalog/Pages 2 0 R>>",
				"<</Type/Pages/Kids["+strings.Repeat("<<>>", maxPDFPages+1)+"]>>"), "more than",
		},
		{
			"a bomb", pdfObjects("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]>>", page, bomb(32<<20)),
			"unpacks to more",
		},
		{"forms in forms", pdfObjects("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]>>",
			"<</Type/Page/Contents 4 0 R/Resources<</XObject<</F 4 0 R>>>>>>", form), "unpacks to more"},
		{"arrays in arrays", pdfObjects("<</Type/Catalog/Pages 2 0 R>>", strings.Repeat("[", 1e6)), ""},
		{"dictionaries in dictionaries", pdfObjects("<</Type/Catalog/Pages 2 0 R>>", strings.Repeat("<</A", 1e6)), ""},
		{"a length that is itself", pdfObjects("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]>>", page,
			"<</Length 4 0 R>>stream\nBT ET\nendstream"), "no text"},
		{"a reference to itself", pdfObjects("<</Type/Catalog/Pages 2 0 R>>", "2 0 R"), "not a PDF"},
		{
			"a chain of tables", []byte("%PDF-1.4\nxref\n0 0\ntrailer\n<</Prev 9/Root 1 0 R>>\nstartxref\n9\n%%EOF"),
			"not a PDF",
		},
		{"a table of many", []byte("%PDF-1.4\nxref\n0 999999999999\ntrailer\n<<>>\nstartxref\n9\n%%EOF"), "not a PDF"},
		{"objects without ends", []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj<<(", 1e5)), ""},
		{"strings without ends", []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj(", 1e5)), ""},
		{"streams without ends", []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj<</Type/ObjStm>>stream\n", 1e5)), ""},
		{"fonts of all fonts", pdfOf(strings.Repeat("/F1 10 Tf /F9 10 Tf ", 1e5)), "no text"},
		{
			"many letters",
			pdfOf("BT /F1 10 Tf " + strings.Repeat("1 0 0 1 72 700 Tm ("+strings.Repeat("x", 100)+") Tj ",
				maxPDFGlyphs/100+1) + "ET"), "unpacks to more",
		},
		{"states", pdfOf(strings.Repeat("q ", 1e6) + lines(700, "text")), ""},
		{"many columns", pdfOf(scattered(50_000)), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			x, err := onePDF(t, tt.data, Options{MaxExpand: 16 << 20, Timeout: 2 * time.Minute})
			if tt.reason != "" && (err == nil || !strings.Contains(err.Error(), tt.reason)) {
				t.Errorf("got %v, want %q", err, tt.reason)
			}
			if !utf8.ValidString(x.Text) {
				t.Error("the text is not UTF-8")
			}
			t.Log(time.Since(start), err)
		})
	}
}

// scattered draws n single letters all over a page.
func scattered(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("BT /F1 3 Tf ")
	for range n {
		fmt.Fprintf(&b, "1 0 0 1 %d %d Tm (x) Tj ", r.IntN(600), r.IntN(800))
	}
	return b.String() + "ET"
}

// TestPDFDamaged reads files that are truncated or changed anywhere. They yield the readable text or a
// reason.
func TestPDFDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	read := 0
	for _, name := range []string{"article", "objstm", "unicode", "aes256"} {
		data, err := os.ReadFile("testdata/pdf/" + name + ".pdf")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			damaged := bytes.Clone(data)
			if i%3 == 0 {
				damaged = damaged[:r.IntN(len(damaged))]
			}
			for range i % 8 {
				if len(damaged) > 0 {
					damaged[r.IntN(len(damaged))] = byte(r.Uint32())
				}
			}
			for x, err := range Read(t.Context(), File{Name: "a.pdf", Data: damaged}, Options{MaxExpand: 16 << 20}) {
				if !utf8.ValidString(x.Text) || err != nil && strings.Contains(err.Error(), "runtime error") {
					t.Errorf("%s %d: %v", name, i, err)
				}
				read += b2i(err == nil)
			}
		}
	}
	if read < 100 {
		t.Errorf("only %d of 240 damaged files gave text", read)
	}
}

// TestPDFRebuilt reads a file without cross-references like the original.
func TestPDFRebuilt(t *testing.T) {
	for _, name := range []string{"article", "objstm", "aes256"} {
		data, err := os.ReadFile("testdata/pdf/" + name + ".pdf")
		if err != nil {
			t.Fatal(err)
		}
		want, err := onePDF(t, data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := onePDF(t, bytes.ReplaceAll(data, []byte("startxref"), []byte("stortxref")), Options{})
		if err != nil || got.Text != want.Text {
			t.Errorf("%s: %q, %v", name, got.Text, err)
		}
	}
}

func TestPDFLimits(t *testing.T) {
	data := pdfOf(lines(700, strings.Repeat("many words ", 100)))
	if _, err := onePDF(t, data, Options{MaxText: 100}); err == nil || !strings.Contains(err.Error(), "100 bytes") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range Read(ctx, File{Name: "a.pdf", Data: data}, Options{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

// FuzzPDF checks that the reader stays within its limits for any input, and that the text is UTF-8
// without control characters except newlines and form feeds.
func FuzzPDF(f *testing.F) {
	names, _ := filepath.Glob("testdata/pdf/*.pdf")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 4<<10 { // large inputs make the fuzzer slow
			f.Add(data)
		}
	}
	f.Add(pdfOf(lines(700, "one", "two"), lines(700, "three")))
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		x, err := readPDF(ctx, File{Name: "a.pdf", Data: data},
			Options{MaxExpand: 8 << 20, MaxText: 1 << 20}.withDefaults())
		if ctx.Err() != nil {
			t.Fatal("took too long")
		}
		if err != nil {
			return
		}
		if !utf8.ValidString(x.Text) {
			t.Error("the text is not UTF-8")
		}
		if strings.ContainsFunc(x.Text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\f' || r == 0x7F }) {
			t.Errorf("control characters in %q", x.Text)
		}
		if pages := x.Metadata[MetaPages].(int); strings.Count(x.Text, "\f") != pages-1 {
			t.Errorf("%d ends of pages on %d pages", strings.Count(x.Text, "\f"), pages)
		}
	})
}
