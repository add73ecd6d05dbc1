package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
)

// identify gives ids to the calls of Gemini's that have none, and to each result without one
// that of its call. A result belongs to the model's turn right before it: its calls of that name
// in order, those of the nearest contents where there are more calls than results. What it finds
// no call for there answers an older one, but none from before the user spoke.
func identify(before, read []ragctx.Message) {
	p := pairer{there: true}
	for len(before) > 0 {
		n := p.take(before)
		before = before[n:]
	}
	p.there = false
	for len(read) > 0 {
		n := p.take(read)
		read = read[n:]
	}
}

// pairer knows the calls that results may answer.
type pairer struct {
	there bool // the messages are those before, which nothing changes
	given int  // the highest number of an id that was given
	// open are the calls without a result since the user spoke; those from turn on are of the
	// model's newest turn, after which answered says that results came.
	open     []openCall
	turn     int
	answered bool
}

type openCall struct {
	id, name string
	content  int // which of the model's contents it is in
}

// take goes on with the first message, or with all results that come one after the other, and
// returns how many messages these are.
func (p *pairer) take(messages []ragctx.Message) int {
	if m := &messages[0]; m.Role == ragctx.RoleAssistant {
		p.calls(m)
		return 1
	}
	n := 0
	for n < len(messages) && len(messages[n].ToolResults()) > 0 && messages[n].Role != ragctx.RoleAssistant {
		n++
		if !onlyResults(messages[n-1]) {
			break
		}
	}
	p.results(messages[:n])
	if n = max(n, 1); !isSystem(messages[n-1]) && !onlyResults(messages[n-1]) {
		p.open, p.turn = nil, 0
	}
	return n
}

// calls notes the calls of a message, and gives them ids.
func (p *pairer) calls(m *ragctx.Message) {
	content := 0
	if len(p.open) > 0 {
		content = p.open[len(p.open)-1].content + 1
	}
	for i := range m.Content {
		b := &m.Content[i]
		if b.Type != ragctx.BlockToolUse {
			continue
		}
		if p.answered {
			p.turn, p.answered = len(p.open), false
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(b.ID, noID)); err == nil {
			p.given = max(p.given, n)
		}
		if b.ID == "" && !p.there {
			p.given++
			b.ID = fmt.Sprintf("%s%d", noID, p.given)
		}
		p.open = append(p.open, openCall{b.ID, b.Name, content})
	}
}

// results gives results the ids of their calls, those that have ids first.
func (p *pairer) results(messages []ragctx.Message) {
	missing := make(map[string][]*ragctx.Block) // by name
	for _, m := range messages {
		for i := range m.Content {
			switch b := &m.Content[i]; {
			case b.Type != ragctx.BlockToolResult, p.there && b.ToolUseID == "":
			case b.ToolUseID == "":
				b.ToolUseID = noID
				missing[b.Name] = append(missing[b.Name], b)
			default:
				p.close(b.ToolUseID)
			}
		}
	}
	for name, blocks := range missing {
		for i, id := range p.nearest(name, len(blocks)) {
			blocks[i].ToolUseID = id
			p.close(id)
		}
	}
	p.answered = p.answered || len(messages) > 0
}

// close takes a call out of those that have no result.
func (p *pairer) close(id string) {
	if i := slices.IndexFunc(p.open, func(c openCall) bool { return c.id == id }); i >= 0 {
		p.open = slices.Delete(p.open, i, i+1)
		if i < p.turn {
			p.turn--
		}
	}
}

// nearest returns the ids of at most n calls of a tool, those of the newest turn first.
func (p *pairer) nearest(name string, n int) []string {
	newest := lastOf(p.open[p.turn:], name, n)
	return append(newest, lastOf(p.open[:p.turn], name, n-len(newest))...)
}

// lastOf returns at most n calls of a tool, in order, from the last contents that have so many.
func lastOf(calls []openCall, name string, n int) []string {
	var of []openCall
	for _, c := range calls {
		if c.name == name {
			of = append(of, c)
		}
	}
	from := max(len(of)-n, 0)
	for from > 0 && from < len(of) && of[from-1].content == of[from].content {
		from-- // calls of one content are answered in their order
	}
	var ids []string
	for _, c := range of[from:min(from+n, len(of))] {
		ids = append(ids, c.id)
	}
	return ids
}
