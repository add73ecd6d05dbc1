package session

import (
	"slices"

	"github.com/ragctx/ragctx"
)

// NewestExchange returns the indexes of the newest tool exchange: the last calls of the assistant
// and their results, with the system messages after the first of them. It returns nil if the
// assistant or the user has spoken since.
func NewestExchange(messages []ragctx.Message) []int { return newestExchange(messages, pair(messages)) }

func newestExchange(messages []ragctx.Message, p pairing) []int {
	turn := lastTurn(messages)
	if len(p.links) == 0 || p.links[len(p.links)-1].result <= turn {
		return nil
	}
	in := make([]bool, len(messages))
	for more := true; more; { // a call may have results in several messages, and a message results of several calls
		more = false
		for _, k := range slices.Backward(p.links) {
			if belongs := k.result > turn || in[k.call] || in[k.result]; belongs && !(in[k.call] && in[k.result]) {
				in[k.call], in[k.result], more = true, true, true
			}
		}
	}
	var out []int
	for i := range messages {
		if in[i] || len(out) > 0 && i > turn && IsSystem(messages[i]) {
			out = append(out, i)
		}
	}
	return out
}
