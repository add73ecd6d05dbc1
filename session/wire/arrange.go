package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// indexed is a message with its index in the list to be written.
type indexed struct {
	ragctx.Message

	index int
}

// arrange moves the results of each call right after the calling message, and calls without a
// result to the end. It normalizes call ids for the vendor and gives results the names of their
// tools. It changes the contents of the messages, which must belong to the caller.
func arrange(messages []ragctx.Message, v Vendor, normalizeID func(string) string, l *losses) []indexed {
	list := make([]indexed, len(messages))
	for i, m := range messages {
		if slices.ContainsFunc(m.Content, isResult) {
			m.Content = slices.DeleteFunc(m.Content, isEmptyText) // or it would become a message of its own
		}
		list[i] = indexed{m, i}
		foldToolText(&list[i], l)
	}
	a := arranger{list: list, results: make(map[int][]result), late: make(map[[2]int]bool), open: -1}
	a.link(v != OpenAI, normalizeID, l)
	return a.place()
}

// arranger moves tool results next to their calls.
type arranger struct {
	list    []indexed
	results map[int][]result // results that come too late, by calling message
	late    map[[2]int]bool  // positions of the late results: message and block
	open    int              // the first message with an unanswered call, or -1
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

// link finds the call of each result, makes call ids unique if unique is set, and records results
// that come too late.
func (a *arranger) link(unique bool, normalizeID func(string) string, l *losses) {
	latest := make(map[string]*call) // by original id
	used := make(map[string]int)
	var calls []*call
	caller := -1 // the message that results may answer at this point
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
				rename(b, used, unique, normalizeID, m.index, l)
			case b.Type == ragctx.BlockToolResult && !assistant:
				c, ok := latest[b.ToolUseID]
				if !ok || c.answered {
					continue
				}
				c.answered = true
				b.ToolUseID, b.Name = c.block.ID, c.block.Name
				if c.message != caller {
					a.results[c.message] = append(a.results[c.message], result{*m, *b})
					a.late[[2]int{i, j}] = true
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

// rename gives a call an id that the vendor accepts. used counts how often each id was requested.
func rename(b *ragctx.Block, used map[string]int, unique bool, normalizeID func(string) string, index int, l *losses) {
	base := normalizeID(b.ID)
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

// place returns the messages with late results moved right after their calls.
func (a *arranger) place() []indexed {
	var out []indexed
	open := -1
	for i, m := range a.list {
		if i == a.open {
			open = len(out)
		}
		var content ragctx.Content
		for j, b := range m.Content {
			if !a.late[[2]int{i, j}] {
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

// joinTail joins the assistant messages from the first unanswered call on, if only results and
// system messages follow it. The missing results can then come next.
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
	uniqueIDs(joined.Content, results)
	answered := make(map[string]bool)
	for _, m := range results {
		for _, b := range m.ToolResults() {
			answered[b.ToolUseID] = true
		}
	}
	slices.SortStableFunc(joined.Content, func(a, b ragctx.Block) int { return rank(a, answered) - rank(b, answered) })
	return slices.Concat(list[:open], system, []indexed{joined}, results)
}

// uniqueIDs gives the calls of one message distinct ids and renames their results to match. Among
// calls with the same id, results are assigned in the order of the calls.
func uniqueIDs(calls ragctx.Content, results []indexed) {
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

// rank orders text before calls. Gemini's calls without an id and without a result come last,
// because their results are matched by position.
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

// onlyResults reports whether a message has tool results and no text.
func onlyResults(m ragctx.Message) bool {
	return m.Role == ragctx.RoleTool || strings.TrimSpace(m.Content.String()) == "" && len(m.ToolResults()) > 0 &&
		len(m.ToolResults())+count(m.Content, ragctx.BlockText) == len(m.Content)
}

func isResult(b ragctx.Block) bool { return b.Type == ragctx.BlockToolResult }

func isEmptyText(b ragctx.Block) bool { return b.Type == ragctx.BlockText && b.Text == "" }

func count(c ragctx.Content, t ragctx.BlockType) int {
	n := 0
	for _, b := range c {
		if b.Type == t {
			n++
		}
	}
	return n
}
