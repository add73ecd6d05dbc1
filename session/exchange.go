package session

import (
	"slices"

	"github.com/ragctx/ragctx"
)

// NewestExchange returns the places of the newest exchange with tools: the calls that an
// assistant made last and their results, with the system messages after the first of them. It is nil
// where somebody has said something since, be it the assistant.
func NewestExchange(messages []ragctx.Message) []int { return newestExchange(messages, pair(messages)) }

func newestExchange(messages []ragctx.Message, p pairing) []int {
	turn := lastTurn(messages)
	if len(p.links) == 0 || p.links[len(p.links)-1].result <= turn {
		return nil
	}
	in := make([]bool, len(messages))
	for more := true; more; { // a call may have results in several messages, and a message those of several calls
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
