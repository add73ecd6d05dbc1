package xmlfmt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
)

// Indent returns the text that follows a line feed which replaces another line end in an item's
// content. In a memory a line can begin with the speaker, so a replaced line end must not begin
// such a line.
func Indent(t ragctx.ContextType) string {
	if t == ragctx.TypeMemory {
		return "  "
	}
	return ""
}

// normalizeLines returns the items with line feeds as the only line ends in their contents.
func normalizeLines(items []ragctx.ContextItem) []ragctx.ContextItem {
	for i, it := range items {
		content := redact.Lines(it.Content, Indent(it.Type))
		if len(content) == len(it.Content) && content == it.Content {
			continue
		}
		items = slices.Clone(items)
		items[i].Content = content
	}
	return items
}

// clean replaces the characters that no format may contain; see the package comment. Clean text is
// returned unchanged.
func clean(s string) string {
	s, _ = redact.Visible(s)
	s = redact.Lines(s, "")
	i := firstUnclean(s)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i < len(s) {
		b.WriteString(s[:i])
		b.WriteRune(utf8.RuneError)
		_, size := utf8.DecodeRuneInString(s[i:])
		s = s[i+size:]
		i = firstUnclean(s)
	}
	b.WriteString(s)
	return b.String()
}

// firstUnclean returns the offset of the first character to replace, or the length of s.
func firstUnclean(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r <= '\u009f' || changesDirection(r) || r == '\uFFFE' || r == '\uFFFF' {
			return i
		}
		i += size
	}
	return len(s)
}

// changesDirection reports whether a character makes people read the following text in a different order.
// Direction marks, which languages need, are not included.
func changesDirection(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// cleanLine cleans text that must stay on one line.
func cleanLine(s string) string {
	s = clean(s)
	if !strings.ContainsAny(s, "\t\n") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		return r
	}, s)
}
