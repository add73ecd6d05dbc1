package tokens

import (
	"bytes"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"
	"pgregory.net/rapid"
)

// encode returns the ids that Count counts.
func (b *bpe) encode(text string) []int {
	text = replaceInvalid(text)
	ids := []int{}
	for i := 0; i < len(text); {
		end := b.split(b.classes, text, i)
		ids = b.appendIDs(ids, text[i:end])
		i = end
	}
	return ids
}

func (b *bpe) appendIDs(ids []int, piece string) []int {
	if r := b.vocab.rank(piece); r != noRank {
		return append(ids, int(r))
	}
	if len(piece) > shortPiece {
		return b.appendLong(ids, piece)
	}
	parts := b.vocab.mergeShort(piece, make([]part, len(piece)+1))
	for i, p := range parts[:len(parts)-1] {
		ids = append(ids, int(b.vocab.rank(piece[p.at:parts[i+1].at])))
	}
	return ids
}

func (b *bpe) appendLong(ids []int, piece string) []int {
	var m longMerge
	m.merge(b.vocab, piece)
	for i := 0; i < len(piece); i = int(m.nodes[i].next) {
		ids = append(ids, int(b.vocab.rank(piece[i:m.nodes[i].next])))
	}
	return ids
}

// pairOfEncodings is one of ours and the library that it must agree with.
type pairOfEncodings struct {
	ours   *bpe
	oracle *tiktoken.Tiktoken
}

var encodings = sync.OnceValue(func() []pairOfEncodings {
	tiktoken.SetBpeLoader(tiktoken_loader.NewOfflineLoader())
	var all []pairOfEncodings
	for _, load := range []func() (*bpe, error){o200k, cl100k} {
		ours, err := load()
		if err != nil {
			panic(err)
		}
		oracle, err := tiktoken.GetEncoding(ours.name)
		if err != nil {
			panic(err)
		}
		all = append(all, pairOfEncodings{ours, oracle})
	}
	return all
})

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkAgainstOracle(t fataler, text string) {
	t.Helper()
	for _, e := range encodings() {
		want := e.oracle.EncodeOrdinary(text)
		if diff := cmp.Diff(want, e.ours.encode(text)); diff != "" {
			t.Fatalf("%s of %.200q differs from the oracle (-want +got):\n%s", e.ours.name, text, diff)
		}
		if got := e.ours.Count(text); got != len(want) {
			t.Fatalf("%s: Count(%.200q) = %d, want %d", e.ours.name, text, got, len(want))
		}
	}
}

// hostile are texts at the edges of the patterns.
var hostile = []string{
	"", " ", "\n", "a", "don't", "DON'T we'Re I'LL 'd've 'sam ''s 's's", "it'ſ it'S 'K 'K 'lL 'İ 'rE 'vé",
	"' s", "x'", "x'r", "x'l", "''", "'\u0301s", "e\u0301'll", "'LLama",
	" \n", " \n ", "a \n b", "a\n \n  b", "  \n\n  x", "\r\n\r\n  ", "\t\n\u2028x", "a  ", "a \t\u00a0\u3000b", "\u0085 x",
	"1234567", "١٢٣٤٥", "½²Ⅷ12", "a1b22c333d4444", " 12", "1 2",
	"http://a/b/\n//\r\n/ x", " ...\n\n/", "!\u0301A", "\u0301ABC", " \u0301ABC", "\u0301", "A\u0301B", "ABCdeF", "日本A", "日A日A", "日本ABC.", "ǅabc ǅ", "ʰA", ".ʰA",
	"XMLHttpRequest getURLForID HTTPServer", "привет МИР", "नमस्ते दुनिया", "สวัสดี", "안녕하세요 세계", "مرحبا بالعالم", "👩‍👩‍👧‍👦🇩🇪👍🏽", "a\u200bb\u200d",
	"\xff\xfeabc\xc3", "\xed\xa0\x80", "a\xf0\x9f\x91b", "\ufffd", "\x00\x01", "<|endoftext|>", "<|fim_prefix|>x",
	strings.Repeat("=", 200), strings.Repeat(" ", 200) + "x", strings.Repeat("\n", 150), strings.Repeat("ab", 130),
	strings.Repeat("日", 100), strings.Repeat("A日", 60) + strings.Repeat("A", 80), strings.Repeat("\u0301", 130),
}

func TestHostileTexts(t *testing.T) {
	for _, text := range hostile {
		checkAgainstOracle(t, text)
	}
}

// alphabet has runes of every class, and those that case folding, contractions
// and line ends turn on.
var alphabet = []rune("aestrvmldzAESTRVMLDZ''''’ſKİßéÉǅʰªºλЖжñ日本한のिาع\u0301\u0308\u20dd\u094d" +
	"0127٣½Ⅷ²      \t\n\n\r\r\u000b\u000c\u0085\u00a0\u1680\u2003\u2028\u2029\u3000\u200b\u200d\ufeff\u180e" +
	"///.,;:!?-_=+*&^%$#@()[]{}<>|\\\"`~“”—…€👍🏽🇩🇪👩\ufffd\U0010ffff\U000e0001\U0001d400\U00010400\U00010428\x00\x7f")

func TestRandomTexts(t *testing.T) {
	texts := rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 60, -1),
		rapid.StringN(0, 40, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 60), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 4), func(s []string) string { return strings.Join(s, "") }),
	)
	rapid.Check(t, func(t *rapid.T) {
		for _, text := range rapid.SliceOfN(texts, 1, 20).Draw(t, "texts") {
			checkAgainstOracle(t, text)
		}
	})
}

func FuzzAgainstOracle(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			t.Skip("the oracle is quadratic")
		}
		checkAgainstOracle(t, text)
	})
}

// TestRealTexts reads prose and code that any machine running the tests has.
func TestRealTexts(t *testing.T) {
	for _, text := range realTexts(t) {
		checkAgainstOracle(t, text)
	}
}

// realTexts returns the start of some of the repository's own files and of the
// standard library's.
func realTexts(t *testing.T) []string {
	size := 16 << 10
	if testing.Short() {
		size = 1 << 10
	}
	var texts []string
	add := func(name string) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b[:min(len(b), size)]))
	}
	for _, pattern := range []string{"*.go", "../../*.go", "../../*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			add(name)
		}
	}
	library := filepath.Join(build.Default.GOROOT, "src")
	for _, name := range []string{"fmt/doc.go", "unicode/utf8/utf8_test.go", "strconv/quote_test.go", "html/entity.go"} {
		if _, err := fs.Stat(os.DirFS(library), name); err == nil {
			add(filepath.Join(library, name))
		}
	}
	return texts
}

// TestManyRunes puts each of the runes below the Han block, and a sample of those
// above, where their class decides where text splits.
func TestManyRunes(t *testing.T) {
	var text strings.Builder
	for r := range unicode.MaxRune {
		if r > 0x3400 && r%997 != 0 {
			continue
		}
		text.WriteRune(r)
		text.WriteString("A'l ")
		if text.Len() > 2<<10 {
			checkAgainstOracle(t, text.String())
			text.Reset()
		}
	}
	checkAgainstOracle(t, text.String())
}

// TestLongMerge compares the two merge algorithms on inputs that are too slow for the oracle.
func TestLongMerge(t *testing.T) {
	b := encodings()[0].ours
	var long longMerge
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SliceOfN(rapid.SampledFrom([]byte("aabeinst \xe6\x97\xa5=")), 1, 40).Draw(t, "unit")
		piece := string(bytes.Repeat(unit, rapid.IntRange(1, 40).Draw(t, "times")))
		parts := b.vocab.mergeShort(piece, make([]part, len(piece)+1))
		if got := long.merge(b.vocab, piece); got != len(parts)-1 {
			t.Fatalf("heap merge of %q gives %d tokens, scan %d", piece, got, len(parts)-1)
		}
		for i, p := range parts[:len(parts)-1] {
			if got := long.nodes[p.at].next; got != int32(parts[i+1].at) {
				t.Fatalf("token at %d of %q ends at %d, want %d", p.at, piece, got, parts[i+1].at)
			}
		}
	})
}
