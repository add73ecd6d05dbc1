package compact

import (
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Essential reports for each message whether it must stay: leading system messages, the newest
// instruction of a user, pending calls and the newest tool exchange, each with its group.
func Essential(messages []ragctx.Message) []bool {
	out := make([]bool, len(messages))
	for i := 0; i < len(messages) && session.IsSystem(messages[i]); i++ {
		out[i] = true
	}
	must := append(pendingIn(messages), session.NewestExchange(messages)...)
	if last := session.LastInstruction(messages); last >= 0 {
		must = append(must, last)
	}
	for _, g := range session.Groups(messages) {
		if slices.ContainsFunc(must, func(i int) bool { return g.From <= i && i < g.To }) {
			for i := g.From; i < g.To; i++ {
				out[i] = true
			}
		}
	}
	return out
}

// pendingIn returns the indexes of messages with pending calls.
func pendingIn(messages []ragctx.Message) []int {
	sound := session.Sound(messages, session.Limits{})
	out := pending(sound.Messages)
	for n, i := range out {
		out[n] = sound.Indexes[i]
	}
	return out
}
