package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjects(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want any
	}{
		{"12", 12},
		{"-.5", -.5},
		{"--5", -5.0},
		{"4.", 4.0},
		{"true", true},
		{"null", nil},
		{"/A#20b#", name("A b#")},
		{"(a(b)\\)\\101\\n\\\nc)", text("a(b))A\nc")},
		{"(open", text("open")},
		{"<48 65 6>", text("He\x60")},
		{"[1 2 R 3 0 R /A]", array{ref{1, 2}, ref{3, 0}, name("A")}},
		{"<</A 1 0 R/B[2]/C/D /E<</F 1>>>>", dict{"A": ref{1, 0}, "B": array{2}, "C": name("D"), "E": dict{"F": 1}}},
		{"<</A 1 endobj", dict{"A": 1}},
		{"% comment\n7", 7},
		{"", endOfData},
	} {
		got := (&lexer{b: []byte(tt.in)}).object()
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %#v, want %#v", tt.in, got, tt.want)
		}
	}
}

func newFile() *file {
	f, _ := open(context.Background(), []byte("%PDF-1.4\n"), 1<<20)
	return f
}

func TestFilters(t *testing.T) {
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	w.Write([]byte("\x02abc\x02\x01\x01\x01"))
	w.Close()
	for _, tt := range []struct{ name, filter, param, in, want string }{
		{"none", "", "", "as it is", "as it is"},
		{"hex", "/ASCIIHexDecode", "", "48 65 6C6c 6F>", "Hello"},
		{"base 85", "/ASCII85Decode", "", "<~87cURDZ~>", "Hello"},
		{"runs", "/RunLengthDecode", "", "\x02abc\xfe-\x80x", "abc---"},
		{"rows", "/FlateDecode", "<</Predictor 12/Columns 3>>", deflated.String(), "abcbcd"},
		{"cut off", "/FlateDecode", "", deflated.String()[:8], "\x02abc\x02"},
		{"chain", "[/ASCIIHexDecode /RunLengthDecode]", "", "02 61 62 63 80>", "abc"},
		// The example of ISO 32000-1 §7.4.4.2.
		{"codes", "/LZWDecode", "", "\x80\x0B\x60\x50\x22\x0C\x0C\x85\x01", "-----A---B"},
		{"an image", "/DCTDecode", "", "jpeg", ""},
	} {
		f := newFile()
		d := dict{
			"Filter":      (&lexer{b: []byte(tt.filter)}).object(),
			"DecodeParms": (&lexer{b: []byte(tt.param)}).object(),
		}
		if tt.filter == "" {
			d = dict{}
		}
		if got := f.decode(stream{dict: d, raw: []byte(tt.in)}); string(got) != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestLongLZW covers all code widths with an encoder that emits only literals.
func TestLongLZW(t *testing.T) {
	want := bytes.Repeat([]byte("never the same twice, "), 400)
	var bits strings.Builder
	fmt.Fprintf(&bits, "%09b", 256)
	for i, c := range want {
		width := 9
		for _, limit := range []int{511, 1023, 2047} {
			width += b2i(258+max(0, i-1) >= limit) // entries that the decoder has so far
		}
		fmt.Fprintf(&bits, "%0*b", width, c)
	}
	var packed []byte
	s := bits.String()
	for ; len(s) >= 8; s = s[8:] {
		var b byte
		fmt.Sscanf(s[:8], "%b", &b)
		packed = append(packed, b)
	}
	got := newFile().decodeLZW(packed, 1)
	if !bytes.HasPrefix(want, got) || len(got) < len(want)-1 {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestPNG(t *testing.T) {
	for kind, want := range []string{"05060708", "05060c0e", "06080a0c", "05070b0d", "06080d10"} {
		// One byte before each row; pixels of two bytes, rows of four.
		got := undoPNG([]byte{0, 1, 2, 3, 4, byte(kind), 5, 6, 7, 8}, 4, 2)
		if hex.EncodeToString(got) != "01020304"+want {
			t.Errorf("%d: %x, want %s", kind, got, want)
		}
	}
	for _, tt := range [][4]byte{{10, 20, 10, 20}, {20, 10, 10, 20}, {1, 2, 3, 1}, {9, 9, 9, 9}, {0, 255, 128, 128}} {
		if got := paeth(tt[0], tt[1], tt[2]); got != tt[3] {
			t.Errorf("paeth(%d, %d, %d) = %d, want %d", tt[0], tt[1], tt[2], got, tt[3])
		}
	}
}

func TestCMap(t *testing.T) {
	m := parseCMap([]byte(`/CIDInit /ProcSet findresource begin 12 dict begin begincmap
1 begincodespacerange <0000> <FFFF> endcodespacerange
2 beginbfchar <0003> <0020> <0004> <00660066> endbfchar
2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0058> <D83DDE00>] endbfrange
endcmap`))
	for c, want := range map[text]string{
		"\x00\x03": " ", "\x00\x04": "ff", "\x00\x10": "A", "\x00\x12": "C", "\x00\x21": "😀", "\x00\x99": "",
	} {
		if got := m.chars(m.next(c + "\x00")); got != want {
			t.Errorf("%x: %q, want %q", c, got, want)
		}
	}
}

func TestGlyphNames(t *testing.T) {
	table := glyphTable()
	for n, want := range map[name]string{
		"A": "A", "space": " ", "bar": "|", "eacute": "é", "Scaron": "Š", "uni00E9": "é", "uni00660069": "fi",
		"u1F600": "😀", "a.sc": "a",
		"f_i": "ﬁ", "T_h": "Th", "afii10065": "а", "afii10097": "я", "sfthyphen": "\u00AD", "g123": "",
		".notdef": "", "uniZZZZ": "", "quoteright": "’",
	} {
		if got := glyphChar(table, n); got != want {
			t.Errorf("%s: %q, want %q", n, got, want)
		}
	}
}

func TestEncodings(t *testing.T) {
	for _, tt := range []struct {
		encoding name
		c        byte
		want     string
	}{
		{"", '\'', "’"},
		{"", 0xA1, "¡"},
		{"", 0xAE, "ﬁ"},
		{"", 0xB7, "•"},
		{"", 0xD0, "—"},
		{"", 0xE1, "Æ"},
		{"", 0xFB, "ß"},
		{"WinAnsiEncoding", 0x80, "€"},
		{"WinAnsiEncoding", 0x95, "•"},
		{"MacRomanEncoding", 0x8A, "ä"},
		{"Symbol", 'a', "α"},
		{"Symbol", 0xA5, "∞"},
		{"Symbol", 0xAE, "→"},
		{"Symbol", 0xE5, "∑"},
		{"ZapfDingbats", 'l', "•"},
	} {
		if got := encodingChar(tt.encoding, tt.c); got != tt.want {
			t.Errorf("%s %x: %q, want %q", tt.encoding, tt.c, got, tt.want)
		}
	}
	for in, want := range map[text]string{
		"plain": "plain", "\xFE\xFF\x00G\x00r\x00\xF6": "Grö", "\xFF\xFEG\x00": "G", "\xEF\xBB\xBFé": "é",
		"\x84\xA0": "—€", "tab\t": "tab ",
	} {
		if got := textString(in); got != want {
			t.Errorf("%x: %q, want %q", in, got, want)
		}
	}
}

// TestPlaces checks the glyph positions under translation, scaling and rotation.
func TestPlaces(t *testing.T) {
	content := "2 0 0 2 10 10 cm BT /F 5 Tf 1 Tc 2 Tw 50 Tz 3 Ts 7 TL 100 200 Td (A B) Tj T* [(C) -1000 (D)] TJ ET"
	data := "%PDF-1.4\n1 0 obj<</Pages 2 0 R/Type/Catalog>>endobj 2 0 obj<</Kids[3 0 R]>>endobj\n" +
		"3 0 obj<</Contents 4 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F<</Subtype/Type1/BaseFont/Courier>>>>>>>>endobj\n" +
		"4 0 obj<</Length 1>>stream\n" + content + "\nendstream endobj"
	var got []string
	_, err := Read(t.Context(), []byte(data), Limits{MaxExpand: 1 << 20, MaxPages: 1, MaxGlyphs: 100},
		func(_ int, p *Page) error {
			for _, g := range p.Glyphs {
				got = append(got, fmt.Sprintf("%s %.1f %.1f %.1f %.1f", g.S, g.X, g.Y, g.W, g.Size))
			}
			return nil
		})
	want := []string{
		"A 210.0 416.0 4.0 10.0", "  214.0 416.0 4.0 10.0", "B 220.0 416.0 4.0 10.0",
		"C 210.0 402.0 4.0 10.0", "D 219.0 402.0 4.0 10.0",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj 3 0 " +
		"obj<</Contents 4 0 R>>endobj " +
		"4 0 obj<</Length 5>>stream\nBT (x) Tj BI ID \x00 EI\nendstream"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := Read(t.Context(), data, Limits{MaxExpand: 1 << 22, MaxPages: 10, MaxGlyphs: 1000},
			func(_ int, p *Page) error {
				for _, g := range p.Glyphs {
					if math.IsNaN(g.X+g.Y+g.W+g.Size) || math.IsInf(g.X+g.Y+g.W+g.Size, 0) || g.W < 0 {
						t.Errorf("%+v", g)
					}
				}
				return nil
			})
		if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Error(err)
		}
	})
}

// FuzzContent interprets arbitrary operators.
func FuzzContent(f *testing.F) {
	f.Add("q 1 0 0 1 0 0 cm BT /F 1 Tf [(a) 2 <62>] TJ ET Q BI /W 1 ID xx EI /X Do /Span <</ActualText (b)>> BDC EMC")
	f.Fuzz(func(t *testing.T, content string) {
		fl := newFile()
		fl.budget = 1 << 22
		resources := dict{"Font": dict{"F": dict{"Subtype": name("Type1"), "BaseFont": name("Times-Roman")}}}
		p := &Page{}
		func() {
			var err error
			defer func() {
				if err != nil && strings.Contains(err.Error(), "damaged") {
					t.Error(err)
				}
			}()
			defer recoverError(&err)
			in := interpreter{f: fl, page: p, resources: resources, maxGlyphs: 1000, inlineFonts: make(map[name]*font)}
			in.state = state{ctm: identity, horizScale: 1}
			in.tm, in.tlm = identity, identity
			in.run([]byte(content))
		}()
	})
}
