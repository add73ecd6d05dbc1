package xmlfmt

import (
	"strings"
	"unicode"

	"github.com/ragctx/ragctx"
)

// Mark returns a renderer like r that puts a marker into retrieved text: before each text, in place
// of the white space between words, and at line ends, which are kept. In scripts without spaces a
// marker follows every few letters. A model that knows the marker can distinguish retrieved text
// from instructions at every word (Hines et al. 2024, datamarking). The marker must not have white
// space, and should not occur in the items.
func Mark(r ragctx.Renderer, marker string) ragctx.Renderer { return marked{r, marker} }

type marked struct {
	ragctx.Renderer

	marker string
}

// Render implements [ragctx.Renderer].
func (m marked) Render(items []ragctx.ContextItem) string {
	out := make([]ragctx.ContextItem, len(items))
	for i, it := range items {
		it.Content = m.marker + m.text(it.Content)
		it.Source, it.Since, it.Metadata = m.text(it.Source), m.text(it.Since), m.cited(it.Metadata)
		out[i] = it
	}
	return m.Renderer.Render(out)
}

// cited returns the metadata that a citation shows, marked. The id stays unmarked, because it is
// used to fetch the item.
func (m marked) cited(metadata map[string]any) map[string]any {
	out := make(map[string]any)
	for _, key := range [...]string{"title", "page", "lines"} {
		switch v := metadata[key].(type) {
		case nil:
		case string:
			out[key] = m.text(v)
		default:
			out[key] = v
		}
	}
	return out
}

// unspaced lists the scripts that are written without spaces between words. After unspacedRun
// letters of them a marker follows.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

const unspacedRun = 8

func (m marked) text(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	gap, run := false, 0
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case breaksLine(r):
			if !gap {
				b.WriteString(m.marker)
			}
			b.WriteByte('\n')
			gap, run = false, 0
		case blank(r):
			if !gap {
				b.WriteString(m.marker)
			}
			gap, run = true, 0
		default:
			gap = false
			if r < 0x0e00 || !unicode.In(r, unspaced...) { // all of them are above
				run = 0
			} else if run++; run > unspacedRun {
				b.WriteString(m.marker)
				run = 1
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

func breaksLine(r rune) bool {
	return '\n' <= r && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// blank reports whether a character separates words, visibly or not.
func blank(r rune) bool {
	return unicode.IsSpace(r) || '\u200b' <= r && r <= '\u200d' ||
		r == '\u2060' || r == '\ufeff' || r == '\u180e' || r == '\u2800' || r == '\u3164'
}
