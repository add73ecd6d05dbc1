package docs

import (
	"strings"

	"github.com/ragctx/ragctx/chunk"
)

// parseText is the parser of text without markup.
func parseText(in input) structure {
	s := structure{blocks: []chunk.Block{{End: len(in.text)}}}
	start := -1
	at := 0
	for line := range strings.Lines(in.text) {
		switch blank := strings.TrimSpace(line) == ""; {
		case blank && start >= 0:
			s.prose = append(s.prose, span{start, at})
			start = -1
		case !blank && start < 0:
			start = at
		}
		at += len(line)
	}
	if start >= 0 {
		s.prose = append(s.prose, span{start, at})
	}
	return s
}
