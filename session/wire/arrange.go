package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// indexed is a message with its place in the list that is written.
type indexed struct {
	ragctx.Message

	index int
}

// arrange returns a conversation in which the results of each call come right after the
// message that calls, and calls without a result come last. Ids are made such as the
// vendor takes them. Results carry the names of their tools. The messages have contents of
// their own, which are changed.
func arrange(messages []ragctx.Message, v Vendor, renamed func(string) string, l *losses) []indexed {
	list := make([]indexed, len(messages))
	for i, m := range messages {
		if slices.ContainsFunc(m.Content, isResult) {
			m.Content = slices.DeleteFunc(m.Content, isNothing) // or it would be a message of its own
		}
		list[i] = indexed{m, i}
		fold(&list[i], l)
	}
	a := arranger{list: list, results: make(map[int][]result), moved: make(map[[2]int]bool), open: -1}
	a.link(v != OpenAI, renamed, l)
	return a.place()
}

// arranger puts results beside their calls.
type arranger struct {
	list    []indexed
	results map[int][]result // by message that calls: results that come too late
	moved   map[[2]int]bool  // those results, by message and block
	open    int              // the first message with a call that has no result, or -1
}

type result struct {
	from  indexed
	block ragctx.Block
}

type call struct {
	message  int
	block    *ragctx.Block
	answered bool
}

// link finds the call of each result, gives calls ids of their own where unique is asked
// for, and notes the results that are not where they belong.
func (a *arranger) link(unique bool, renamed func(string) string, l *losses) {
	latest := make(map[string]*call) // by the id that was given
	used := make(map[string]int)
	var calls []*call
	caller := -1 // the message whose results may come now
	for i := range a.list {
		m := &a.list[i]
		assistant := m.Role == ragctx.RoleAssistant
		if assistant {
			caller = i
		}
		for j := range m.Content {
			switch b := &m.Content[j]; {
			case b.Type == ragctx.BlockToolUse && assistant:
				c := &call{message: i, block: b}
				latest[b.ID], calls = c, append(calls, c)
				rename(b, used, unique, renamed, m.index, l)
			case b.Type == ragctx.BlockToolResult && !assistant:
				c, ok := latest[b.ToolUseID]
				if !ok || c.answered {
					continue
				}
				c.answered = true
				b.ToolUseID, b.Name = c.block.ID, c.block.Name
				if c.message != caller {
					a.results[c.message] = append(a.results[c.message], result{*m, *b})
					a.moved[[2]int{i, j}] = true
				}
			default:
			}
		}
		if !assistant && !onlyResults(m.Message) {
			caller = -1
		}
	}
	for _, c := range calls {
		if !c.answered {
			a.open = c.message
			return
		}
	}
}

// rename makes the id of a call one that the vendor takes. used has the ids that are
// taken, each with how often it was asked for.
func rename(b *ragctx.Block, used map[string]int, unique bool, renamed func(string) string, index int, l *losses) {
	base := renamed(b.ID)
	id := base
	for unique && used[id] > 0 {
		used[base]++
		id = fmt.Sprintf("%s-%d", base, used[base])
	}
	if id != b.ID {
		l.add(index, fmt.Sprintf("the id %q of a call, which becomes %q", ragctx.Clip(b.ID), ragctx.Clip(id)))
	}
	b.ID = id
	used[id] = max(used[id], 1)
}

// place returns the messages with late results moved to where they belong.
func (a *arranger) place() []indexed {
	var out []indexed
	open := -1
	for i, m := range a.list {
		if i == a.open {
			open = len(out)
		}
		var content ragctx.Content
		for j, b := range m.Content {
			if !a.moved[[2]int{i, j}] {
				content = append(content, b)
			}
		}
		if len(content) > 0 || len(m.Content) == 0 {
			m.Content = content
			out = append(out, m)
		}
		for _, r := range a.results[i] {
			one := r.from
			one.Role, one.Content, one.Reasoning, one.Metadata = ragctx.RoleTool, ragctx.Content{r.block}, "", nil
			out = append(out, one)
		}
	}
	if open >= 0 {
		return joinTail(out, open)
	}
	return out
}

// joinTail joins the messages of assistants from the first call without a result on, if
// nothing else is said after it, so that the missing results are those that come next.
func joinTail(list []indexed, open int) []indexed {
	var system, results []indexed
	joined := list[open]
	joined.Content = nil
	for _, m := range list[open:] {
		switch {
		case m.Role == ragctx.RoleAssistant:
			joined.Content = append(joined.Content, m.Content...)
		case isSystem(m.Message):
			system = append(system, m)
		case onlyResults(m.Message):
			results = append(results, m)
		default:
			return list
		}
	}
	distinct(joined.Content, results)
	answered := make(map[string]bool)
	for _, m := range results {
		for _, b := range m.ToolResults() {
			answered[b.ToolUseID] = true
		}
	}
	slices.SortStableFunc(joined.Content, func(a, b ragctx.Block) int { return rank(a, answered) - rank(b, answered) })
	return slices.Concat(list[:open], system, []indexed{joined}, results)
}

// distinct gives calls of one message ids of their own. Of calls of one id the answered
// ones come first, and their results are in the order of the calls.
func distinct(calls ragctx.Content, results []indexed) {
	taken := make(map[string]int)
	for i := range calls {
		if calls[i].Type == ragctx.BlockToolUse {
			calls[i].ID = numbered(calls[i].ID, taken)
		}
	}
	answered := make(map[string]int)
	for _, m := range results {
		for j := range m.Content {
			if b := &m.Content[j]; b.Type == ragctx.BlockToolResult {
				b.ToolUseID = numbered(b.ToolUseID, answered)
			}
		}
	}
}

func numbered(id string, taken map[string]int) string {
	taken[id]++
	if n := taken[id]; n > 1 {
		return fmt.Sprintf("%s-%d", id, n)
	}
	return id
}

// rank orders what is said before what is called, and calls of Gemini's without ids that have
// no result behind the others: results find theirs by their place.
func rank(b ragctx.Block, answered map[string]bool) int {
	switch {
	case b.Type != ragctx.BlockToolUse:
		return 0
	case strings.HasPrefix(b.ID, noID) && !answered[b.ID]:
		return 2
	}
	return 1
}

func isSystem(m ragctx.Message) bool {
	return m.Role == ragctx.RoleSystem || m.Role == ragctx.RoleDeveloper
}

// onlyResults reports whether a message has tool results and says nothing.
func onlyResults(m ragctx.Message) bool {
	return m.Role == ragctx.RoleTool || strings.TrimSpace(m.Content.String()) == "" && len(m.ToolResults()) > 0 && len(m.ToolResults())+count(m.Content, ragctx.BlockText) == len(m.Content)
}

func isResult(b ragctx.Block) bool { return b.Type == ragctx.BlockToolResult }

func isNothing(b ragctx.Block) bool { return b.Type == ragctx.BlockText && b.Text == "" }

func count(c ragctx.Content, t ragctx.BlockType) int {
	n := 0
	for _, b := range c {
		if b.Type == t {
			n++
		}
	}
	return n
}
