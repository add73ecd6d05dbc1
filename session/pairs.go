// Package session models the messages of one conversation: where they are stored, which of them
// belong together, what they cost, and which of them a model is shown. Only a [Storage] has side
// effects; all other functions return views and do not change the given messages.
//
// # Contexts
//
// A [Context] holds the complete state of a conversation, its messages in the sections of a
// [Store]. Both are immutable values. A [Compiler] chooses the messages of a context for a model:
// by default summary, buffer and conversation, with the tool calls of the current execution only. A
// [Storage] stores sessions, with the branches that arise when a user goes back and continues
// differently.
//
// # Pairs
//
// A tool call and its results belong together. Providers reject a conversation with a result
// without its call, or with an unanswered call in the middle. A view therefore has neither, and no
// cut separates a pair ([Groups]). An unanswered call is pending while only results follow it: its
// agent is about to answer it, and it stays. Once the conversation has continued without a result,
// the call is abandoned, and views drop it.
package session

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// Span is a range of messages; To is exclusive.
type Span struct{ From, To int }

// Groups splits a conversation into the shortest ranges between which it can be cut: no tool call
// is in another range than its results. A result belongs to the nearest preceding call with its id.
func Groups(messages []ragctx.Message) []Span { return groups(len(messages), pair(messages)) }

func groups(n int, p pairing) []Span {
	out := make([]Span, 0, n)
	for g := range p.backward(n) {
		out = append(out, g)
	}
	slices.Reverse(out)
	return out
}

// position identifies a block of a message.
type position struct{ message, block int }

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.message, o.message), cmp.Compare(p.block, o.block))
}

// link connects a call and its result by the indexes of their messages.
type link struct{ call, result int }

// pairing describes which calls and results belong together.
type pairing struct {
	links []link // in the order of the results
	// orphans are results without a call; pending and abandoned are calls without a result. All are
	// in order.
	orphans, pending, abandoned []position
	// empty reports tool messages without a result.
	empty bool
}

// isSound reports whether a view needs to drop nothing.
func (p pairing) isSound() bool { return len(p.orphans)+len(p.abandoned) == 0 && !p.empty }

// pair matches calls with results. Only assistants can call tools: a call in another message counts
// as abandoned. Only users and tools can return results.
func pair(messages []ragctx.Message) pairing {
	p := pairing{links: make([]link, 0, len(messages)/4)}
	open := make(map[string]position) // unanswered calls by id; few at a time
	for i := range messages {
		m := &messages[i]
		results := false
		for j := range m.Content {
			at := position{i, j}
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
	slices.SortFunc(p.pending, position.compare)
	slices.SortFunc(p.abandoned, position.compare)
	return p
}

// backward yields the groups of a conversation of n messages, last group first.
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

// lastTurn returns the index at which the assistant's last turn begins, or the number of messages
// if the user has spoken since. A turn may span several assistant messages and the results of their
// calls.
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

// onlyResults reports whether a message has tool results and no other content.
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

// canBegin reports whether a conversation may begin with a message: a user message without tool
// results.
func canBegin(m ragctx.Message) bool { return m.Role == ragctx.RoleUser && len(m.ToolResults()) == 0 }

// isInstruction reports whether a message is a user's instruction: it contains text of the user.
func isInstruction(m ragctx.Message) bool {
	return m.Role == ragctx.RoleUser && strings.TrimSpace(m.Content.String()) != "" && !IsRecord(m)
}

// LastInstruction returns the index of the newest message with text of the user, or -1.
func LastInstruction(messages []ragctx.Message) int {
	for i, m := range slices.Backward(messages) {
		if isInstruction(m) {
			return i
		}
	}
	return -1
}

// IsSystem reports whether a message is an instruction of the operator.
func IsSystem(m ragctx.Message) bool {
	return m.Role == ragctx.RoleSystem || m.Role == ragctx.RoleDeveloper
}
