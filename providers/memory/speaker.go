package memory

import (
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// Told returns the chunks' conversation features for a memory that is not a turn: no speaker.
func Told(units []chunk.Chunk) []index.Voice {
	voices := make([]index.Voice, len(units))
	for i, u := range units {
		voices[i].Timed = timed(u.Text)
	}
	return voices
}
