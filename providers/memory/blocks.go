package memory

import (
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
)

// WithoutBlocks returns a text without the context that this program put into it: an
// agent that sends its whole prompt back must not have its memories remembered anew.
func WithoutBlocks(text string) string {
	out, _ := redact.StripBlocks(text)
	return out
}

// BlankBlocks returns a turn in whose texts spaces stand for such context, so that what
// is found in them keeps its place. The turn itself is not changed.
func BlankBlocks(t ragctx.Turn) ragctx.Turn {
	t.Prompt, t.Response = redact.BlankBlocks(t.Prompt), redact.BlankBlocks(t.Response)
	t.Messages = slices.Clone(t.Messages)
	for i := range t.Messages {
		t.Messages[i].Content = blank(t.Messages[i].Content)
	}
	return t
}

func blank(c ragctx.Content) ragctx.Content {
	c = slices.Clone(c)
	for i := range c {
		c[i].Text, c[i].Content = redact.BlankBlocks(c[i].Text), blank(c[i].Content)
	}
	return c
}
