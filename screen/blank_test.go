package screen_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/screen"
)

func TestBlankBlocks(t *testing.T) {
	const block = "<context source=\"memory\" type=\"Memory\">\nThe user likes <ä>.\n</context>"
	text := "before ü " + strings.ReplaceAll(block, "<ä>", "&lt;ä&gt;") + " after"
	got := screen.BlankBlocks(text)
	if want := "before ü " + strings.Repeat(" ", utf8.RuneCountInString(text)-len("before - ")-len(" after")) + " after"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBlankBlocksLeavesNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"<context source=\"memory\" type=\"Memory\">\n", "x", "\n</context>", "\n\n", "<documents>\n", "ü", "&lt;", "[", "{", "\\n", " ",
		}), 0, 20).Draw(t, "parts")
		text := strings.Join(parts, "")
		got := screen.BlankBlocks(text)
		if _, more := screen.StripBlocks(got); more {
			t.Fatalf("%q leaves a block: %q", text, got)
		}
		stripped, _ := screen.StripBlocks(text)
		if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(stripped), "") {
			t.Fatalf("%q: blank %q, stripped %q", text, got, stripped)
		}
	})
}
