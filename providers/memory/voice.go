package memory

import (
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// Told returns the voices of the units of a memory that is no turn: nobody's.
func Told(units []chunk.Chunk) []index.Voice {
	voices := make([]index.Voice, len(units))
	for i, u := range units {
		voices[i].Timed = timed(u.Text)
	}
	return voices
}
