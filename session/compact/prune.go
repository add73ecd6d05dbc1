package compact

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// PrunedMarker stands for the output of a tool, or the middle of one, that is not shown
// any more.
const PrunedMarker = "[output pruned: call the tool or read the source again if it is needed]"

// ProtectedTokens is how much of the newest outputs of tools is never pruned, if a
// quarter of the window is as much.
const ProtectedTokens = 40_000

// leastPart is what a part of an output must hold, in tokens, to be worth showing.
const leastPart = 64

// Pruned is the output of a tool that is not shown as a whole.
type Pruned struct {
	MessageID string `json:"message_id"`
	Block     int    `json:"block" doc:"the place of the result in the message's content, from 0"`
	Chars     int    `json:"chars" doc:"how many characters of it are shown, half of them from its beginning and half from its end; 0 is none"`
}

// pruning is an output of which chars characters are left.
type pruning struct{ message, block, chars int }

// prunings say of which outputs how many characters are left, by the place of the message
// and of the block in it.
type prunings map[int]map[int]int

func (p prunings) add(one pruning) {
	if p[one.message] == nil {
		p[one.message] = make(map[int]int)
	}
	p[one.message][one.block] = one.chars
}

// of returns messages of which these outputs are pruned; the others are shared.
func (p prunings) of(messages []ragctx.Message) []ragctx.Message {
	if len(p) == 0 {
		return messages
	}
	out := slices.Clone(messages)
	for i, blocks := range p {
		content := slices.Clone(out[i].Content)
		changed := false
		for j, chars := range blocks {
			changed = pruneBlock(content, j, chars) || changed
		}
		if changed {
			out[i].Content = content
		}
	}
	return out
}

// prune says which outputs of tools are not to be shown, newest first, so that the newest
// ones cost at most protect tokens: of the one that exceeds them a part is left, of older
// ones nothing. The messages for which skip holds are left alone; cost is what the output
// in a block of a message costs. What was pruned before costs nothing, so that pruning
// twice changes nothing.
func prune(messages []ragctx.Message, skip func(int) bool, cost func(message, block int) int, counter ragctx.Counter, protect int) []pruning {
	var out []pruning
	marker := counter.Count(PrunedMarker)
	for i := range slices.Backward(messages) {
		if skip(i) {
			continue
		}
		for j := range slices.Backward(messages[i].Content) {
			b := &messages[i].Content[j]
			if b.Type != ragctx.BlockToolResult || b.Content.String() == PrunedMarker {
				continue
			}
			costs := cost(i, j)
			if costs <= protect {
				protect -= costs
				continue
			}
			chars, text := 0, session.ContentText(b.Content)
			if protect >= leastPart && !strings.Contains(text, PrunedMarker) {
				chars = charsWithin(text, costs, protect, counter)
			}
			if protect = 0; chars > 0 || costs > marker {
				out = append(out, pruning{i, j, chars})
			}
		}
	}
	return out
}

// charsWithin returns how many characters of an output can be left within a budget that
// it exceeds; 0 is none.
func charsWithin(text string, cost, budget int, counter ragctx.Counter) int {
	chars := len([]rune(text)) * budget / cost
	for chars > 1 && counter.Count(shorten(text, chars, PrunedMarker, 1, 2)) > budget {
		chars = chars * 9 / 10
	}
	return max(chars, 0)
}

// shorten returns a text of which chars characters are left, num/den of them from its
// beginning and the others from its end, with a marker between.
func shorten(text string, chars int, marker string, num, den int) string {
	r := []rune(text)
	if len(r) <= chars {
		return text
	}
	head := chars * num / den
	return strings.TrimSpace(string(r[:head])) + "\n" + marker + "\n" + strings.TrimSpace(string(r[len(r)-(chars-head):]))
}

// pruneBlock prunes the output in one block of a message's content, and reports whether
// there is one that was whole.
func pruneBlock(c ragctx.Content, block, chars int) bool {
	if block < 0 || block >= len(c) || c[block].Type != ragctx.BlockToolResult {
		return false
	}
	text := session.ContentText(c[block].Content)
	switch {
	case chars <= 0: // a record may come from elsewhere
		text = PrunedMarker
	case strings.Contains(text, PrunedMarker): // it is pruned already
		return false
	default:
		text = shorten(text, chars, PrunedMarker, 1, 2)
	}
	c[block].Content = ragctx.Text(text)
	return true
}
