package memory

import (
	"cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/chunk"
	"github.com/ragctx/ragctx/index"
)

// Voices returns who said each of the units that [Episode] made of a turn.
func Voices(t ragctx.Turn, units []chunk.Chunk) []index.Voice {
	voices := make([]index.Voice, 0, len(units))
	end := 0 // of the entry at hand, in bytes of the transcript
	for said, m := range entries(t) {
		end += len(said)
		for len(voices) < len(units) && units[len(voices)].Start.Byte < end {
			role := cmp.Or(m.Role, ragctx.RoleUser)
			voices = append(voices, index.Voice{Role: role, Name: m.Name, Timed: timed(units[len(voices)].Text)})
		}
		end++ // the line break after it
	}
	return voices
}

// Told returns the voices of the units of a memory that is no turn: nobody's.
func Told(units []chunk.Chunk) []index.Voice {
	voices := make([]index.Voice, len(units))
	for i, u := range units {
		voices[i].Timed = timed(u.Text)
	}
	return voices
}
