package memory

import (
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// WithoutSpeakers returns the chunks' conversation features for a memory that is not a turn: no speaker.
func WithoutSpeakers(chunks []chunk.Chunk) []index.Speaker {
	speakers := make([]index.Speaker, len(chunks))
	for i, u := range chunks {
		speakers[i].Timed = timed(u.Text)
	}
	return speakers
}
