package compact

import (
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Size is what a view costs.
type Size struct {
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`
}

// Record is a compaction: what is shown in the place of a range of messages. It changes
// no message.
type Record struct {
	ID      string    `json:"id,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	// From and To are the ids of the first and the last message that the summary stands
	// for, both included; Keep are ids of those between that are shown nevertheless,
	// after it. From and To are empty where nothing was summarised, and where ids are
	// missing or not unique: such a record tells what was done and cannot be applied.
	From    string   `json:"from,omitempty"`
	To      string   `json:"to,omitempty"`
	Keep    []string `json:"keep,omitempty"`
	Summary string   `json:"summary,omitempty" doc:"without the marker that it is shown with"`
	// Through is the id of the newest message of a stored conversation when it was compacted.
	Through string `json:"through,omitempty" doc:"the newest message of the stored conversation when it was compacted"`
	// Pruned are outputs of tools that are not shown as a whole.
	Pruned []Pruned `json:"pruned,omitempty"`

	Strategy Strategy `json:"strategy" doc:"how it was made: prune, llm or extractive"`
	Reason   string   `json:"reason" doc:"why, for people"`
	Before   Size     `json:"before"`
	After    Size     `json:"after"`
	// Supersedes are ids of records whose summaries are part of this one.
	Supersedes []string `json:"supersedes,omitempty"`
}

// Undo returns records without the newest, which is the last.
func Undo(records []Record) []Record {
	if len(records) == 0 {
		return nil
	}
	return slices.Clip(records[:len(records)-1])
}

// Apply returns the view of a conversation that records describe, oldest record first.
// Of a view that they describe it returns the same.
// It has neither orphan results nor abandoned calls ([session.Sound]). A record whose
// messages are not there is left out, as on a branch that begins before it. Messages that
// are not changed are shared with the input.
func Apply(messages []ragctx.Message, records []Record) []ragctx.Message {
	items, _ := project(messages, records)
	return shown(items)
}

// Counting reports of each record whether the view of a conversation is made with it: it
// shows its summary, or prunes an output that is shown.
func Counting(messages []ragctx.Message, records []Record) []bool {
	at := places(messages)
	owner, begins := ranges(len(messages), at, records)
	counts := make([]bool, len(records)+1) // by number from 1, as those are
	for i := range messages {
		counts[owner[i]], counts[begins[i]] = true, true
	}
	type output struct {
		message string
		block   int
	}
	decided := make(map[output]bool) // by a newer record
	for i, r := range slices.Backward(records) {
		for _, p := range r.Pruned {
			m, there := at[p.MessageID]
			counts[i+1] = counts[i+1] || there && owner[m] == 0 && !decided[output{p.MessageID, p.Block}]
			decided[output{p.MessageID, p.Block}] = true
		}
	}
	return counts[1:]
}

// shown returns the messages of items.
func shown(items []item) []ragctx.Message {
	out := make([]ragctx.Message, len(items))
	for i := range items {
		out[i] = items[i].message
	}
	return out
}

// item is a message of a view and what it stands for.
type item struct {
	message ragctx.Message
	from    int // the messages of the conversation that it stands for
	to      int // excluded
	summary bool
}

// places returns where messages are, by id. Ids that occur twice are not there.
func places(messages []ragctx.Message) map[string]int {
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

// project returns the view that records describe, and the conversation with the pruned
// outputs that they name, both of which share what is not changed.
func project(messages []ragctx.Message, records []Record) (view []item, raw []ragctx.Message) {
	if len(records) == 0 {
		return items(session.Sound(messages, session.Limits{})), messages
	}
	at := places(messages)
	raw = pruned(messages, at, records)
	owner, begins := ranges(len(raw), at, records)
	sound := session.Sound(raw, session.Limits{})
	view = make([]item, 0, len(sound.Kept)+len(records))
	next := 0 // of what is sound
	for i := range raw {
		if r := begins[i]; r > 0 {
			rec := &records[r-1]
			view = append(view, item{message: rec.SummaryMessage(), from: i, to: at[rec.To] + 1, summary: true})
		}
		if next == len(sound.Kept) || sound.Kept[next] != i {
			continue
		}
		if owner[i] == 0 {
			view = append(view, item{message: sound.Messages[next], from: i, to: i + 1})
		}
		next++
	}
	if len(view) == len(sound.Messages) {
		return view, raw
	}
	return soundItems(view), raw
}

// items returns the messages of a view of which nothing is summarised.
func items(v session.View) []item {
	out := make([]item, len(v.Messages))
	for k, i := range v.Kept {
		out[k] = item{message: v.Messages[k], from: i, to: i + 1}
	}
	return out
}

// soundItems leaves out what has lost its other half since a range was summarised: a
// result that came late to a call which nobody waited for.
func soundItems(view []item) []item {
	again := session.Sound(shown(view), session.Limits{})
	out := make([]item, len(again.Kept))
	for k, i := range again.Kept {
		out[k] = view[i]
		out[k].message = again.Messages[k]
	}
	return out
}

// pruned returns messages with the outputs pruned that records name; the newest record
// that names an output decides.
func pruned(messages []ragctx.Message, at map[string]int, records []Record) []ragctx.Message {
	chars := make(prunings)
	for i := range records {
		for _, p := range records[i].Pruned {
			if m, ok := at[p.MessageID]; ok {
				chars.add(pruning{m, p.Block, p.Chars})
			}
		}
	}
	return chars.of(messages)
}

// ranges returns for each message the record that covers it, and the one whose range
// begins with it, each by its number from 1; 0 is none. Superseded records cover nothing.
func ranges(n int, at map[string]int, records []Record) (owner, begins []int) {
	owner, begins = make([]int, n), make([]int, n)
	gone := make(map[string]bool)
	for i := range records {
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
	return owner, begins
}
