package docs

import (
	"strings"

	"github.com/ragctx/ragctx/internal/text/chunk"
)

// pageEnd ends a page, as in what other programs write of a paged file.
const pageEnd = "\f"

// unpaged returns a text of the same length for parsers, in which the end of a
// page is a line end: no parser then needs to know of pages, and what begins a
// page begins a line.
func unpaged(text string) string {
	if !strings.Contains(text, pageEnd) {
		return text
	}
	return strings.ReplaceAll(text, pageEnd, "\n")
}

// number sets the pages of chunks, which are in order. Those of a text without
// the end of a page keep 0.
func number(text string, chunks []chunk.Chunk) {
	if !strings.Contains(text, pageEnd) {
		return
	}
	page, at := 1, 0
	for i := range chunks {
		start := chunks[i].Start.Byte
		page += strings.Count(text[at:start], pageEnd)
		at = start
		chunks[i].Page = page
	}
}
