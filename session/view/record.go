package view

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// KindStage is the kind of a record that a stage made; records of compactions have none.
const KindStage = "stage"

// KindBuffer is the kind of a record of what the buffer policy did.
const KindBuffer = "buffer"

// BufferRecord is what the buffer policy has changed, so that it can be undone: the messages
// of the branch as they were before, in order, and the summaries that it has made.
type BufferRecord struct {
	Kind   string        `json:"kind"`
	Before []BufferPlace `json:"before"`
	Made   []string      `json:"made,omitempty"`
}

// BufferPlace is the section that a message was in.
type BufferPlace struct {
	ID      string `json:"id"`
	Section string `json:"section"`
}

// StageRecord is what a stage wants to last: the next view begins with its messages,
// after which come those that were said since.
type StageRecord struct {
	Kind  string `json:"kind"`
	Stage string `json:"stage"`
	// Through is the id of the newest message that the stage saw.
	Through  string         `json:"through"`
	Messages []StageMessage `json:"messages"`
}

// StageMessage is a message of the session, by its id, or one that the stage has made of
// it or added. In JSON it is a string or a message.
type StageMessage struct {
	ID   string
	Made *ragctx.Message
}

// MarshalJSON implements [json.Marshaler].
func (m StageMessage) MarshalJSON() ([]byte, error) {
	if m.Made != nil {
		return json.Marshal(m.Made)
	}
	return json.Marshal(m.ID)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *StageMessage) UnmarshalJSON(b []byte) error {
	*m = StageMessage{}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &m.ID)
	}
	return json.Unmarshal(b, &m.Made)
}

// stageRecord returns a stage's messages as they are stored.
func (l *loaded) stageRecord(stage string, messages []ragctx.Message) (session.Compaction, error) {
	of := make(map[string]ragctx.Message, len(l.entries))
	for _, e := range l.entries {
		of[e.Message.ID] = e.Message
	}
	r := StageRecord{Kind: KindStage, Stage: stage, Through: l.leaf(), Messages: make([]StageMessage, len(messages))}
	for i, m := range messages {
		if stored, ok := of[m.ID]; ok && equal(stored, m) {
			r.Messages[i].ID = m.ID
		} else {
			r.Messages[i].Made = &m
		}
	}
	raw, err := json.Marshal(r)
	return session.Compaction{To: r.Through, Record: raw}, err
}

// since returns what a stage has left of the branch up to a place, and what came after.
func (l *loaded) since(r StageRecord, at int) session.Store {
	of := make(map[string]session.Entry, at+1)
	for _, e := range l.entries[:at+1] {
		of[e.Message.ID] = e
	}
	var left []session.Entry
	for _, m := range r.Messages {
		e, ok := of[cmp.Or(m.ID, m.made().ID)]
		switch {
		case m.Made != nil:
			left = append(left, session.Entry{Section: cmp.Or(e.Section, session.SectionMessages), Message: *m.Made})
		case ok:
			left = append(left, e)
		}
	}
	return session.StoreOf(append(left, l.entries[at+1:]...))
}

func (m StageMessage) made() ragctx.Message {
	if m.Made == nil {
		return ragctx.Message{}
	}
	return *m.Made
}

// same reports whether two lists say the same.
func same(a, b []ragctx.Message) bool { return slices.EqualFunc(a, b, equal) }

// equal reports whether two messages say the same; mostly they are one in memory.
func equal(a, b ragctx.Message) bool {
	if a.ID != b.ID || len(a.Content) != len(b.Content) {
		return false
	}
	if len(a.Content) > 0 && &a.Content[0] == &b.Content[0] && a.Role == b.Role && a.Name == b.Name && a.Reasoning == b.Reasoning {
		return true
	}
	return reflect.DeepEqual(a, b)
}

// record is one of a session: a compaction, what a stage wants to last, what the buffer policy
// did, or none of these where it cannot be read. That one counts as none: it is there to be undone, and the messages are
// what they were.
type record struct {
	id         string
	through    string // the newest message that it saw
	bytes      int
	compaction *compact.Record
	stage      *StageRecord
	buffer     *BufferRecord
}

// recordOf reads a record.
func recordOf(c session.Compaction) record {
	r := record{id: c.ID, through: c.To, bytes: len(c.Record)}
	var kind struct {
		Kind    string `json:"kind"`
		Through string `json:"through"`
	}
	if len(c.Record) == 0 || json.Unmarshal(c.Record, &kind) != nil {
		return r
	}
	r.through = cmp.Or(kind.Through, r.through)
	switch kind.Kind {
	case "":
		var one compact.Record
		if json.Unmarshal(c.Record, &one) == nil {
			r.compaction = &one
		}
	case KindStage:
		var one StageRecord
		if json.Unmarshal(c.Record, &one) == nil {
			r.stage = &one
		}
	case KindBuffer:
		var one BufferRecord
		if json.Unmarshal(c.Record, &one) == nil {
			r.buffer = &one
		}
	}
	r.name(c.ID)
	return r
}

// name gives a record its id, by which a compaction is known in views as well.
func (r *record) name(id string) {
	if r.id = id; r.compaction != nil {
		r.compaction.ID = id
	}
}

// records are those of a session, oldest first.
type records struct {
	all         []record
	compactions []compact.Record // among them
	stages      []StageRecord
}

// recordsOf sorts records by what they are.
func recordsOf(all []record) records {
	out := records{all: all}
	for _, r := range all {
		if r.compaction != nil {
			out.compactions = append(out.compactions, *r.compaction)
		}
		if r.stage != nil {
			out.stages = append(out.stages, *r.stage)
		}
	}
	return out
}

// through returns the newest message that the newest record saw.
func (r records) through() string {
	if n := len(r.all); n > 0 {
		return r.all[n-1].through
	}
	return ""
}

// bytes returns what they take.
func (r records) bytes() (sum int) {
	for _, one := range r.all {
		sum += one.bytes
	}
	return sum
}

// compaction returns a record of the branch as it is stored, which has made one view into
// another. A record that would not show that is stored as what a stage has made: where its
// range begins or ends with what a stage has made or left out, or is none of the branch.
func (l *loaded) compaction(r compact.Record, before, after []ragctx.Message) (session.Compaction, error) {
	if !l.holds(r, before, after) {
		return l.stageRecord(stage.Compaction{}.Name(), after)
	}
	r.Through = l.leaf()
	raw, err := json.Marshal(r)
	return session.Compaction{ID: r.ID, CreatedAt: r.Created, From: r.From, To: r.To, Record: raw}, err
}

// holds reports whether a record is about messages of the branch alone, with which a view of
// it begins, and whether all that it has taken out of the view is in its range. That is not
// so on a branch that ends early, where a summary stands before messages that come before
// what it stands for.
func (l *loaded) holds(r compact.Record, before, after []ragctx.Message) bool {
	if r.From == "" && r.To == "" {
		return r.Summary == "" // which stands for messages without ids
	}
	at := l.base(false).places()
	for _, id := range append([]string{r.From, r.To}, r.Keep...) {
		if _, shown := at[id]; !shown || !l.has(id) {
			return false
		}
	}
	from, to := at[r.From], at[r.To]
	stays := idsOf(after)
	return !slices.ContainsFunc(before, func(m ragctx.Message) bool {
		i, known := at[m.ID]
		return known && !stays[m.ID] && (i < from || to < i)
	})
}

// places returns where messages are in a view that nothing is summarised in, by id.
func (b base) places() map[string]int {
	at := make(map[string]int, b.store.Len())
	for _, store := range [...]session.Store{b.store.Select(session.InferenceOrder()...), b.store} {
		for _, m := range store.Messages() {
			if _, has := at[m.ID]; !has && m.ID != "" {
				at[m.ID] = len(at)
			}
		}
	}
	return at
}

// idsOf returns the ids of messages.
func idsOf(messages []ragctx.Message) map[string]bool {
	out := make(map[string]bool, len(messages))
	for i := range messages {
		out[messages[i].ID] = true
	}
	return out
}
