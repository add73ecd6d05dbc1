package session

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx"
)

// Reason is why a message, or a part of one, is missing from a view.
type Reason string

// Reasons.
const (
	ReasonBudget       Reason = "budget"          // newer messages used up the budget
	ReasonBoundary     Reason = "boundary"        // it fits, but a conversation cannot begin with it
	ReasonOrphanResult Reason = "orphan_result"   // a tool result without its call
	ReasonUnanswered   Reason = "unanswered_call" // a tool call that was abandoned
	ReasonEmpty        Reason = "empty"           // it has no content
)

// Dropped is a message that is missing from a view, completely or in part.
type Dropped struct {
	// Index is the message's index in the conversation.
	Index int
	// Partial means that the rest of the message is in the view.
	Partial bool
	// Tokens is the cost saved.
	Tokens int
	Reason Reason
}

// View is the part of a conversation to show to a model.
type View struct {
	// Messages are in the order of the conversation; Indexes has the index of each. Shortened
	// messages are copies.
	Messages []ragctx.Message
	Indexes  []int
	// Tokens is the cost of the messages. Over is the excess over the budget, which only essential
	// messages can cause.
	Tokens, Over int
	// Dropped is in the order of the conversation, with at most one element per message.
	Dropped []Dropped
}

// Limits configure a view.
type Limits struct {
	// Tokens is the budget; essential messages may exceed it.
	Tokens int
	Scale  Scale
	// Costs are the token costs of the messages, if known; nil means that they are counted.
	Costs []int
	// Steady cuts a conversation that does not fit in steps of an eighth to a quarter of the
	// budget. The view then begins with the same message for many turns, so that the provider's
	// prompt cache stays valid. The steps depend only on the preceding messages.
	Steady bool
}

// Sound returns a conversation without orphan tool results and abandoned calls. Messages with no
// other content are dropped.
func Sound(messages []ragctx.Message, l Limits) View {
	v, _, _ := sound(messages, l)
	return v.owned(messages)
}

// IsSound reports whether [Sound] leaves a conversation unchanged.
func IsSound(messages []ragctx.Message) bool { return pair(messages).isSound() }

// Truncate returns the newest messages of a conversation that fit a budget, preceded by its leading
// system messages. It cuts only where no tool call is separated from its result ([Groups]) and a
// user message follows.
//
// Some messages stay at any cost: the leading system messages, the newest instruction of a user,
// the newest message with media of the user after it, and pending tool calls, each with its group,
// and the newest tool exchange ([NewestExchange]). Records of earlier messages ([IsRecord]) stay if
// they cost at most half of the budget. If the newest instruction is older than the messages that
// fit, the messages between are dropped.
//
// If these essential messages exceed the budget, tool results among them are shortened, each to a
// fair share: a text keeps head and tail, and a note gives the size of the omitted middle. If that
// is not enough, long strings in the inputs of answered calls are shortened as well. If possible, a
// quarter of the budget is left for the newest other messages. Without a counter nothing is
// shortened.
//
// The first message that does not fit ends the view, even if older and smaller ones would fit.
func Truncate(messages []ragctx.Message, l Limits) View {
	whole, costs, p := sound(messages, l)
	return truncateSound(whole, costs, p, l).owned(messages)
}

// owned returns the view with lists of its own, and with the indexes of all messages.
func (v View) owned(of []ragctx.Message) View {
	if v.Indexes != nil {
		return v
	}
	v.Messages, v.Indexes = slices.Clone(of), make([]int, len(of))
	for i := range v.Indexes {
		v.Indexes[i] = i
	}
	return v
}

// olderShare is the divisor of the budget for other messages when essential ones must be shortened.
const olderShare = 4

// sum returns the total cost of the chosen messages.
func sum(costs []int, chosen []bool) (total int) {
	for i, yes := range chosen {
		if yes {
			total += costs[i]
		}
	}
	return total
}

// truncateSound is Truncate for a sound conversation. Its cost depends on the size of the view, not
// of the conversation.
func truncateSound(whole View, costs []int, p pairing, l Limits) View {
	if whole.Tokens <= l.Tokens {
		return whole
	}
	stay := essential(whole.Messages, p)
	for i, m := range whole.Messages {
		stay[i] = stay[i] || costs[i]*2 <= l.Tokens && IsRecord(m) // it replaces all messages before the view
	}
	left := l.Tokens - sum(costs, stay)
	room := left
	if left < 0 {
		room = l.Tokens / olderShare
	}
	fit := newestFitting(p, stay, costs, room)
	if l.Steady {
		fit = alignToSteps(whole.Messages, fit, costs, l.Tokens)
	}
	first, begin := viewStart(whole.Messages, fit)
	budget := l.Tokens
	for i := begin; i < len(stay); i++ {
		if !stay[i] {
			budget -= costs[i]
		}
	}
	short := shrinkMessages(whole.Messages, costs, stay, p, budget, l.Scale)
	if sum(short.costs, stay) > budget { // there is no room for other messages
		first, begin = len(stay), len(stay)
		short = shrinkMessages(whole.Messages, costs, stay, p, l.Tokens, l.Scale)
	}
	return whole.build(first, begin, stay, costs, short, l)
}

// build returns the view with all messages from begin on, and the essential ones before, shortened
// as computed. first is the first message that fits.
func (v View) build(first, begin int, stay []bool, costs []int, short shrinker, l Limits) View {
	shown := len(stay) - begin
	for _, s := range stay[:begin] {
		if s {
			shown++
		}
	}
	out := View{
		Messages: make([]ragctx.Message, 0, shown), Indexes: make([]int, 0, shown),
		Dropped: make([]Dropped, 0, len(v.Dropped)+len(stay)-shown),
	}
	before := v.Dropped
	cut := func(c Dropped) {
		for ; len(before) > 0 && before[0].Index <= c.Index; before = before[1:] {
			if before[0].Index == c.Index { // partly dropped before; now completely
				c.Tokens += before[0].Tokens
			} else {
				out.Dropped = append(out.Dropped, before[0])
			}
		}
		out.Dropped = append(out.Dropped, c)
	}
	for i := range v.Messages {
		place := i
		if v.Indexes != nil {
			place = v.Indexes[i]
		}
		switch {
		case stay[i] || i >= begin:
			out.Messages, out.Indexes = append(out.Messages, short.messages[i]), append(out.Indexes, place)
			out.Tokens += short.costs[i]
			if short.changed[i] {
				cut(Dropped{Index: place, Partial: true, Tokens: costs[i] - short.costs[i], Reason: ReasonBudget})
			}
		case i >= first:
			cut(Dropped{Index: place, Tokens: costs[i], Reason: ReasonBoundary})
		default:
			cut(Dropped{Index: place, Tokens: costs[i], Reason: ReasonBudget})
		}
	}
	out.Dropped = append(out.Dropped, before...)
	out.Over = max(out.Tokens-l.Tokens, 0)
	return out
}

// sound is Sound with the costs and the pairing of the view's messages. If nothing is dropped, the
// view shares the given list and Indexes is nil.
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
	out := make(map[int]map[int]Reason) // reasons to drop blocks, by message and block
	for _, list := range []struct {
		of  []position
		why Reason
	}{{p.orphans, ReasonOrphanResult}, {p.abandoned, ReasonUnanswered}} {
		for _, at := range list.of {
			if out[at.message] == nil {
				out[at.message] = make(map[int]Reason)
			}
			out[at.message][at.block] = list.why
		}
	}
	v.Messages, v.Indexes, costs = make([]ragctx.Message, 0, len(messages)), make([]int, 0, len(messages)), make([]int, 0, len(messages))
	for i, m := range messages {
		cost, why := known[i], Reason("")
		if len(out[i]) > 0 {
			m.Content, why = removeBlocks(m.Content, out[i])
		}
		if why != "" && isBlank(m.Content) || lacksResult(&m) {
			v.Dropped = append(v.Dropped, Dropped{Index: i, Tokens: cost, Reason: cmp.Or(why, ReasonOrphanResult)})
			continue
		}
		if why != "" {
			cost = l.Scale.Message(m)
			v.Dropped = append(v.Dropped, Dropped{Index: i, Partial: true, Tokens: max(known[i]-cost, 0), Reason: why})
		}
		v.Messages, v.Indexes, costs = append(v.Messages, m), append(v.Indexes, i), append(costs, cost)
		v.Tokens += cost
	}
	v.Over = max(v.Tokens-l.Tokens, 0)
	return v, costs, pair(v.Messages)
}

// Unpaired returns why a message with content is dropped: one of its calls or results is unpaired.
// It returns "" for a message without calls and results.
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
		return ReasonOrphanResult // a tool message without a result
	}
	return ""
}

// lacksResult reports whether a message is a tool message without a result.
func lacksResult(m *ragctx.Message) bool {
	return m.Role == ragctx.RoleTool && !slices.ContainsFunc(m.Content, isResult)
}

// removeBlocks returns a content without some of its blocks, and the reason for the first removed
// one.
func removeBlocks(c ragctx.Content, out map[int]Reason) (rest ragctx.Content, why Reason) {
	for j, b := range c {
		if r, gone := out[j]; !gone {
			rest = append(rest, b)
		} else if why == "" {
			why = r
		}
	}
	return rest, why
}

// isBlank reports whether a content consists of empty texts.
func isBlank(c ragctx.Content) bool {
	return !slices.ContainsFunc(c, func(b ragctx.Block) bool { return b.Type != ragctx.BlockText || b.Text != "" })
}

// essential reports for each message whether it must stay.
func essential(messages []ragctx.Message, p pairing) []bool {
	stay := make([]bool, len(messages))
	for i := 0; i < len(messages) && IsSystem(messages[i]); i++ {
		stay[i] = true
	}
	var must []int
	if last := LastInstruction(messages); last >= 0 {
		must = append(must, last)
	}
	if shown := lastMedia(messages); shown >= 0 {
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

// lastMedia returns the index of the newest message after the newest instruction in which a user
// sends media, such as an image or a document, or -1.
func lastMedia(messages []ragctx.Message) int {
	for i, m := range slices.Backward(messages) {
		switch {
		case isInstruction(m):
			return -1
		case m.Role == ragctx.RoleUser && slices.ContainsFunc(m.Content, isMedia):
			return i
		}
	}
	return -1
}

func isMedia(b ragctx.Block) bool { return b.Type == ragctx.BlockImage || b.Type == ragctx.BlockVendor }

// newestFitting returns, in order, the newest groups that fit a budget; essential messages cost
// nothing.
func newestFitting(p pairing, stay []bool, costs []int, budget int) (fit []Span) {
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

// alignToSteps returns the groups from the first one that crosses a step on, or all if none does.
// Steps are multiples of a power of two of tokens from the start of the conversation, so that later
// messages and small changes of the budget do not move them.
func alignToSteps(messages []ragctx.Message, fit []Span, costs []int, budget int) []Span {
	if len(fit) == 0 {
		return nil
	}
	const share = 4 // a step is at most this fraction of the budget
	step := 1
	for step*2 <= budget/share {
		step *= 2
	}
	at, next := 0, 0 // tokens before the message with index next
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

// viewStart returns the first message that fits and the message at which the view begins. The view
// begins at a message that a conversation can begin with, unless an essential instruction precedes
// it or there is no such message.
func viewStart(messages []ragctx.Message, fit []Span) (first, begin int) {
	if len(fit) == 0 {
		return len(messages), len(messages)
	}
	first = fit[0].From
	last := LastInstruction(messages)
	if 0 <= last && last < first {
		return first, first
	}
	for _, g := range fit {
		if canBegin(messages[g.From]) || g.From <= last && last < g.To {
			return first, g.From
		}
	}
	return first, first
}
