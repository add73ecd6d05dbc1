package extract

import (
	"context"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// charsetTexts returns texts of a corpus with their language and legacy charsets.
func charsetTexts(tb testing.TB) (texts []struct {
	lang, text string
	charsets   []string
},
) {
	b, err := os.ReadFile("testdata/charset/texts.txt")
	if err != nil {
		tb.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(b), "\n-- ")[1:] {
		head, text, _ := strings.Cut(part, " --\n")
		f := strings.Fields(head)
		texts = append(texts, struct {
			lang, text string
			charsets   []string
		}{f[0], text, f[1:]})
	}
	return texts
}

// TestGuessedCharset measures the recognition of paragraphs of 100 to 300 characters and of programs
// with a three-word comment, and requires a minimum.
func TestGuessedCharset(t *testing.T) {
	var right, all [2]int
	for _, x := range charsetTexts(t) {
		for _, cs := range x.charsets {
			e, err := htmlindex.Get(cs)
			if err != nil {
				t.Fatal(err)
			}
			words := strings.Join(strings.Fields(x.text)[:2], " ")
			if r := []rune(words); len(r) > 24 {
				words = string(r[:24])
			}
			code := "#include <stdio.h>\n/* " + words + " */\nint main(void) {\n\tprintf(\"%d\\n\", 1);\n}\n"
			for kind, text := range []string{x.text, code} {
				enc, err := e.NewEncoder().String(text)
				if err != nil {
					t.Fatal(x.lang, cs, err)
				}
				got, charset, err := decodeText([]byte(enc), "")
				all[kind]++
				if err == nil && got == text {
					right[kind]++
				} else {
					t.Logf("%s in %s, kind %d: taken for %s (%v)", x.lang, cs, kind, charset, err)
				}
			}
		}
	}
	t.Logf("paragraphs %d of %d, programs %d of %d", right[0], all[0], right[1], all[1])
	if right[0] < all[0] || right[1]*100 < all[1]*60 {
		t.Error("fewer charsets are recognised than were")
	}
}

// TestDeclaredCharset decodes texts that are too short or too ambiguous for statistics.
func TestDeclaredCharset(t *testing.T) {
	enc := func(cs, s string) string {
		e, err := htmlindex.Get(cs)
		if err != nil {
			t.Fatal(err)
		}
		s, err = e.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	utf16le := func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			b.WriteByte(byte(u))
			b.WriteByte(byte(u >> 8))
		}
		return b.String()
	}
	for _, x := range []struct{ name, mime, data, want, charset string }{
		{"utf-8", "", "naïve", "naïve", ""},
		{"utf-8 with a mark", "", "\ufeffnaïve", "naïve", ""},
		{"valid UTF-8 whatever is declared", "text/plain; charset=iso-8859-1", "naïve", "naïve", ""},
		{"of the type", `text/plain; charset="ISO-8859-2"`, enc("iso-8859-2", "źle"), "źle", "iso-8859-2"},
		{"of markup", "", `<meta charset="koi8-r">` + enc("koi8-r", "да"), `<meta charset="koi8-r">да`, "koi8-r"},
		{
			"of XML", "", `<?xml version="1.0" encoding="Shift_JIS"?><a>` + enc("shift_jis", "表") + "</a>",
			`<?xml version="1.0" encoding="Shift_JIS"?><a>表</a>`, "shift_jis",
		},
		{
			"cookie in the second line", "", "#!/usr/bin/python\n# -*- coding: euc-jp -*-\n# " + enc("euc-jp", "表示"),
			"#!/usr/bin/python\n# -*- coding: euc-jp -*-\n# 表示", "euc-jp",
		},
		{
			"cookie of vim", "", "/* vim: set fileencoding=iso-8859-7 : */ // " + enc("iso-8859-7", "ά"),
			"/* vim: set fileencoding=iso-8859-7 : */ // ά", "iso-8859-7",
		},
		{"unknown name", "text/plain; charset=x-nothing", "caf\xe9 \xe0 la carte", "café à la carte", "windows-1252"},
		{"utf-16 with a mark", "", "\xff\xfe" + utf16le("naïve 表"), "naïve 表", "utf-16le"},
		{"utf-16 without", "", utf16le("Server=localhost\r\n表=1\r\n"), "Server=localhost\r\n表=1\r\n", "utf-16le"},
		{"utf-32 with a mark", "", "\x00\x00\xfe\xff\x00\x00\x00a\x00\x01\xf6\x00", "a\U0001f600", "utf-32be"},
		{"utf-32 without", "", "a\x00\x00\x00b\x00\x00\x00", "ab", "utf-32le"},
		{"iso-2022-jp", "", enc("iso-2022-jp", "ファイル"), "ファイル", "iso-2022-jp"},
		{
			"damaged utf-8", "", strings.Repeat("Änderung für später. ", 100) + "\xe4",
			strings.Repeat("Änderung für später. ", 100) + "\ufffd", "",
		},
		{"empty", "", "", "", ""},
	} {
		got, charset, err := decodeText([]byte(x.data), x.mime)
		if err != nil || got != x.want || charset != x.charset {
			t.Errorf("%s: %q, %q, %v; want %q, %q", x.name, got, charset, err, x.want, x.charset)
		}
	}
}

func TestBinary(t *testing.T) {
	for _, x := range []struct{ name, data, reason string }{
		{"notes.md", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is binary (image/png)"},
		{"a.txt", "abc\x00def", "is binary"},
		{"a.txt", "\x01\x02\x03\x04\x05abc", "is binary"},
		{"cut.txt", "\xff\xfea\x00b", "is truncated UTF-16"},
		{"list.txt", strings.Repeat("hello\x00", 100), "is binary"},
	} {
		for _, err := range Read(context.Background(), File{Name: x.name, Data: []byte(x.data)}, Options{}) {
			if err == nil || !strings.Contains(err.Error(), x.reason) {
				t.Errorf("%q: %v, want %q", x.data, err, x.reason)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("caf\xe9"), "text/plain; charset=shift_jis")
	f.Add([]byte("\xff\xfea\x00"), "")
	f.Add([]byte("<?xml encoding='utf-16'?>"), "a/b")
	f.Add([]byte("\x1b$B%U\x1b(B"), "")
	f.Fuzz(func(t *testing.T, b []byte, mime string) {
		s, _, err := decodeText(b, mime)
		if err == nil && (!utf8.ValidString(s) || len(s) > 4*len(b)+16) {
			t.Fatalf("%q becomes %q", b, s)
		}
	})
}
