package session

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx"
)

// Reason says why a message, or a part of one, is not in a view.
type Reason string

// The reasons.
const (
	ReasonBudget       Reason = "budget"          // the newer ones took the budget
	ReasonBoundary     Reason = "boundary"        // it fits, but a conversation cannot begin with it
	ReasonOrphanResult Reason = "orphan_result"   // a tool result whose call is not there
	ReasonUnanswered   Reason = "unanswered_call" // a tool call that was passed over without a result
	ReasonEmpty        Reason = "empty"           // it says nothing
)

// Cut is a message that is not in a view, or of which a part is not.
type Cut struct {
	// Index is the message's place in the conversation.
	Index int
	// Partial says that the rest of the message is in the view.
	Partial bool
	// Tokens are what was saved.
	Tokens int
	Reason Reason
}

// View is what is shown of a conversation.
type View struct {
	// Messages are in the order of the conversation; Kept has the place of each in it.
	// Those of which a part was left out are copies.
	Messages []ragctx.Message
	Kept     []int
	// Tokens is what they cost; Over is by how much that exceeds the budget, which only
	// what must stay can do.
	Tokens, Over int
	// Cuts are in the order of the conversation, one at most of each message.
	Cuts []Cut
}

// Limits are those of a view.
type Limits struct {
	// Tokens is the budget; what must stay may exceed it.
	Tokens int
	Scale  Scale
	// Costs are those of the messages, where they are known; nil has them counted.
	Costs []int
	// Steady has a conversation that does not fit cut in steps of an eighth to a quarter of
	// the budget, so that the view begins with the same message for many turns: what a
	// provider has cached of a prompt ends where it changes. Where the steps are depends on
	// the messages before them alone.
	Steady bool
}

// Sound returns a conversation without tool results that have no call and without calls
// that were abandoned. A message that consists of nothing else is left out.
func Sound(messages []ragctx.Message, l Limits) View {
	v, _, _ := sound(messages, l)
	return v.owned(messages)
}

// IsSound reports whether [Sound] leaves a conversation as it is.
func IsSound(messages []ragctx.Message) bool { return pair(messages).isSound() }

// Truncate returns the newest messages of a conversation that fit into a budget, and
// before them the system messages that it begins with. It is cut where no tool call is
// separated from its result ([Groups]) and a user speaks next.
//
// Some messages stay whatever they cost: the system messages at the start, the newest
// instruction of a user, the newest message in which they show something since, tool
// calls that are pending, each with what belongs to it, and the newest exchange with tools
// ([NewestExchange]); and records of earlier messages
// ([IsRecord]) that cost at most half of the budget.
// Where the newest instruction is older than what fits, what is between is left out.
//
// If these alone exceed the budget, results among them are cut to what fits, each to a fair
// share: of a text head and tail stay, and a note says how much is between. Where that is
// not enough, so are long strings in the inputs of calls that were answered. A quarter of the
// budget is for the newest messages before them, if cutting can leave it. Without a counter
// nothing is cut.
//
// The first message that does not fit ends the view: older and smaller ones are not
// looked for.
func Truncate(messages []ragctx.Message, l Limits) View {
	whole, costs, p := sound(messages, l)
	return shorten(whole, costs, p, l).owned(messages)
}

// owned returns the view as it is given away: with a list of its own, where it has the one
// that it was made of, and with the places of all.
func (v View) owned(of []ragctx.Message) View {
	if v.Kept != nil {
		return v
	}
	v.Messages, v.Kept = slices.Clone(of), make([]int, len(of))
	for i := range v.Kept {
		v.Kept[i] = i
	}
	return v
}

// olderShare is which part of a budget what was said before may have where what stays has to
// be cut.
const olderShare = 4

// sum returns what the messages cost that are chosen.
func sum(costs []int, chosen []bool) (total int) {
	for i, yes := range chosen {
		if yes {
			total += costs[i]
		}
	}
	return total
}

// shorten is Truncate of a sound conversation. What it costs beside the cuts is what is
// shown, not what is there.
func shorten(whole View, costs []int, p pairing, l Limits) View {
	if whole.Tokens <= l.Tokens {
		return whole
	}
	stay := essential(whole.Messages, p)
	for i, m := range whole.Messages {
		stay[i] = stay[i] || costs[i]*2 <= l.Tokens && IsRecord(m) // it stands for all that is before the view
	}
	left := l.Tokens - sum(costs, stay)
	room := left
	if left < 0 {
		room = l.Tokens / olderShare
	}
	fit := fitting(p, stay, costs, room)
	if l.Steady {
		fit = stepped(whole.Messages, fit, costs, l.Tokens)
	}
	first, begin := beginning(whole.Messages, fit)
	budget := l.Tokens
	for i := begin; i < len(stay); i++ {
		if !stay[i] {
			budget -= costs[i]
		}
	}
	short := shrunk(whole.Messages, costs, stay, p, budget, l.Scale)
	if sum(short.costs, stay) > budget { // there is no room for anything else
		first, begin = len(stay), len(stay)
		short = shrunk(whole.Messages, costs, stay, p, l.Tokens, l.Scale)
	}
	return whole.from(first, begin, stay, costs, short, l)
}

// from returns a sound view with what stays of it, cut as it has to be, and all from a
// message on; first is the first one that fits.
func (v View) from(first, begin int, stay []bool, costs []int, short shrinking, l Limits) View {
	shown := len(stay) - begin
	for _, s := range stay[:begin] {
		if s {
			shown++
		}
	}
	out := View{
		Messages: make([]ragctx.Message, 0, shown), Kept: make([]int, 0, shown),
		Cuts: make([]Cut, 0, len(v.Cuts)+len(stay)-shown),
	}
	before := v.Cuts
	cut := func(c Cut) {
		for ; len(before) > 0 && before[0].Index <= c.Index; before = before[1:] {
			if before[0].Index == c.Index { // of which a part was left out; now more goes
				c.Tokens += before[0].Tokens
			} else {
				out.Cuts = append(out.Cuts, before[0])
			}
		}
		out.Cuts = append(out.Cuts, c)
	}
	for i := range v.Messages {
		place := i
		if v.Kept != nil {
			place = v.Kept[i]
		}
		switch {
		case stay[i] || i >= begin:
			out.Messages, out.Kept = append(out.Messages, short.messages[i]), append(out.Kept, place)
			out.Tokens += short.costs[i]
			if short.changed[i] {
				cut(Cut{Index: place, Partial: true, Tokens: costs[i] - short.costs[i], Reason: ReasonBudget})
			}
		case i >= first:
			cut(Cut{Index: place, Tokens: costs[i], Reason: ReasonBoundary})
		default:
			cut(Cut{Index: place, Tokens: costs[i], Reason: ReasonBudget})
		}
	}
	out.Cuts = append(out.Cuts, before...)
	out.Over = max(out.Tokens-l.Tokens, 0)
	return out
}

// sound is Sound with the costs of the view's messages, and what belongs together in it.
// Where nothing is left out, the view's messages are the list that was given, and Kept is
// nil.
func sound(messages []ragctx.Message, l Limits) (v View, costs []int, p pairing) {
	known := l.Costs
	if known == nil {
		known = l.Scale.Messages(messages)
	}
	p = pair(messages)
	if p.isSound() {
		v.Messages = messages
		for _, n := range known {
			v.Tokens += n
		}
		v.Over = max(v.Tokens-l.Tokens, 0)
		return v, known, p
	}
	out := make(map[int]map[int]Reason) // by message and block: why the block is left out
	for _, list := range []struct {
		of  []place
		why Reason
	}{{p.orphans, ReasonOrphanResult}, {p.abandoned, ReasonUnanswered}} {
		for _, at := range list.of {
			if out[at.message] == nil {
				out[at.message] = make(map[int]Reason)
			}
			out[at.message][at.block] = list.why
		}
	}
	v.Messages, v.Kept, costs = make([]ragctx.Message, 0, len(messages)), make([]int, 0, len(messages)), make([]int, 0, len(messages))
	for i, m := range messages {
		cost, why := known[i], Reason("")
		if len(out[i]) > 0 {
			m.Content, why = without(m.Content, out[i])
		}
		if why != "" && blank(m.Content) || empty(&m) {
			v.Cuts = append(v.Cuts, Cut{Index: i, Tokens: cost, Reason: cmp.Or(why, ReasonOrphanResult)})
			continue
		}
		if why != "" {
			cost = l.Scale.Message(m)
			v.Cuts = append(v.Cuts, Cut{Index: i, Partial: true, Tokens: max(known[i]-cost, 0), Reason: why})
		}
		v.Messages, v.Kept, costs = append(v.Messages, m), append(v.Kept, i), append(costs, cost)
		v.Tokens += cost
	}
	v.Over = max(v.Tokens-l.Tokens, 0)
	return v, costs, pair(v.Messages)
}

// Unpaired says why a message with such a content is left out though it says something: one
// of its calls or results belongs to no pair. It is "" where it has neither.
func Unpaired(m ragctx.Message) Reason {
	for _, b := range m.Content {
		switch b.Type {
		case ragctx.BlockToolUse:
			return ReasonUnanswered
		case ragctx.BlockToolResult:
			return ReasonOrphanResult
		default:
		}
	}
	if m.Role == ragctx.RoleTool {
		return ReasonOrphanResult // without a result
	}
	return ""
}

// empty reports whether a message is a tool's and has no result.
func empty(m *ragctx.Message) bool {
	return m.Role == ragctx.RoleTool && !slices.ContainsFunc(m.Content, isResult)
}

// without returns a content without some of its blocks, and why the first of them is
// left out.
func without(c ragctx.Content, out map[int]Reason) (rest ragctx.Content, why Reason) {
	for j, b := range c {
		if r, gone := out[j]; !gone {
			rest = append(rest, b)
		} else if why == "" {
			why = r
		}
	}
	return rest, why
}

// blank reports whether a content has nothing to show.
func blank(c ragctx.Content) bool {
	return !slices.ContainsFunc(c, func(b ragctx.Block) bool { return b.Type != ragctx.BlockText || b.Text != "" })
}

// essential returns for each message whether it must stay.
func essential(messages []ragctx.Message, p pairing) []bool {
	stay := make([]bool, len(messages))
	for i := 0; i < len(messages) && IsSystem(messages[i]); i++ {
		stay[i] = true
	}
	var must []int
	if last := LastInstruction(messages); last >= 0 {
		must = append(must, last)
	}
	if shown := lastShown(messages); shown >= 0 {
		must = append(must, shown)
	}
	for _, at := range p.pending {
		must = append(must, at.message)
	}
	for _, i := range newestExchange(messages, p) {
		stay[i] = true
	}
	if len(must) == 0 {
		return stay
	}
	oldest := slices.Min(must)
	for g := range p.backward(len(messages)) {
		if g.To <= oldest {
			break
		}
		if slices.ContainsFunc(must, func(i int) bool { return g.From <= i && i < g.To }) {
			for i := g.From; i < g.To; i++ {
				stay[i] = true
			}
		}
	}
	return stay
}

// lastShown returns the index of the newest message in which a user shows something, as an
// image or a document, after the newest instruction; -1 if there is none.
func lastShown(messages []ragctx.Message) int {
	for i, m := range slices.Backward(messages) {
		switch {
		case instructs(m):
			return -1
		case m.Role == ragctx.RoleUser && slices.ContainsFunc(m.Content, isShown):
			return i
		}
	}
	return -1
}

func isShown(b ragctx.Block) bool { return b.Type == ragctx.BlockImage || b.Type == ragctx.BlockVendor }

// fitting returns the newest groups that fit into a budget beside the messages that stay,
// in order.
func fitting(p pairing, stay []bool, costs []int, budget int) (fit []Span) {
	for g := range p.backward(len(stay)) {
		for i := g.From; i < g.To; i++ {
			if !stay[i] {
				budget -= costs[i]
			}
		}
		if budget < 0 {
			break
		}
		fit = append(fit, g)
	}
	slices.Reverse(fit)
	return fit
}

// stepped returns the groups from the first one on in which a step ends, or all if none
// does. A step is a power of two of tokens, counted from the start of what is said, so that
// neither later messages nor a budget that is a little different move it.
func stepped(messages []ragctx.Message, fit []Span, costs []int, budget int) []Span {
	if len(fit) == 0 {
		return nil
	}
	const share = 4 // a step is at most this part of the budget
	step := 1
	for step*2 <= budget/share {
		step *= 2
	}
	at, next := 0, 0 // what is said before the message that comes next
	said := func(to int) {
		for ; next < to; next++ {
			if at > 0 || !IsSystem(messages[next]) {
				at += costs[next]
			}
		}
	}
	said(fit[0].From)
	for n, g := range fit {
		before := at
		said(g.To)
		if (before+step-1)/step < (at+step-1)/step {
			return fit[n:]
		}
	}
	return fit
}

// beginning returns where the runs begin that fit, and where the view begins with them: at
// a message that a conversation can begin with, unless an instruction that stays comes
// before, or there is no such message.
func beginning(messages []ragctx.Message, fit []Span) (first, begin int) {
	if len(fit) == 0 {
		return len(messages), len(messages)
	}
	first = fit[0].From
	last := LastInstruction(messages)
	if 0 <= last && last < first {
		return first, first
	}
	for _, g := range fit {
		if opens(messages[g.From]) || g.From <= last && last < g.To {
			return first, g.From
		}
	}
	return first, first
}
