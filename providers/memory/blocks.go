package memory

import (
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
)

// WithoutBlocks returns a text without the context that this program inserted. It keeps an agent
// that sends back its whole prompt from storing its memories again.
func WithoutBlocks(text string) string {
	out, _ := redact.StripBlocks(text)
	return out
}

// BlankBlocks returns a copy of a turn in which spaces replace such context, so that positions stay
// valid. It does not change t.
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
