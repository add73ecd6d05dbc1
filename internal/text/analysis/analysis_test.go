package analysis

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const english = `The gateway retries idempotent requests with exponential backoff, and operators should be able to
configure how many attempts are made before a connection is considered failed. Melanie's children visited the museum on
8 May 2023 and painted several sunsets; running, jumping and swimming were their favourite activities that summer.
See http.Client, user_id, parseHTTPRequest and /etc/nginx/nginx.conf for the relevant configurations and limitations. `

func TestIndex(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"english", "The runners were running happily", "the runner were run happili"},
		{"possessive", "John's dog, the dogs' bowl; Zoë’s", "john dog the dog bowl zoë"},
		{"contractions", "don't we'll I'm O'Reilly rock'n'roll", "don we i o reilli rock n roll"},
		{"elision", "l'été d’accord", "l été d accord"},
		{"german", "Die Größe der STRASSEN und Häuser", "die größe der strassen und häuser"},
		{"spanish", "¿Dónde está el niño?", "dónde está el niño"},
		{"decomposed marks are composed", "cafe\u0301 E\u0301COLE", "café école"},
		{"cyrillic", "новыми книгами ёлки", "нов книг елк"},
		{"arabic", "والكتاب الكتابُ كتـاب مدرسة", "كتاب كتاب كتاب مدرس"},
		{"chinese", "机器学习", "机器 器学 学习"},
		{"one character", "水。", "水"},
		{"japanese", "データベース", "デー ータ タベ ベー ース"},
		{"half width", "ﾃﾞｰﾀ", "デー ータ"},
		{"korean", "서울에서", "서울 울에 에서"},
		{"thai", "ภาษาไทย", "ภา าษ ษา าไ ไท ทย"},
		{"thai marks stay", "กี่", "กี่"},
		{"hindi", "हिन्दी भाषा", "हिन्दी भाषा"},
		{"scripts side by side", "Go语言abc", "go 语言 abc"},
		{"greek", "ΛΌΓΟΣ λόγος", "λόγοσ λόγοσ"},
		{"full width", "ＡＢＣ１２", "abc12"},
		{"digits of other scripts", "٢٠٢٣ २०२३", "2023 2023"},
		{"soft hyphen", "data\u00adbase", "databas"},
		{"numbers", "1.5 3,000 12,345,678.90 1,2,3", "1.5 3000 12345678.90 1 2 3"},
		{"end of sentence", "It costs 5. Next, 6, then.", "it cost 5 next 6 then"},
		{"dates", "2023-05-08 10:30 5/8/2023", "2023-05-08 2023 05 08 10:30 10 30 5/8/2023 5 8 2023"},
		{"versions", "v1.25.3 1.25.3", "v1.25.3 v1 25 3 1.25.3"},
		{"snake", "user_id __init__ foo__bar", "user_id user id init foo__bar foo bar"},
		{"camel", "parseHTTPRequest iPhone userIDs HTTP2Server", "parsehttprequest pars http request iphon i phone " +
			"userid user id http2server http2 server"},
		{"dotted", "http.Client", "http.client http client"},
		{"flag", "kubectl --dry-run=client -o", "kubectl dry-run dry run client o"},
		{"path", "/etc/nginx/nginx.conf", "etc/nginx/nginx.conf etc nginx nginx.conf nginx conf"},
		{"windows path", `C:\Temp\a_b`, "c:/temp/a_b c temp a_b a b"},
		{"url", "https://a.io/x?y=1", "https://a.io/x http a.io a io x y 1"},
		{"qualified", "std::vector", "std::vector std vector"},
		{"mail", "joe@example.com", "joe@example.com joe example.com exampl com"},
		{"hyphen of its own", "well‐known", "well-known well known"},
		{"two dashes part", "word--word a -- b", "word word a b"},
		{"languages", "C++ and C# or f#, x", "c c++ and c c# or f f# x"},
		{"invalid UTF-8", "ab\xffcd", "ab cd"},
		{"nothing", " .,;!? 🙂 \x00", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, strings.Join(Index(tt.text), " ")); diff != "" {
				t.Errorf("Index(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestQuery(t *testing.T) {
	tests := []struct{ text, want string }{
		{"What does the parser do?", "parser"},
		{"Tell me about Melanie's painting", "melani paint"},
		{"to be or not to be", "to be or not"},
		{"retry, retries and retrying", "retri"},
		{"is_valid", "is_valid valid"},
		{"where is 水", "水"},
		{"", ""},
		{"?!", ""},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, strings.Join(Query(tt.text), " ")); diff != "" {
			t.Errorf("Query(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

// Variants of a word become the same term.
func TestVariantsMeet(t *testing.T) {
	for _, pair := range [][2]string{
		{"retries", "retry"},
		{"Configurations", "configured"},
		{"книга", "книги"},
		{"красивый", "красивая"},
		{"الكتاب", "كتاب"},
		{"Café", "CAFE\u0301"},
		{"parseHttpRequest", "ParseHTTPRequest"},
		{"3,000", "3000"},
		{"IDs", "ids"},
		{"--dry-run", "dry-run"},
		{`a\b`, "a/b"},
	} {
		a, b := Index(pair[0]), Index(pair[1])
		if len(a) == 0 || !slices.Equal(a, b) {
			t.Errorf("Index(%q) = %q, Index(%q) = %q", pair[0], a, pair[1], b)
		}
	}
}

func TestStem(t *testing.T) {
	for in, want := range map[string]string{"Running": "run", "книгами": "книг", "": "", "user": "user", "x86": "x86"} {
		if got := Stem(in); got != want {
			t.Errorf("Stem(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLongWords(t *testing.T) {
	for name, text := range map[string]string{
		"letters":   strings.Repeat("a", 1<<20),
		"base64":    strings.Repeat("aB3/xY+zQ", 1<<17),
		"camel":     strings.Repeat("Ab", 1<<19),
		"dots":      strings.Repeat("a.", 1<<19),
		"mixed":     strings.Repeat("a/b.c_d'", 1<<17),
		"y":         strings.Repeat("y", 60) + " " + strings.Repeat("y", 1<<20),
		"han":       strings.Repeat("语", 1<<18),
		"marks":     "a" + strings.Repeat("\u0301", 1<<19),
		"thai mark": "ก" + strings.Repeat("\u0e48", 1<<18),
		"expanding": strings.Repeat("\ufdfa", 1<<17),
		"cyrillic":  strings.Repeat("и", 1<<19),
		"invalid":   strings.Repeat("\xff\xc0a", 1<<18),
		"joiners":   strings.Repeat("'._-/:", 1<<17),
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				text = text[:len(text)/16]
			}
			checkTerms(t, text)
			checkFeatures(t, text)
		})
	}
	if got := Index(strings.Repeat("x", 100)); len(got) != 1 || len(got[0]) != MaxTermRunes {
		t.Errorf("a long word gives %q", got)
	}
}

func checkTerms(t testing.TB, text string) {
	t.Helper()
	n := 0
	Each(text, func(term []byte) {
		n++
		switch {
		case len(term) == 0:
			t.Fatal("empty term")
		case !utf8.Valid(term):
			t.Fatalf("term %q is not UTF-8", term)
		case utf8.RuneCount(term) > MaxTermRunes:
			t.Fatalf("term of %d characters", utf8.RuneCount(term))
		}
	})
	if most := 5*len(text) + 1; n > most {
		t.Fatalf("%d terms of %d bytes", n, len(text))
	}
}

// The terms of a query are terms of the text that it was copied from.
func TestQueryTermsAreIndexed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkQueryIndexed(rt, drawText(rt)) })
}

func drawText(rt *rapid.T) string {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{
			"a", "The", "runnerS", "User", "ID", "_", ".", "-", "'", "’", "/", ":", ",", "1", "234", " ",
			"语", "言", "ー", "кни", "гами", "ال", "كتا", "\u0301", "ä", "++", "#", "\xff", "s", "\u00ad", "กี่",
		}),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "pieces"), "")
}

func checkQueryIndexed(t rapid.TB, text string) {
	t.Helper()
	indexed := Index(text)
	query := Query(text)
	for _, q := range query {
		if !slices.Contains(indexed, q) {
			t.Fatalf("%q: query term %q is not among %q", text, q, indexed)
		}
	}
	if len(query) == 0 && len(indexed) > 0 {
		t.Fatalf("%q: no query terms, indexed %q", text, indexed)
	}
	if slices.Sort(query); len(slices.Compact(query)) != len(query) {
		t.Fatalf("%q: repeated query terms %q", text, query)
	}
}

func FuzzIndex(f *testing.F) {
	for _, s := range []string{
		english, "parseHTTPRequest user_id", "机器学习 데이터", "не знаю", "وال", "ภาษาไทย", "a'b'c's", "\xff\xfe", "1,000.5",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkTerms(t, text)
		checkQueryIndexed(t, text)
	})
}

func BenchmarkEach(b *testing.B) {
	for name, text := range map[string]string{
		"english":  strings.Repeat(english, 64),
		"chinese":  strings.Repeat("机器学习是人工智能的一个分支。", 512),
		"cyrillic": strings.Repeat("Операторы настраивают количество попыток соединения. ", 256),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				Each(text, func([]byte) { n++ })
			}
		})
	}
}
