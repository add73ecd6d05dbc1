package chunk_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden splits the file "in" of each archive with small sizes and compares
// the chunks with "want".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := show(chunk.Split(string(ar.Files[0].Data), ragctx.ChunkSizes{TargetChars: 80, MaxChars: 120}))
			if *update {
				ar.Files = append(ar.Files[:1], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("chunks differ (-want +got):\n%s", diff)
			}
		})
	}
}

func show(chunks []chunk.Chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "[%d] lines %d-%d, runes %d-%d\n%s\n", c.Ordinal, c.Start.Line, c.End.Line, c.Start.Rune, c.End.Rune, c.Text)
	}
	return b.String()
}

// check holds chunks to everything the package promises about them.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string, chunks []chunk.Chunk, o ragctx.ChunkSizes,
) {
	t.Helper()
	o = o.WithDefaults()
	end := 0
	for i, c := range chunks {
		switch {
		case c.Ordinal != i:
			t.Fatalf("chunk %d has ordinal %d", i, c.Ordinal)
		case c.Start.Byte < end || c.End.Byte <= c.Start.Byte || c.End.Byte > len(text):
			t.Fatalf("chunk %d spans %d:%d after %d in %d bytes", i, c.Start.Byte, c.End.Byte, end, len(text))
		case c.Text != text[c.Start.Byte:c.End.Byte]:
			t.Fatalf("chunk %d is not its span", i)
		case strings.TrimSpace(text[end:c.Start.Byte]) != "":
			t.Fatalf("chunk %d leaves out %q", i, text[end:c.Start.Byte])
		case strings.TrimRightFunc(c.Text, unicode.IsSpace) != c.Text || strings.HasPrefix(c.Text, "\n"):
			t.Fatalf("chunk %d is not trimmed: %q", i, c.Text)
		case utf8.RuneCountInString(c.Text) > o.MaxChars:
			t.Fatalf("chunk %d has %d characters", i, utf8.RuneCountInString(c.Text))
		}
		for _, p := range []chunk.Pos{c.Start, c.End} {
			want := chunk.Pos{Byte: p.Byte, Line: 1 + strings.Count(text[:p.Byte], "\n"), Rune: utf8.RuneCountInString(text[:p.Byte])}
			if p != want {
				t.Fatalf("chunk %d: position %+v, want %+v", i, p, want)
			}
		}
		end = c.End.Byte
	}
	if strings.TrimSpace(text[end:]) != "" {
		t.Fatalf("the end is left out: %q", text[end:])
	}
}

// checkGraphemes fails if a cut that is not at white space is inside a grapheme
// cluster, unless that cluster alone is longer than a chunk may be.
func checkGraphemes(t *rapid.T, text string, chunks []chunk.Chunk, o ragctx.ChunkSizes) {
	inside := make(map[int]bool)
	for it := graphemes.FromString(text); it.Next(); {
		if utf8.RuneCountInString(it.Value()) > o.MaxChars || unicode.IsSpace([]rune(it.Value())[0]) {
			continue
		}
		for b := it.Start() + 1; b < it.End(); b++ {
			inside[b] = true
		}
	}
	for i, c := range chunks {
		if i > 0 && chunks[i-1].End.Byte == c.Start.Byte && inside[c.Start.Byte] {
			t.Fatalf("chunk %d begins inside a grapheme cluster", i)
		}
	}
}

var pieces = rapid.SampledFrom([]string{
	"word", "Another one", ". ", "! ", "? ", "\n", "\r\n", "\n\n", " ", "    ", "\t", "# ", "- item",
	"日本語。", "한국어", "e\u0301", "👩‍👩‍👧‍👦", "🇩🇪", "\u00a0", "\u2028", "\u0301", "e.g. ", "x=1;", "ไทย",
	strings.Repeat("a", 50), strings.Repeat("\u0301", 30), strings.Repeat(" ", 70), "\ufeff", "\u200d",
})

var texts = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(pieces, 0, 80).Draw(t, "pieces"), "")
})

var sizes = rapid.Custom(func(t *rapid.T) ragctx.ChunkSizes {
	target := rapid.IntRange(1, 60).Draw(t, "target")
	return ragctx.ChunkSizes{TargetChars: target, MaxChars: target + rapid.IntRange(0, 60).Draw(t, "slack")}
})

func TestSplitTiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, o := texts.Draw(t, "text"), sizes.Draw(t, "options")
		chunks := chunk.Split(text, o)
		check(t, text, chunks, o)
		checkGraphemes(t, text, chunks, o)
		if diff := cmp.Diff(chunks, chunk.Split(text, o)); diff != "" {
			t.Fatalf("equal input, other chunks:\n%s", diff)
		}
	})
}

func TestBlocksTile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := sizes.Draw(t, "options")
		var text strings.Builder
		var blocks []chunk.Block
		section := make(map[int]int) // by the block's start
		n := 0
		for range rapid.IntRange(0, 12).Draw(t, "blocks") {
			b := chunk.Block{
				Start: text.Len(), Break: rapid.Bool().Draw(t, "break"), Keep: rapid.Bool().Draw(t, "keep"),
				Heading: rapid.SampledFrom([][]string{nil, {"A"}, {"A", "B"}}).Draw(t, "heading"),
			}
			text.WriteString(texts.Draw(t, "text"))
			b.End = text.Len()
			if b.Break || n == 0 || !cmp.Equal(b.Heading, blocks[len(blocks)-1].Heading) {
				n++
			}
			section[b.Start] = n
			blocks = append(blocks, b)
		}
		chunks := chunk.Blocks(text.String(), blocks, o)
		check(t, text.String(), chunks, o)
		for _, c := range chunks {
			seen := -1
			for _, b := range blocks {
				if b.Start == b.End || b.End <= c.Start.Byte || b.Start >= c.End.Byte {
					continue
				}
				if !cmp.Equal(c.Heading, b.Heading) {
					t.Fatalf("chunk %d stands under %q, its block under %q", c.Ordinal, c.Heading, b.Heading)
				}
				if seen >= 0 && seen != section[b.Start] {
					t.Fatalf("chunk %d crosses sections", c.Ordinal)
				}
				seen = section[b.Start]
			}
		}
	})
}

func TestKeepStaysWhole(t *testing.T) {
	code := strings.Repeat("x := call(a, b). Then\n", 8)
	text := strings.Repeat("Some prose here. ", 10) + "\n\n" + code + "\nMore prose.\n"
	at := strings.Index(text, "x :=")
	blocks := []chunk.Block{{End: at}, {Start: at, End: at + len(code), Keep: true}, {Start: at + len(code), End: len(text)}}
	var found bool
	for _, c := range chunk.Blocks(text, blocks, ragctx.ChunkSizes{TargetChars: 60, MaxChars: 300}) {
		found = found || c.Text == strings.TrimSpace(code)
	}
	if !found {
		t.Error("the code is not one chunk")
	}
}

func TestSizesNearTarget(t *testing.T) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, again and again. ", 500)
	chunks := chunk.Split(text, ragctx.ChunkSizes{})
	for _, c := range chunks[:len(chunks)-1] {
		if n := len(c.Text); n < 300 || n > 400 || !strings.HasSuffix(c.Text, ".") {
			t.Errorf("chunk of %d characters: %q", n, c.Text)
		}
	}
}

func TestNothing(t *testing.T) {
	for _, text := range []string{"", " ", "\n\n\t\r\n", "\u00a0\u2028"} {
		if got := chunk.Split(text, ragctx.ChunkSizes{}); len(got) != 0 {
			t.Errorf("Split(%q) = %v", text, got)
		}
	}
}

func TestBlocksOutOfRange(t *testing.T) {
	text := "one two three"
	got := chunk.Blocks(text, []chunk.Block{{Start: -5, End: 3}, {Start: 1, End: 7}, {Start: 100, End: 2}, {Start: 8, End: 99}}, ragctx.ChunkSizes{})
	if len(got) != 1 || got[0].Text != text {
		t.Errorf("got %+v", got)
	}
}

// hostile inputs would take minutes if any step were quadratic.
var hostile = map[string]string{
	"one word":        strings.Repeat("a", 1<<20),
	"blank lines":     strings.Repeat("\n", 1e5) + "x" + strings.Repeat("\r\n", 1e5),
	"spaces":          strings.Repeat(" ", 1<<20) + "x",
	"dots":            strings.Repeat(".", 1<<20),
	"dotted":          strings.Repeat("a. ", 1<<18),
	"open brackets":   "a." + strings.Repeat("(", 1<<20),
	"wide brackets":   strings.Repeat("a."+strings.Repeat("「", 33), 1<<13),
	"dots, brackets":  strings.Repeat(".(", 1<<19),
	"combining marks": "a" + strings.Repeat("\u0301", 1<<19),
	"joiners":         strings.Repeat("👩\u200d", 1<<17),
	"flags":           strings.Repeat("🇩", 1<<18),
	"short lines":     strings.Repeat("x\n", 1<<18),
	"invalid bytes":   strings.Repeat("\xff\xc3\x28", 1<<18),
	"marks, dots":     strings.Repeat("\u0301.", 1<<18),
	"numbers":         strings.Repeat("1.1 ", 1<<18),
}

func TestHostile(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				text = text[:len(text)/8]
			}
			for _, o := range []ragctx.ChunkSizes{{}, {TargetChars: 1, MaxChars: 1}} {
				text := text
				if o.TargetChars == 1 {
					text = text[:len(text)/8]
				}
				chunks := chunk.Split(text, o)
				n := 0
				for _, c := range chunks {
					n += len(strings.Join(strings.Fields(c.Text), ""))
				}
				if want := len(strings.Join(strings.Fields(text), "")); n != want {
					t.Errorf("chunks hold %d bytes of %d", n, want)
				}
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	for _, text := range hostile {
		f.Add(text[:100], 10, 20, true)
	}
	f.Add("A line.\r\nAnother.\n\n\tcode { }\n", 5, 9, false)
	f.Fuzz(func(t *testing.T, text string, target, limit int, keep bool) {
		if len(text) > 4<<10 {
			return
		}
		o := ragctx.ChunkSizes{TargetChars: target % 1000, MaxChars: limit % 1000}
		check(t, text, chunk.Blocks(text, []chunk.Block{{End: len(text), Keep: keep}}, o), o)
	})
}

func BenchmarkSplit(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. It does so again,\nand again.\n\n", 5000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		chunk.Split(text, ragctx.ChunkSizes{})
	}
}
