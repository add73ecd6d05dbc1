package redact

import "strings"

// Lines returns text with a line feed for every character that some reader treats as a line end:
// carriage returns, with or without a line feed, vertical tabs, form feeds, file, group and record
// separators, NEL, and the line and paragraph separators of Unicode. After each replaced line end
// it writes indent.
func Lines(text, indent string) string {
	at := lineEnd(text, 0)
	if at == len(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(indent))
	copied := 0
	for ; at < len(text); at = lineEnd(text, at) {
		b.WriteString(text[copied:at])
		size := runeLen(text, at)
		if text[at] != '\r' || !strings.HasPrefix(text[at+1:], "\n") { // in CRLF the line feed follows
			b.WriteString("\n" + indent)
		}
		at += size
		copied = at
	}
	b.WriteString(text[copied:])
	return b.String()
}

// lineEnd returns the position of the next line end other than a line feed, or the length of the
// text.
func lineEnd(text string, i int) int {
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '\v' && c <= '\r', c >= 0x1C && c <= 0x1E:
			return i
		case c == 0xC2 && strings.HasPrefix(text[i:], "\u0085"):
			return i
		case c == 0xE2 && (strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029")):
			return i
		}
	}
	return i
}
