package redact

import (
	"strings"
	"unicode/utf8"
)

// BlankBlocks is [StripBlocks], but replaces each block by spaces, so that the text after it keeps
// its offset in code points. Nested blocks that only repeated removal can find are removed instead.
func BlankBlocks(text string) string {
	var b strings.Builder
	copied := 0
	for i := 0; i < len(text); {
		n := strings.IndexAny(text[i:], `<&[\`)
		if n < 0 {
			break
		}
		i += n
		start, end := block(text, i, copied)
		if end <= i {
			i++
			continue
		}
		b.WriteString(text[copied:start])
		b.WriteString(strings.Repeat(" ", utf8.RuneCountInString(text[start:end])))
		copied, i = end, end
	}
	b.WriteString(text[copied:])
	if out, more := StripBlocks(b.String()); more {
		return out
	}
	return b.String()
}
