package compact

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// PrunedMarker replaces a tool output, or the middle of one.
const PrunedMarker = "[output pruned: call the tool or read the source again if it is needed]"

// ProtectedTokens is the size of the newest tool outputs that are never pruned, at most a quarter
// of the window.
const ProtectedTokens = 40_000

// leastPart is the minimum size in tokens of a partial output.
const leastPart = 64

// Pruned describes a tool output that is not shown completely.
type Pruned struct {
	MessageID string `json:"message_id"`
	Block     int    `json:"block" doc:"the place of the result in the message's content, from 0"`
	// Chars is how many characters are shown, half from the beginning and half from the end.
	Chars int `json:"chars"`
}

// pruning is an output with the number of characters that remain.
type pruning struct{ message, block, chars int }

// prunings has the number of remaining characters of each output, by message and block.
type prunings map[int]map[int]int

func (p prunings) add(one pruning) {
	if p[one.message] == nil {
		p[one.message] = make(map[int]int)
	}
	p[one.message][one.block] = one.chars
}

// apply returns messages with the outputs pruned. Unchanged messages are shared.
func (p prunings) apply(messages []ragctx.Message) []ragctx.Message {
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

// prune chooses the tool outputs to prune so that the newest ones cost at most protect tokens. The
// first output that exceeds the rest keeps a part, older ones nothing. Messages with skip(i) are
// ignored; cost returns the cost of an output. Already pruned outputs cost nothing, so that pruning
// is idempotent.
func prune(messages []ragctx.Message, skip func(int) bool, cost func(message, block int) int, counter ragctx.Counter,
	protect int,
) []pruning {
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

// charsWithin returns the number of characters of an output that fit a budget, or 0.
func charsWithin(text string, cost, budget int, counter ragctx.Counter) int {
	chars := len([]rune(text)) * budget / cost
	for chars > 1 && counter.Count(omitMiddle(text, chars, PrunedMarker, 1, 2)) > budget {
		chars = chars * 9 / 10
	}
	return max(chars, 0)
}

// omitMiddle shortens a text to chars characters with a marker in the middle; num/den of them come
// from the beginning, the rest from the end.
func omitMiddle(text string, chars int, marker string, num, den int) string {
	r := []rune(text)
	if len(r) <= chars {
		return text
	}
	head := chars * num / den
	return strings.TrimSpace(string(r[:head])) + "\n" + marker + "\n" + strings.TrimSpace(string(r[len(r)-(chars-head):]))
}

// pruneBlock prunes the output in a block, and reports whether it changed.
func pruneBlock(c ragctx.Content, block, chars int) bool {
	if block < 0 || block >= len(c) || c[block].Type != ragctx.BlockToolResult {
		return false
	}
	text := session.ContentText(c[block].Content)
	switch {
	case chars <= 0: // a record may come from another client
		text = PrunedMarker
	case strings.Contains(text, PrunedMarker): // already pruned
		return false
	default:
		text = omitMiddle(text, chars, PrunedMarker, 1, 2)
	}
	c[block].Content = ragctx.Text(text)
	return true
}
