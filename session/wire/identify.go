package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
)

// identify gives ids to Gemini's calls without one, and gives each result without an id the id of
// its call. A result belongs to the model's turn right before it, matched by tool name in order. If
// that turn has more calls than results, the nearest contents win. A result without a call there
// answers an older call, but never one from before the last user text.
func identify(before, read []ragctx.Message) {
	p := resultMatcher{readOnly: true}
	for len(before) > 0 {
		n := p.advance(before)
		before = before[n:]
	}
	p.readOnly = false
	for len(read) > 0 {
		n := p.advance(read)
		read = read[n:]
	}
}

// resultMatcher tracks the calls that results may answer.
type resultMatcher struct {
	readOnly bool // the messages are context that must not change
	lastID   int  // the highest number of an id given so far
	// open holds the unanswered calls since the last user text. Those from turnStart on belong to
	// the model's newest turn; answered is set once results followed that turn.
	open      []openCall
	turnStart int
	answered  bool
}

type openCall struct {
	id, name string
	content  int // the index of the model content with the call
}

// advance processes the first message, or all consecutive results, and returns the number of
// messages processed.
func (p *resultMatcher) advance(messages []ragctx.Message) int {
	if m := &messages[0]; m.Role == ragctx.RoleAssistant {
		p.addCalls(m)
		return 1
	}
	n := 0
	for n < len(messages) && len(messages[n].ToolResults()) > 0 && messages[n].Role != ragctx.RoleAssistant {
		n++
		if !onlyResults(messages[n-1]) {
			break
		}
	}
	p.matchResults(messages[:n])
	if n = max(n, 1); !isSystem(messages[n-1]) && !onlyResults(messages[n-1]) {
		p.open, p.turnStart = nil, 0
	}
	return n
}

// addCalls records the calls of a message and gives them ids.
func (p *resultMatcher) addCalls(m *ragctx.Message) {
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
			p.turnStart, p.answered = len(p.open), false
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(b.ID, noID)); err == nil {
			p.lastID = max(p.lastID, n)
		}
		if b.ID == "" && !p.readOnly {
			p.lastID++
			b.ID = fmt.Sprintf("%s%d", noID, p.lastID)
		}
		p.open = append(p.open, openCall{b.ID, b.Name, content})
	}
}

// matchResults assigns results to calls, results with ids first.
func (p *resultMatcher) matchResults(messages []ragctx.Message) {
	missing := make(map[string][]*ragctx.Block) // by tool name
	for _, m := range messages {
		for i := range m.Content {
			switch b := &m.Content[i]; {
			case b.Type != ragctx.BlockToolResult, p.readOnly && b.ToolUseID == "":
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

// close removes a call from the unanswered ones.
func (p *resultMatcher) close(id string) {
	if i := slices.IndexFunc(p.open, func(c openCall) bool { return c.id == id }); i >= 0 {
		p.open = slices.Delete(p.open, i, i+1)
		if i < p.turnStart {
			p.turnStart--
		}
	}
}

// nearest returns the ids of at most n calls of a tool, from the newest turn first.
func (p *resultMatcher) nearest(name string, n int) []string {
	newest := newestCalls(p.open[p.turnStart:], name, n)
	return append(newest, newestCalls(p.open[:p.turnStart], name, n-len(newest))...)
}

// newestCalls returns the ids of at most n calls of a tool, in order, from the latest contents.
func newestCalls(calls []openCall, name string, n int) []string {
	var of []openCall
	for _, c := range calls {
		if c.name == name {
			of = append(of, c)
		}
	}
	from := max(len(of)-n, 0)
	for from > 0 && from < len(of) && of[from-1].content == of[from].content {
		from-- // calls of one content are answered in order
	}
	var ids []string
	for _, c := range of[from:min(from+n, len(of))] {
		ids = append(ids, c.id)
	}
	return ids
}
