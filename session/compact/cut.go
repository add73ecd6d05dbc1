package compact

import (
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// cut describes the messages to summarize: those in [from, to) that do not stay.
type cut struct {
	from, to int
	stays    []bool // for all messages
	kept     int    // cost of all other messages
	covered  int    // cost of the messages to summarize
}

// cutter chooses the cut of a sound view.
type cutter struct {
	messages []ragctx.Message
	costs    []int
	groups   []session.Span
	leading  int // number of leading system messages
	last     int // index of the newest instruction, or -1
	required []bool
}

func newCutter(messages []ragctx.Message, costs []int) *cutter {
	c := &cutter{messages: messages, costs: costs, groups: session.Groups(messages), required: make([]bool, len(messages))}
	c.last = session.LastInstruction(messages)
	for c.leading < len(messages) && session.IsSystem(messages[c.leading]) {
		c.leading++
	}
	must := append(pending(messages), session.NewestExchange(messages)...)
	if c.last >= 0 {
		must = append(must, c.last)
	}
	for _, i := range must {
		g := c.groups[c.group(i)]
		for j := g.From; j < g.To; j++ {
			c.required[j] = !isSummary(messages[j])
		}
	}
	return c
}

// group returns the index of the group that contains a message.
func (c *cutter) group(i int) int {
	n, _ := slices.BinarySearchFunc(c.groups, i, func(g session.Span, i int) int { return g.To - 1 - i })
	return n
}

// cut chooses the messages to summarize. It keeps the first and last messages, but fewer of the
// last ones if the rest and the reserve for the summary exceed the limit; a limit of 0 means none.
// It returns false if there is nothing to summarize.
func (c *cutter) cut(first, last, limit, reserve int) (out cut, ok bool) {
	from := c.headEnd(first)
	to := c.tailStart(from, last)
	if to <= from {
		return cut{}, false
	}
	firm := make([]bool, len(c.messages)) // the head stays even if the summary precedes it
	for i := c.leading; i < from; i++ {
		firm[i] = true
	}
	if c.leading <= c.last && c.last < from {
		from = max(c.groups[c.group(c.last)].From, c.leading)
	}
	out = c.between(from, to, firm)
	for limit > 0 && out.kept+reserve > limit && out.to < len(c.messages) {
		out = c.between(from, c.groups[c.group(out.to)].To, firm)
	}
	if limit > 0 && out.kept+reserve > limit {
		out = c.between(c.leading, out.to, make([]bool, len(c.messages)))
	}
	for i := out.from; i < out.to; i++ {
		if !out.stays[i] && !isSummary(c.messages[i]) {
			return out, true
		}
	}
	return cut{}, false
}

// headEnd returns the end of the first messages: at a group boundary, and before the first summary,
// which the next summary merges.
func (c *cutter) headEnd(first int) int {
	end := min(first, len(c.messages))
	if i := slices.IndexFunc(c.messages, isSummary); i >= 0 {
		end = min(end, i)
	}
	if end < len(c.messages) {
		end = c.groups[c.group(end)].From
	}
	return max(end, c.leading)
}

// tailStart returns the start of the last messages, after all summaries. It moves back to include
// the call of a result, or, if that leaves nothing to summarize, forward past the results.
func (c *cutter) tailStart(head, last int) int {
	start := len(c.messages) - min(last, len(c.messages))
	least := head
	for i, m := range slices.Backward(c.messages) {
		if isSummary(m) {
			least = max(least, i)
			break
		}
	}
	if start = max(start, least+1); start >= len(c.messages) {
		return len(c.messages)
	}
	g := c.groups[c.group(start)]
	if g.From > least || g.From == start {
		return g.From
	}
	return g.To
}

// between returns the cut of a range.
func (c *cutter) between(from, to int, firm []bool) cut {
	out := cut{from: from, to: to, stays: make([]bool, len(c.messages))}
	for i := range c.messages {
		out.stays[i] = i < from || i >= to || c.required[i] || firm[i]
		if out.stays[i] {
			out.kept += c.costs[i]
		} else {
			out.covered += c.costs[i]
		}
	}
	return out
}

// pending returns the indexes of messages in a sound view with unanswered calls.
func pending(messages []ragctx.Message) []int {
	return slices.Collect(maps.Values(unanswered(messages)))
}

// unanswered maps the ids of unanswered calls in a sound view to their message indexes.
func unanswered(messages []ragctx.Message) map[string]int {
	open := make(map[string]int)
	for i := range messages {
		for j := range messages[i].Content {
			switch b := &messages[i].Content[j]; b.Type {
			case ragctx.BlockToolUse:
				open[b.ID] = i
			case ragctx.BlockToolResult:
				delete(open, b.ToolUseID)
			default:
			}
		}
	}
	return open
}
