package compact

import (
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// cut says what of a view is summarised: the messages from From to To, excluded, but for
// those that stay.
type cut struct {
	from, to int
	stays    []bool // of all messages
	kept     int    // what everything else costs
	covered  int    // what is summarised costs
}

// cutter finds a cut of a sound view.
type cutter struct {
	messages []ragctx.Message
	costs    []int
	groups   []session.Span
	leading  int // system messages at the start
	last     int // the newest instruction, -1 if there is none
	must     []bool
}

func newCutter(messages []ragctx.Message, costs []int) *cutter {
	c := &cutter{messages: messages, costs: costs, groups: session.Groups(messages), must: make([]bool, len(messages))}
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
			c.must[j] = !isSummary(messages[j])
		}
	}
	return c
}

// group returns the number of the group that a message is in.
func (c *cutter) group(i int) int {
	n, _ := slices.BinarySearchFunc(c.groups, i, func(g session.Span, i int) int { return g.To - 1 - i })
	return n
}

// cut returns what to summarise so that first and last messages stay, and as few of the
// last ones as the limit wants, of which reserve is for the summary; a limit of 0 is
// none. Where there is nothing to summarise ok is false.
func (c *cutter) cut(first, last, limit, reserve int) (out cut, ok bool) {
	from := c.head(first)
	to := c.start(from, last)
	if to <= from {
		return cut{}, false
	}
	firm := make([]bool, len(c.messages)) // the head stays even where the summary comes before it
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

// head returns where the first messages end: where no call is separated from its result,
// and before the first summary, which the next one merges.
func (c *cutter) head(first int) int {
	end := min(first, len(c.messages))
	if i := slices.IndexFunc(c.messages, isSummary); i >= 0 {
		end = min(end, i)
	}
	if end < len(c.messages) {
		end = c.groups[c.group(end)].From
	}
	return max(end, c.leading)
}

// start returns where the last messages begin, behind all summaries: earlier, if a call is
// there whose result is among them, unless that leaves nothing to summarise; then behind
// all its results.
func (c *cutter) start(head, last int) int {
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
		out.stays[i] = i < from || i >= to || c.must[i] || firm[i]
		if out.stays[i] {
			out.kept += c.costs[i]
		} else {
			out.covered += c.costs[i]
		}
	}
	return out
}

// pending returns the messages of a sound view with calls that have no result.
func pending(messages []ragctx.Message) []int {
	return slices.Collect(maps.Values(unanswered(messages)))
}

// unanswered returns the calls of a sound view that have no result, by id: where they are.
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
