package compact

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// work is a view with what it costs, and where it comes from.
type work struct {
	conv   Conversation
	raw    []ragctx.Message // the conversation, pruned
	items  []item
	costs  []int // of the items
	pruned []Pruned

	messages []ragctx.Message // of the items, once they were asked for
	begin    func()           // tells, once, that there is something to gain
}

// shown returns the messages of the view.
func (w *work) shown() []ragctx.Message {
	if w.messages == nil {
		w.messages = shown(w.items)
	}
	return w.messages
}

func (w *work) cost() int  { return total(w.costs) }
func (w *work) size() Size { return Size{Messages: len(w.items), Tokens: w.cost()} }

func (c *Compactor) newWork(conv Conversation) *work {
	if conv.Costs == nil {
		conv.Costs = c.scale().Messages(conv.Messages)
	}
	w := &work{conv: conv}
	w.items, w.raw = project(conv.Messages, conv.Records)
	w.costs = w.priced(c.scale())
	size := w.size()
	w.begin = sync.OnceFunc(func() {
		if conv.Begun != nil {
			conv.Begun(size)
		}
	})
	return w
}

// priced returns the costs of the items; those that are as they were in the conversation
// are not counted again.
func (w *work) priced(s session.Scale) []int {
	out := make([]int, len(w.items))
	for i := range w.items {
		it := &w.items[i]
		if it.to == it.from+1 && !it.summary && unchanged(it.message.Content, w.conv.Messages[it.from].Content) {
			out[i] = w.conv.Costs[it.from]
			continue
		}
		out[i] = s.Message(it.message)
	}
	return out
}

func unchanged(a, b ragctx.Content) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// prune returns the work with old outputs of tools pruned; ok is false if there are none.
func (w *work) prune(o Options) (*work, bool) {
	visible := make([]bool, len(w.raw))
	for _, it := range w.items {
		if !it.summary {
			visible[it.from] = true
		}
	}
	out := work{conv: w.conv, begin: w.begin}
	chars := make(prunings)
	skip := func(i int) bool { return !visible[i] }
	cost := func(i, j int) int { return w.output(i, j, o.scale()) }
	for _, p := range prune(w.raw, skip, cost, o.Counter, min(ProtectedTokens, o.Window/4)) {
		chars.add(p)
		out.pruned = append(out.pruned, Pruned{MessageID: w.raw[p.message].ID, Block: p.block, Chars: p.chars})
	}
	if len(out.pruned) == 0 {
		return nil, false
	}
	out.raw = chars.of(w.raw)
	sound := session.Sound(out.raw, session.Limits{})
	out.items = slices.Clone(w.items)
	next := 0 // of what is sound, which is in the order of the items
	for i := range out.items {
		it := &out.items[i]
		for next < len(sound.Indexes) && sound.Indexes[next] < it.from {
			next++
		}
		if next < len(sound.Indexes) && sound.Indexes[next] == it.from && !it.summary {
			it.message = sound.Messages[next]
		}
	}
	out.costs = out.priced(o.scale())
	return &out, true
}

// output returns what the output of a tool in a block of a message costs. It is known of a
// message that has nothing else.
func (w *work) output(i, j int, s session.Scale) int {
	m := &w.raw[i]
	if len(m.Content) == 1 && m.Name == "" && m.Reasoning == "" && unchanged(m.Content, w.conv.Messages[i].Content) {
		return w.conv.Costs[i] - session.MessageOverhead - session.CallOverhead
	}
	return s.Message(ragctx.Message{Content: m.Content[j].Content}) - session.MessageOverhead
}

// original returns a message of the conversation as it was said.
func (w *work) original(i int) ragctx.Message {
	if w.conv.Original == nil {
		return w.conv.Messages[i]
	}
	return w.conv.Original(w.conv.Messages[i])
}

// statementTokens returns about what the user's words cost in a summary that are worth room.
func (w *work) statementTokens(counter ragctx.Counter) int {
	var all []statement
	for i := range w.items {
		m := &w.items[i].message
		if text, ok := SummaryText(*m); ok {
			d, _ := ParseDigest(text)
			all = append(all, d.statements()...)
		} else if m.Role == ragctx.RoleUser {
			all = append(all, statementsOf(textOf(*m), i)...)
		}
	}
	all, _ = standing(all)
	return statementTokens(all, counter)
}

// material returns what is summarised: the conversation's messages in the range as they were
// said, those without a place in the view among them, and earlier summaries. Before and
// after it are those that stay.
func (w *work) material(c cut) (out, before, after []ragctx.Message) {
	before = w.shown()[:c.from]
	for i := c.from; i < len(w.items); i++ {
		if c.stays[i] {
			after = append(after, w.items[i].message)
		}
	}
	out = make([]ragctx.Message, 0, len(w.raw))
	next := w.items[c.from].from
	for i := c.from; i < c.to; i++ {
		it := &w.items[i]
		for ; next < it.from; next++ {
			out = append(out, w.original(next)) // an orphan
		}
		switch {
		case c.stays[i]:
		case it.summary:
			out = append(out, it.message)
		default:
			out = append(out, w.original(it.from))
		}
		next = max(next, it.to)
	}
	end := len(w.raw)
	if c.to < len(w.items) {
		end = w.items[c.to].from
	}
	for ; next < end; next++ {
		out = append(out, w.original(next))
	}
	return out, before, after
}

// record returns the record of a summary of a range. Where the messages are a view, what
// its summaries stand for is known from their records.
func (w *work) record(c cut, text string, way Strategy, o Options) Record {
	rec := Record{ID: o.NewID(), Created: o.Now(), Summary: text, Strategy: way}
	known := make(map[string]*Record)
	for i := range w.conv.Records {
		known[w.conv.Records[i].ID] = &w.conv.Records[i]
	}
	delete(known, "")
	within := make(map[string]bool) // messages in the ranges of summaries that are merged
	n := 0
	for i := c.from; i < c.to; i++ {
		if c.stays[i] {
			continue
		}
		n++
		if r := known[w.items[i].message.ID]; r != nil && isSummary(w.items[i].message) {
			rec.Supersedes = append(rec.Supersedes, r.ID)
			for _, id := range r.Keep {
				within[id] = true
			}
		}
	}
	rec.Reason = fmt.Sprintf("%d messages between the first and the last are one summary", n)
	rec.From, rec.To, rec.Keep = w.span(c, known, within)
	return rec
}

// span returns the ids of a record: where its range begins and ends, and what stays in it.
// They are empty if one of them is missing or not unique. It is a range of the conversation:
// on a branch that ends early a summary is shown before messages that come before its range.
func (w *work) span(c cut, known map[string]*Record, within map[string]bool) (from, to string, keep []string) {
	first, last := c.from, c.from
	for i := c.from; i < c.to; i++ {
		if it := &w.items[i]; !c.stays[i] && !within[it.message.ID] {
			if it.from < w.items[first].from {
				first = i
			}
			if it.to > w.items[last].to {
				last = i
			}
		}
	}
	at := places(w.raw)
	from, to = w.items[first].message.ID, w.items[last].message.ID
	if r := known[from]; r != nil && isSummary(w.items[first].message) {
		from = r.From
	} else if _, ok := at[from]; !ok {
		return "", "", nil
	}
	if r := known[to]; r != nil && isSummary(w.items[last].message) {
		to = r.To
	} else if _, ok := at[to]; !ok {
		return "", "", nil
	}
	for i := range w.items {
		it := &w.items[i]
		inside := w.items[first].from <= it.from && it.from < w.items[last].to
		if !c.stays[i] || !within[it.message.ID] && !inside {
			continue
		}
		if _, ok := at[it.message.ID]; !ok {
			return "", "", nil
		}
		keep = append(keep, it.message.ID)
	}
	return from, to, keep
}

// with returns the work with a summary in the place of a range.
func (w *work) with(c cut, rec Record, s session.Scale) *work {
	out := work{conv: w.conv, raw: w.raw, pruned: w.pruned, begin: w.begin}
	out.items, out.costs = slices.Clone(w.items[:c.from]), slices.Clone(w.costs[:c.from])
	m := rec.SummaryMessage()
	out.items = append(out.items, item{message: m, from: w.items[c.from].from, to: w.items[c.to-1].to, summary: true})
	out.costs = append(out.costs, s.Message(m))
	for i := c.from; i < len(w.items); i++ {
		if c.stays[i] {
			out.items, out.costs = append(out.items, w.items[i]), append(out.costs, w.costs[i])
		}
	}
	return &out
}
