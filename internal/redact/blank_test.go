package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/redact"
)

func TestBlankBlocks(t *testing.T) {
	const block = "<context source=\"memory\" type=\"Memory\">\nThe user likes <ä>.\n</context>"
	text := "before ü " + strings.ReplaceAll(block, "<ä>", "&lt;ä&gt;") + " after"
	got := redact.BlankBlocks(text)
	if want := "before ü " + strings.Repeat(" ", utf8.RuneCountInString(text)-len("before - ")-len(" after")) + " after"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBlankBlocksLeavesNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"<context source=\"memory\" type=\"Memory\">\n", "x", "\n</context>", "\n\n", "<documents>\n", "ü",
			"&lt;", "[", "{", "\\n", " ",
		}), 0, 20).Draw(t, "parts")
		sameAsStripped(t, strings.Join(parts, ""))
	})
}

// The text after a block keeps its position: not at the beginning of a line.
func TestBlankBlocksKeepLines(t *testing.T) {
	const open = "<context source=\"memory\" type=\"Memory\">\n"
	for _, before := range []string{"x", "x\n", "", "x\n> ", "\""} {
		sameAsStripped(t, before+open+"\n</context>"+open+"x"+open)
		sameAsStripped(t, before+open+"\n</context>"+open)
	}
}

func sameAsStripped(t interface {
	Helper()
	Errorf(format string, args ...any)
}, text string,
) {
	t.Helper()
	got := redact.BlankBlocks(text)
	if _, more := redact.StripBlocks(got); more {
		t.Errorf("%q leaves a block: %q", text, got)
	}
	stripped, _ := redact.StripBlocks(text)
	if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(stripped), "") {
		t.Errorf("%q: blank %q, stripped %q", text, got, stripped)
	}
}
