// Package session is about the messages of one conversation: where they are kept, which of
// them belong together, what they cost, and which of them a model is shown. It is pure but
// for what a [Storage] does, and changes no message that it is given: what it makes are
// views.
//
// # Contexts
//
// A [Context] has all that belongs to a conversation, its messages in the sections of a
// [Store]. Both are values that never change. A [Compiler] chooses what a model is shown of
// one: summary, buffer and conversation, with the tool calls of the current execution
// alone, unless another is asked for. A [Storage] keeps them, with the branches that arise
// when somebody goes back and says something else.
//
// # Pairs
//
// A tool call and its results belong together. Providers refuse a conversation that has a
// result without its call, or a call that was passed over, so a view has neither, and no
// cut separates a pair ([Groups]). A call that has no result yet is pending while only
// results come after it: its agent is about to answer it, and it stays. Once the
// conversation has gone on without it, it is abandoned, and a view leaves it out.
package session

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// Span is a run of messages, To excluded.
type Span struct{ From, To int }

// Groups returns the shortest runs of messages that can be cut between: together they
// are all messages, in order, and no tool call is in another run than a result of it. A
// result belongs to the nearest call before it that has its id.
func Groups(messages []ragctx.Message) []Span { return groups(len(messages), pair(messages)) }

func groups(n int, p pairing) []Span {
	out := make([]Span, 0, n)
	for g := range p.backward(n) {
		out = append(out, g)
	}
	slices.Reverse(out)
	return out
}

// place is a block of a message.
type place struct{ message, block int }

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.message, o.message), cmp.Compare(p.block, o.block))
}

// link is a call with its result, by their messages.
type link struct{ call, result int }

// pairing is which calls and results belong together.
type pairing struct {
	links []link // in the order of the results
	// orphans are results without a call; pending and abandoned are calls without a
	// result. All are in order.
	orphans, pending, abandoned []place
	// empty says that there are messages of tools without a result.
	empty bool
}

// isSound reports whether there is nothing that a view leaves out.
func (p pairing) isSound() bool { return len(p.orphans)+len(p.abandoned) == 0 && !p.empty }

// pair finds out what belongs together. Only assistants call tools: what claims to be a
// call of somebody else is an abandoned one. Only users and tools hand in results.
func pair(messages []ragctx.Message) pairing {
	p := pairing{links: make([]link, 0, len(messages)/4)}
	open := make(map[string]place) // the calls that a result would answer, by id: few at a time
	for i := range messages {
		m := &messages[i]
		results := false
		for j := range m.Content {
			at := place{i, j}
			switch b := &m.Content[j]; b.Type {
			case ragctx.BlockToolUse:
				if m.Role != ragctx.RoleAssistant {
					p.abandoned = append(p.abandoned, at)
					continue
				}
				if before, ok := open[b.ID]; ok {
					p.abandoned = append(p.abandoned, before)
				}
				open[b.ID] = at
			case ragctx.BlockToolResult:
				results = true
				call, ok := open[b.ToolUseID]
				if !ok || m.Role == ragctx.RoleAssistant || IsSystem(*m) {
					p.orphans = append(p.orphans, at)
					continue
				}
				delete(open, b.ToolUseID)
				p.links = append(p.links, link{call.message, i})
			default:
			}
		}
		p.empty = p.empty || !results && m.Role == ragctx.RoleTool
	}
	last := lastTurn(messages)
	for _, at := range open {
		if at.message >= last {
			p.pending = append(p.pending, at)
		} else {
			p.abandoned = append(p.abandoned, at)
		}
	}
	slices.SortFunc(p.pending, place.compare)
	slices.SortFunc(p.abandoned, place.compare)
	return p
}

// backward yields the groups of a conversation of n messages from the last one on.
func (p pairing) backward(n int) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		links := p.links
		for to := n; to > 0; {
			from := to - 1
			for k := len(links) - 1; k >= 0 && links[k].result >= from; k-- {
				from, links = min(from, links[k].call), links[:k]
			}
			if !yield(Span{from, to}) {
				return
			}
			to = from
		}
	}
}

// lastTurn returns where the turn begins that an assistant has last, if nobody has spoken
// since; otherwise the number of messages. An assistant may take several messages to say
// what it calls, and their results are nobody's words.
func lastTurn(messages []ragctx.Message) int {
	first := len(messages)
	for i, m := range slices.Backward(messages) {
		switch {
		case m.Role == ragctx.RoleAssistant:
			first = i
		case IsSystem(m):
		case first < len(messages) || !onlyResults(m):
			return first
		}
	}
	return first
}

// onlyResults reports whether a message has tool results and nothing that is said.
func onlyResults(m ragctx.Message) bool {
	if m.Role == ragctx.RoleTool {
		return true
	}
	found := false
	for _, b := range m.Content {
		if b.Type != ragctx.BlockToolResult && (b.Type != ragctx.BlockText || b.Text != "") {
			return false
		}
		found = found || b.Type == ragctx.BlockToolResult
	}
	return found
}

// opens reports whether a conversation may begin with a message: a user speaks, and does
// not only hand in results.
func opens(m ragctx.Message) bool { return m.Role == ragctx.RoleUser && len(m.ToolResults()) == 0 }

// instructs reports whether a message is a user's instruction: it has words of the user.
func instructs(m ragctx.Message) bool {
	return m.Role == ragctx.RoleUser && strings.TrimSpace(m.Content.String()) != "" && !IsRecord(m)
}

// LastInstruction returns the index of the newest message in which a user says
// something, and -1 if there is none.
func LastInstruction(messages []ragctx.Message) int {
	for i, m := range slices.Backward(messages) {
		if instructs(m) {
			return i
		}
	}
	return -1
}

// IsSystem reports whether a message is for the model alone, by its operator.
func IsSystem(m ragctx.Message) bool {
	return m.Role == ragctx.RoleSystem || m.Role == ragctx.RoleDeveloper
}
