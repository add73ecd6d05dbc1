package passage

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

func chunksOf(text string) (list []Chunk) {
	for _, c := range chunk.Split(text, ragctx.ChunkSizes{TargetChars: 60, MaxChars: 120}) {
		list = append(list, Chunk{Ordinal: c.Ordinal, Text: c.Text, Start: c.Start, End: c.End})
	}
	return list
}

// TestJoinedTextIsTheText checks that the text of chunks is that of the document, whatever white space is between them.
func TestJoinedTextIsTheText(t *testing.T) {
	parts := rapid.SampledFrom([]string{
		"A sentence of some words, which is quite long. ", "word", " ", "\n", "\n\n", "\r\n", "\t", "\f", "\v", "é", "\xff", "# Heading\n", "- item\n",
		"| a | b |\n|---|---|\n", "```\ncode\n```\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 80).Draw(t, "parts"), "")
		chunks := chunksOf(text)
		for from := range chunks {
			for to := from + 1; to <= len(chunks); to++ {
				want := text[chunks[from].Start.Byte:chunks[to-1].End.Byte]
				if got, ok := joinedText(chunks[from:to]); ok && got != want {
					t.Fatalf("chunks %d to %d of %q are %q, not %q", from, to, text, got, want)
				}
			}
		}
	})
}

// TestParagraphsAreJoined checks that the text of paragraphs is known from their chunks, without reading the document.
func TestParagraphsAreJoined(t *testing.T) {
	chunks := chunksOf(strings.Repeat("A paragraph about one thing or another.\n\n", 9))
	if text, ok := joinedText(chunks); len(chunks) != 9 || !ok || strings.Count(text, "\n\n") != 8 {
		t.Errorf("%d chunks, %v, %q", len(chunks), ok, text)
	}
}
