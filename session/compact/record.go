package compact

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Size is the size of a view.
type Size struct {
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`
}

// Record describes a compaction: a range of messages and its replacement. It changes no message.
type Record struct {
	ID      string    `json:"id,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	// From and To are the ids of the first and last summarized message. Keep lists the messages
	// between that are still shown, after the summary. From and To are empty if nothing was
	// summarized, or if message ids are missing or not unique; such a record documents the
	// compaction but cannot be applied.
	From    string   `json:"from,omitempty"`
	To      string   `json:"to,omitempty"`
	Keep    []string `json:"keep,omitempty"`
	Summary string   `json:"summary,omitempty" doc:"without the marker that it is shown with"`
	// Through is the id of the newest message of a stored conversation at the time of compaction.
	Through string `json:"through,omitempty" doc:"the newest message of the stored conversation when it was compacted"`
	// Pruned lists tool outputs that are not shown completely.
	Pruned []Pruned `json:"pruned,omitempty"`

	Strategy Strategy `json:"strategy" doc:"how it was made: prune, llm or extractive"`
	Reason   string   `json:"reason" doc:"why, for people"`
	Before   Size     `json:"before"`
	After    Size     `json:"after"`
	// Supersedes lists the ids of records with summaries that are merged into this one.
	Supersedes []string `json:"supersedes,omitempty"`
}

// Undo returns records without the last one, the newest.
func Undo(records []Record) []Record {
	if len(records) == 0 {
		return nil
	}
	return slices.Clip(records[:len(records)-1])
}

// Apply returns the view of a conversation that records describe, oldest record first. It is
// idempotent: the view of a view is the same. The view has no orphan results and no abandoned calls
// ([session.Sound]). Records of missing messages are ignored, as on a branch that begins earlier.
// Unchanged messages are shared with the input.
func Apply(messages []ragctx.Message, records []Record) []ragctx.Message {
	items, _ := project(messages, records)
	return itemMessages(items)
}

// Effective reports for each record whether it affects the view: it shows its summary, or prunes an
// output that is shown.
func Effective(messages []ragctx.Message, records []Record) []bool {
	at := indexByID(messages)
	owner, begins := coverage(messages, at, records, session.Sound(messages, session.Limits{}))
	counts := make([]bool, len(records)+1) // by record number from 1
	for i := range messages {
		counts[owner[i]], counts[begins[i]] = true, true
	}
	type output struct {
		message string
		block   int
	}
	decided := make(map[output]bool) // outputs decided by a newer record
	for i, r := range slices.Backward(records) {
		for _, p := range r.Pruned {
			m, there := at[p.MessageID]
			counts[i+1] = counts[i+1] || there && owner[m] == 0 && !decided[output{p.MessageID, p.Block}]
			decided[output{p.MessageID, p.Block}] = true
		}
	}
	return counts[1:]
}

// itemMessages returns the messages of items.
func itemMessages(items []item) []ragctx.Message {
	out := make([]ragctx.Message, len(items))
	for i := range items {
		out[i] = items[i].message
	}
	return out
}

// item is a message of a view and the range of the conversation that it represents.
type item struct {
	message ragctx.Message
	from    int // first message of the range
	to      int // exclusive
	summary bool
}

// indexByID maps message ids to indexes. It omits ids that occur twice.
func indexByID(messages []ragctx.Message) map[string]int {
	at, twice := make(map[string]int, len(messages)), make(map[string]bool)
	for i := range messages {
		id := messages[i].ID
		if _, has := at[id]; has {
			twice[id] = true
		}
		at[id] = i
	}
	for id := range twice {
		delete(at, id)
	}
	delete(at, "")
	return at
}

// project returns the view that records describe, and the conversation with pruned outputs. Both
// share unchanged messages.
func project(messages []ragctx.Message, records []Record) (view []item, raw []ragctx.Message) {
	if len(records) == 0 {
		return items(session.Sound(messages, session.Limits{})), messages
	}
	at := indexByID(messages)
	raw = applyPrunings(messages, at, records)
	sound := session.Sound(raw, session.Limits{})
	owner, begins := coverage(raw, at, records, sound)
	view = make([]item, 0, len(sound.Indexes)+len(records))
	summaries := func(from, to int) {
		for i := from; i < to; i++ {
			if r := begins[i]; r > 0 {
				rec := &records[r-1]
				view = append(view, item{message: rec.summaryMessage(), from: i, to: at[rec.To] + 1, summary: true})
			}
		}
	}
	newest := session.LastInstruction(raw)
	if newest < 0 { // the summary must precede pending calls and the newest exchange
		newest = slices.Min(slices.Concat(pendingIn(raw), session.NewestExchange(raw), []int{len(raw)}))
	}
	next := 0 // index into sound
	for i := range raw {
		switch {
		case i < newest || newest < 0:
			summaries(i, i+1)
		case i == newest: // a summary must not follow the newest instruction
			summaries(i, len(raw))
		}
		if next == len(sound.Indexes) || sound.Indexes[next] != i {
			continue
		}
		if owner[i] == 0 {
			view = append(view, item{message: sound.Messages[next], from: i, to: i + 1})
		}
		next++
	}
	if !slices.ContainsFunc(view, func(it item) bool { return it.summary }) {
		return view, raw // nothing is hidden
	}
	return soundItems(view), raw
}

// items returns a view without summaries as items.
func items(v session.View) []item {
	out := make([]item, len(v.Messages))
	for k, i := range v.Indexes {
		out[k] = item{message: v.Messages[k], from: i, to: i + 1}
	}
	return out
}

// soundItems removes messages that lost their counterpart when a range was summarized: results that
// came late to an abandoned call.
func soundItems(view []item) []item {
	again := session.Sound(itemMessages(view), session.Limits{})
	out := make([]item, len(again.Indexes))
	for k, i := range again.Indexes {
		out[k] = view[i]
		out[k].message = again.Messages[k]
	}
	return out
}

// applyPrunings prunes the outputs that records name; the newest record decides.
func applyPrunings(messages []ragctx.Message, at map[string]int, records []Record) []ragctx.Message {
	chars := make(prunings)
	for i := range records {
		for _, p := range records[i].Pruned {
			if m, ok := at[p.MessageID]; ok {
				chars.add(pruning{m, p.Block, p.Chars})
			}
		}
	}
	return chars.apply(messages)
}

// coverage returns for each message the number (from 1) of the record that covers it, and of the
// record with the range that begins there; 0 means none. Superseded records cover nothing, nor does
// a record with its summary among the messages. Messages in use are not covered; see uncover.
func coverage(messages []ragctx.Message, at map[string]int, records []Record, sound session.View) (owner, begins []int) {
	owner, begins = make([]int, len(messages)), make([]int, len(messages))
	gone := make(map[string]bool)
	for i := range records {
		if m, there := at[records[i].ID]; there && isSummary(messages[m]) {
			gone[records[i].ID] = true // the messages are a view with this summary
		}
		for _, id := range records[i].Supersedes {
			gone[id] = true
		}
	}
	for i := range records {
		r := &records[i]
		from, begun := at[r.From]
		to, ended := at[r.To]
		if !begun || !ended || from > to || gone[r.ID] {
			continue
		}
		begins[from] = i + 1
		for m := from; m <= to; m++ {
			owner[m] = i + 1
		}
		for _, id := range r.Keep {
			if m, ok := at[id]; ok && owner[m] == i+1 {
				owner[m] = 0
			}
		}
	}
	if slices.Max(append(owner, 0)) > 0 {
		uncover(owner, messages, sound)
	}
	return owner, begins
}

// uncover removes from the covered ranges the messages that are in use where a branch ends early:
// the newest instruction, the newest exchange, calls that are pending or were pending when their
// results came, and their groups. Other late results lose their calls and are not shown: their
// calls were abandoned when they were summarized.
func uncover(owner []int, messages []ragctx.Message, sound session.View) {
	if newest := session.LastInstruction(messages); newest >= 0 {
		owner[newest] = 0
	}
	halves, open := pendingPairs(sound)
	show := slices.AppendSeq(session.NewestExchange(messages), maps.Values(open))
	for i, others := range halves {
		if owner[i] == 0 {
			show = append(show, others...)
		}
	}
	for len(show) > 0 {
		i := show[len(show)-1]
		if show = show[:len(show)-1]; owner[i] != 0 {
			owner[i] = 0
			show = append(show, halves[i]...)
		}
	}
}

// pendingPairs returns the counterparts of calls and results that were not abandoned, and the
// pending calls by id.
func pendingPairs(sound session.View) (halves map[int][]int, open map[string]int) {
	halves, open = make(map[int][]int), make(map[string]int)
	turn, answered := 0, false // start of the assistant's turn, and whether it has results
	for n, m := range sound.Messages {
		i := sound.Indexes[n]
		for _, b := range m.ToolResults() {
			call := open[b.ToolUseID]
			delete(open, b.ToolUseID)
			if call >= turn {
				halves[call], halves[i] = append(halves[call], i), append(halves[i], call)
			}
		}
		switch {
		case session.IsSystem(m):
		case m.Role != ragctx.RoleAssistant:
			if answered = true; strings.TrimSpace(m.Content.String()) != "" || len(m.ToolResults()) == 0 {
				turn = i + 1
			}
		case answered:
			turn, answered = i, false
		}
		for _, b := range m.ToolUses() {
			open[b.ID] = i
		}
	}
	return halves, open
}
