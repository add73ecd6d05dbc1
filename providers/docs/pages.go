package docs

import (
	"strings"

	"github.com/ragctx/ragctx/internal/text/chunk"
)

// pageEnd ends a page in the text of a paged file.
const pageEnd = "\f"

// unpaged replaces page ends by line ends, so that parsers need not handle pages and each page
// begins a line. The length stays the same.
func unpaged(text string) string {
	if !strings.Contains(text, pageEnd) {
		return text
	}
	return strings.ReplaceAll(text, pageEnd, "\n")
}

// numberPages sets the pages of chunks, which must be in order. Without page ends the pages stay 0.
func numberPages(text string, chunks []chunk.Chunk) {
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
