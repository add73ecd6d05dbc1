package main

import (
	"bytes"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
)

func TestResultsAreBoldAndHarmless(t *testing.T) {
	bold := func(s string) string { return "<" + s + ">" }
	content := "Far away.\n" + "The storm\tseason \x1b[31m begins with storms."
	h := passage.NewHighlighter("storm begin").In(content)
	items := []ragctx.ContextItem{
		{ID: "a@1#0\x1b", Relevance: 0.5, Content: content, Highlights: &h, Metadata: map[string]any{"lines": "1-2"}},
		{ID: "b", Content: "no\nhighlights"},
		{ID: "c", Content: "short", Highlights: &ragctx.Highlights{Fragment: ragctx.TextSpan{End: 100}}},
		{ID: "d", Content: "short", Highlights: &ragctx.Highlights{Fragment: ragctx.TextSpan{End: 5}, Matches: []ragctx.TextSpan{{Start: 3, End: 99}, {Start: 4, End: 2}}}},
	}
	var out bytes.Buffer
	if err := writeResults(&out, bold, items); err != nil {
		t.Fatal(err)
	}
	want := "0.50  a@1#0\ufffd  lines 1-2\n    The <storm> season \ufffd[31m <begins> with <storms>.\n" +
		"0.00  b\n    no highlights\n0.00  c\n    short\n0.00  d\n    short\n"
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
