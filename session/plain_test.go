package session_test

import (
	"cmp"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// A simple reference implementation of truncation that scans all messages for each question. The
// views must be equal.

func TestViewsAreThoseOfThePlainWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := slices.Concat(parallel(t), conversation(t))
		for i := range messages { // shortening is tested elsewhere
			if m := &messages[i]; m.Role == ragctx.RoleTool {
				m.Content = slices.DeleteFunc(m.Content, func(b ragctx.Block) bool { return b.Type == ragctx.BlockImage })
			}
		}
		l := session.Limits{Tokens: rapid.IntRange(0, 400).Draw(t, "budget"), Scale: scale, Steady: rapid.Bool().Draw(t, "steady")}
		if rapid.Bool().Draw(t, "costs") {
			l.Costs = rapid.SliceOfN(rapid.IntRange(0, 40), len(messages), len(messages)).Draw(t, "of each")
		}
		whole, costs, p := plainSound(messages, l)
		equal(t, "sound", whole, session.Sound(messages, l))
		equal(t, "truncated", plainShorten(whole, costs, p, l), session.Truncate(messages, l))
		equal(t, "groups", plainGroups(len(messages), plainPair(messages)), session.Groups(messages))
	})
}

// parallel draws parallel calls, some of them answered.
func parallel(t *rapid.T) []ragctx.Message {
	ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 15), 0, 14, rapid.ID[int]).Draw(t, "parallel")
	calls, results := ragctx.Message{Role: ragctx.RoleAssistant}, ragctx.Message{Role: ragctx.RoleTool}
	for _, id := range ids {
		calls.Content = append(calls.Content, ragctx.Block{Type: ragctx.BlockToolUse, ID: strconv.Itoa(id), Name: "f"})
	}
	for _, id := range rapid.Permutation(ids).Draw(t, "answered")[:rapid.IntRange(0, len(ids)).Draw(t, "number")] {
		results.Content = append(results.Content, ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: strconv.Itoa(id), Content: ragctx.Text("done")})
	}
	return []ragctx.Message{calls, results}
}

func equal(t *rapid.T, what string, want, got any) {
	if d := gocmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s differs (-plain +made):\n%s", what, d)
	}
}

type position struct{ message, block int }

type link struct{ call, result position }

type pairing struct {
	links []link
	// orphans are results without a call; pending and abandoned are calls without a
	// result. All are in order.
	orphans, pending, abandoned []position
}

func plainGroups(n int, p pairing) []session.Span {
	ends := make([]int, n) // by message: the last one that belongs to it
	for i := range ends {
		ends[i] = i
	}
	for _, l := range p.links {
		ends[l.call.message] = max(ends[l.call.message], l.result.message)
	}
	out := make([]session.Span, 0, n)
	for from := 0; from < n; {
		to := from + 1
		for i := from; i < to; i++ {
			to = max(to, ends[i]+1)
		}
		out = append(out, session.Span{from, to})
		from = to
	}
	return out
}

func plainPair(messages []ragctx.Message) pairing {
	type call struct {
		position

		answered, latest bool // latest says that a result would answer this one
	}
	var p pairing
	var calls []call
	latest := make(map[string]int) // by id: where the latest call is in calls
	for i := range messages {
		m := &messages[i]
		for j := range m.Content {
			at := position{i, j}
			switch b := &m.Content[j]; b.Type {
			case ragctx.BlockToolUse:
				if m.Role == ragctx.RoleAssistant {
					if before, ok := latest[b.ID]; ok {
						calls[before].latest = false
					}
					latest[b.ID] = len(calls)
				}
				calls = append(calls, call{position: at, latest: m.Role == ragctx.RoleAssistant})
			case ragctx.BlockToolResult:
				k, ok := latest[b.ToolUseID]
				if !ok || m.Role == ragctx.RoleAssistant || session.IsSystem(*m) || calls[k].answered {
					p.orphans = append(p.orphans, at)
					continue
				}
				calls[k].answered = true
				p.links = append(p.links, link{calls[k].position, at})
			default:
			}
		}
	}
	last := plainLastTurn(messages)
	for _, c := range calls {
		switch {
		case c.answered:
		case c.message >= last && c.latest:
			p.pending = append(p.pending, c.position)
		default:
			p.abandoned = append(p.abandoned, c.position)
		}
	}
	return p
}

func plainLastTurn(messages []ragctx.Message) int {
	first := len(messages)
	for i, m := range slices.Backward(messages) {
		switch {
		case m.Role == ragctx.RoleAssistant:
			first = i
		case session.IsSystem(m):
		case first < len(messages) || !plainOnlyResults(m):
			return first
		}
	}
	return first
}

func plainOnlyResults(m ragctx.Message) bool {
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

func plainOpens(m ragctx.Message) bool { return m.Role == ragctx.RoleUser && len(m.ToolResults()) == 0 }

func plainShorten(whole session.View, costs []int, p pairing, l session.Limits) session.View {
	budget := l.Tokens
	if whole.Tokens <= budget {
		return whole
	}
	runs := plainGroups(len(whole.Messages), p)
	stay := plainEssential(whole.Messages, p, runs)
	used := 0
	for i, s := range stay {
		if s {
			used += costs[i]
		}
	}
	fit := plainFitting(runs, stay, costs, budget-used)
	if l.Steady {
		fit = plainStepped(whole.Messages, runs, costs, fit, budget)
	}
	first, begin := plainBeginning(whole.Messages, runs[fit:])
	v := session.View{Dropped: slices.Clone(whole.Dropped)}
	for i, m := range whole.Messages {
		if stay[i] || i >= begin {
			v.Messages, v.Indexes = append(v.Messages, m), append(v.Indexes, whole.Indexes[i])
			v.Tokens += costs[i]
			continue
		}
		reason := session.ReasonBudget
		if i >= first {
			reason = session.ReasonBoundary
		}
		c := session.Dropped{Index: whole.Indexes[i], Tokens: costs[i], Reason: reason}
		for _, part := range whole.Dropped {
			if part.Index == c.Index {
				c.Tokens += part.Tokens
			}
		}
		v.Dropped = slices.DeleteFunc(v.Dropped, func(part session.Dropped) bool { return part.Index == c.Index })
		v.Dropped = append(v.Dropped, c)
	}
	v.Over = max(v.Tokens-budget, 0)
	slices.SortStableFunc(v.Dropped, func(a, b session.Dropped) int { return a.Index - b.Index })
	return v
}

func plainSound(messages []ragctx.Message, l session.Limits) (v session.View, costs []int, p pairing) {
	known := l.Costs
	if known == nil {
		known = l.Scale.Messages(messages)
	}
	p = plainPair(messages)
	if len(p.orphans)+len(p.abandoned) == 0 && !slices.ContainsFunc(messages, isEmpty) {
		v = session.View{Messages: messages, Indexes: make([]int, len(messages))}
		for i := range messages {
			v.Indexes[i] = i
			v.Tokens += known[i]
		}
		v.Over = max(v.Tokens-l.Tokens, 0)
		return v, known, p
	}
	out := make(map[int]map[int]session.Reason) // by message and block: why the block is left out
	for _, list := range []struct {
		of  []position
		why session.Reason
	}{{p.orphans, session.ReasonOrphanResult}, {p.abandoned, session.ReasonUnanswered}} {
		for _, at := range list.of {
			if out[at.message] == nil {
				out[at.message] = make(map[int]session.Reason)
			}
			out[at.message][at.block] = list.why
		}
	}
	v.Messages, v.Indexes, costs = make([]ragctx.Message, 0, len(messages)), make([]int, 0, len(messages)), make([]int, 0, len(messages))
	for i, m := range messages {
		cost, why := known[i], session.Reason("")
		if len(out[i]) > 0 {
			m.Content, why = plainWithout(m.Content, out[i])
		}
		if why != "" && isBlank(m.Content) || isEmpty(m) {
			v.Dropped = append(v.Dropped, session.Dropped{Index: i, Tokens: cost, Reason: cmp.Or(why, session.ReasonOrphanResult)})
			continue
		}
		if why != "" {
			cost = l.Scale.Message(m)
			v.Dropped = append(v.Dropped, session.Dropped{Index: i, Partial: true, Tokens: max(known[i]-cost, 0), Reason: why})
		}
		v.Messages, v.Indexes, costs = append(v.Messages, m), append(v.Indexes, i), append(costs, cost)
		v.Tokens += cost
	}
	v.Over = max(v.Tokens-l.Tokens, 0)
	if len(v.Dropped) > 0 {
		p = plainPair(v.Messages)
	}
	return v, costs, p
}

func plainWithout(c ragctx.Content, out map[int]session.Reason) (rest ragctx.Content, why session.Reason) {
	for j, b := range c {
		if r, gone := out[j]; !gone {
			rest = append(rest, b)
		} else if why == "" {
			why = r
		}
	}
	return rest, why
}

func isBlank(c ragctx.Content) bool {
	return !slices.ContainsFunc(c, func(b ragctx.Block) bool { return b.Type != ragctx.BlockText || b.Text != "" })
}

func plainEssential(messages []ragctx.Message, p pairing, runs []session.Span) []bool {
	stay := make([]bool, len(messages))
	for i := 0; i < len(messages) && session.IsSystem(messages[i]); i++ {
		stay[i] = true
	}
	must := []int{session.LastInstruction(messages), -1}
	for i := must[0] + 1; i < len(messages); i++ {
		for _, b := range messages[i].Content {
			if messages[i].Role == ragctx.RoleUser && (b.Type == ragctx.BlockImage || b.Type == ragctx.BlockVendor) {
				must[1] = i
			}
		}
	}
	for _, at := range p.pending {
		must = append(must, at.message)
	}
	for _, g := range runs {
		if slices.ContainsFunc(must, func(i int) bool { return g.From <= i && i < g.To }) {
			for i := g.From; i < g.To; i++ {
				stay[i] = true
			}
		}
	}
	plainExchange(messages, p, stay)
	return stay
}

// plainExchange marks the newest tool exchange: results after the last assistant message, if
// nothing else follows it, with their calls and the other results of these.
func plainExchange(messages []ragctx.Message, p pairing, stay []bool) {
	last := len(messages) - 1
	for ; last >= 0 && messages[last].Role != ragctx.RoleAssistant; last-- {
		if !session.IsSystem(messages[last]) && !plainOnlyResults(messages[last]) {
			return
		}
	}
	if last < 0 || !slices.ContainsFunc(p.links, func(l link) bool { return l.result.message > last }) {
		return
	}
	in := make(map[int]bool)
	for range p.links {
		for _, l := range p.links {
			if l.result.message > last || in[l.call.message] || in[l.result.message] {
				in[l.call.message], in[l.result.message] = true, true
			}
		}
	}
	begun := false
	for i := range messages {
		begun = begun || in[i]
		stay[i] = stay[i] || in[i] || begun && i > plainLastTurn(messages) && session.IsSystem(messages[i])
	}
}

func plainFitting(runs []session.Span, stay []bool, costs []int, budget int) int {
	fit := len(runs)
	for fit > 0 {
		cost := 0
		for i := runs[fit-1].From; i < runs[fit-1].To; i++ {
			if !stay[i] {
				cost += costs[i]
			}
		}
		if cost > budget {
			break
		}
		budget -= cost
		fit--
	}
	return fit
}

func plainStepped(messages []ragctx.Message, runs []session.Span, costs []int, fit, budget int) int {
	const share = 4 // a step is at most this part of the budget
	step := 1
	for step*2 <= budget/share {
		step *= 2
	}
	at := 0
	for n, g := range runs {
		before := at
		for i := g.From; i < g.To; i++ {
			if at > 0 || !session.IsSystem(messages[i]) {
				at += costs[i]
			}
		}
		if n >= fit && (before+step-1)/step < (at+step-1)/step {
			return n
		}
	}
	return fit
}

func plainBeginning(messages []ragctx.Message, fit []session.Span) (first, begin int) {
	if len(fit) == 0 {
		return len(messages), len(messages)
	}
	first = fit[0].From
	last := session.LastInstruction(messages)
	if 0 <= last && last < first {
		return first, first
	}
	for _, g := range fit {
		if plainOpens(messages[g.From]) || g.From <= last && last < g.To {
			return first, g.From
		}
	}
	return first, first
}

func isEmpty(m ragctx.Message) bool { return m.Role == ragctx.RoleTool && len(m.ToolResults()) == 0 }
