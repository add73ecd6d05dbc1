package compact

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// work is a view with its costs and its origin.
type work struct {
	conv   Conversation
	raw    []ragctx.Message // the conversation with pruned outputs
	items  []item
	costs  []int // of the items
	pruned []Pruned

	messages []ragctx.Message // messages of the items, computed on first use
	begin    func()           // reports once that the compaction can reduce the view
}

// view returns the messages of the view.
func (w *work) view() []ragctx.Message {
	if w.messages == nil {
		w.messages = itemMessages(w.items)
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
	w.costs = w.itemCosts(c.scale())
	size := w.size()
	w.begin = sync.OnceFunc(func() {
		if conv.OnBegin != nil {
			conv.OnBegin(size)
		}
	})
	return w
}

// itemCosts returns the costs of the items. It reuses the known costs of unchanged messages.
func (w *work) itemCosts(s session.Scale) []int {
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

// prune returns the work with old tool outputs pruned, or false if there are none.
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
	cost := func(i, j int) int { return w.outputCost(i, j, o.scale()) }
	for _, p := range prune(w.raw, skip, cost, o.Counter, min(ProtectedTokens, o.Window/4)) {
		chars.add(p)
		out.pruned = append(out.pruned, Pruned{MessageID: w.raw[p.message].ID, Block: p.block, Chars: p.chars})
	}
	if len(out.pruned) == 0 {
		return nil, false
	}
	out.raw = chars.apply(w.raw)
	sound := session.Sound(out.raw, session.Limits{})
	out.items = slices.Clone(w.items)
	next := 0 // index into sound, which is in the order of the items
	for i := range out.items {
		it := &out.items[i]
		for next < len(sound.Indexes) && sound.Indexes[next] < it.from {
			next++
		}
		if next < len(sound.Indexes) && sound.Indexes[next] == it.from && !it.summary {
			it.message = sound.Messages[next]
		}
	}
	out.costs = out.itemCosts(o.scale())
	return &out, true
}

// outputCost returns the cost of a tool output. It reuses the known cost of a message with a single
// block.
func (w *work) outputCost(i, j int, s session.Scale) int {
	m := &w.raw[i]
	if len(m.Content) == 1 && m.Name == "" && m.Reasoning == "" && unchanged(m.Content, w.conv.Messages[i].Content) {
		return w.conv.Costs[i] - session.MessageOverhead - session.CallOverhead
	}
	return s.Message(ragctx.Message{Content: m.Content[j].Content}) - session.MessageOverhead
}

// original returns the full message of the conversation.
func (w *work) original(i int) ragctx.Message {
	if w.conv.Original == nil {
		return w.conv.Messages[i]
	}
	return w.conv.Original(w.conv.Messages[i])
}

// statementTokens returns the approximate cost of the user's statements worth keeping.
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
	all, _ = inForce(all)
	return statementTokens(all, counter)
}

// material returns the messages to summarize: the originals in the range, including those that the
// view omits, and earlier summaries. It also returns the remaining messages before and after.
func (w *work) material(c cut) (out, before, after []ragctx.Message) {
	before = w.view()[:c.from]
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

// record returns the record of a summary. If the conversation is a view, the ranges of its
// summaries come from their records.
func (w *work) record(c cut, text string, strategy Strategy, o Options) Record {
	rec := Record{ID: o.NewID(), Created: o.Now(), Summary: text, Strategy: strategy}
	known := make(map[string]*Record)
	for i := range w.conv.Records {
		known[w.conv.Records[i].ID] = &w.conv.Records[i]
	}
	delete(known, "")
	within := make(map[string]bool) // kept messages in the ranges of merged summaries
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
	rec.Reason = fmt.Sprintf("%d messages between the first and the last are replaced by one summary", n)
	rec.From, rec.To, rec.Keep = w.span(c, known, within)
	return rec
}

// span returns the first and last id and the kept ids of a record, or empty ids if one is missing
// or not unique. The range refers to the conversation, because on a branch that ends early a
// summary is shown before messages that precede its range.
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
	at := indexByID(w.raw)
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

// replaceRange returns the work with a range replaced by a summary.
func (w *work) replaceRange(c cut, rec Record, s session.Scale) *work {
	out := work{conv: w.conv, raw: w.raw, pruned: w.pruned, begin: w.begin}
	out.items, out.costs = slices.Clone(w.items[:c.from]), slices.Clone(w.costs[:c.from])
	m := rec.summaryMessage()
	out.items = append(out.items, item{message: m, from: w.items[c.from].from, to: w.items[c.to-1].to, summary: true})
	out.costs = append(out.costs, s.Message(m))
	for i := c.from; i < len(w.items); i++ {
		if c.stays[i] {
			out.items, out.costs = append(out.items, w.items[i]), append(out.costs, w.costs[i])
		}
	}
	return &out
}
