// Package memory turns conversation turns and explicit notes into memories, and answers queries
// from them.
//
// A turn is stored verbatim as one episodic memory and can be found at once. Relevance is the match
// between text and query. Importance and recency are reported in addition; they rank the memories
// of a request without a query.
package memory

import (
	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// Chunks splits a memory's text into chunks.
func Chunks(text string) []chunk.Chunk { return chunk.Split(text, ragctx.ChunkSizes{}) }
