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

// KindStage is the kind of a record made by a stage. Records of compactions have no kind.
const KindStage = "stage"

// KindBuffer is the kind of a record made by the buffer policy.
const KindBuffer = "buffer"

// bufferRecord describes a change by the buffer policy, so that it can be undone: the previous
// messages of the branch in order, and the new summaries.
type bufferRecord struct {
	Kind   string        `json:"kind"`
	Before []bufferPlace `json:"before"`
	Made   []string      `json:"made,omitempty"`
}

// bufferPlace is the section in which a message was.
type bufferPlace struct {
	ID      string `json:"id"`
	Section string `json:"section"`
}

// stageRecord is the persisted result of a stage. The next view begins with its messages, followed
// by later ones.
type stageRecord struct {
	Kind  string `json:"kind"`
	Stage string `json:"stage"`
	// Through is the id of the newest message that the stage saw.
	Through  string         `json:"through"`
	Messages []stageMessage `json:"messages"`
}

// stageMessage is an unchanged message of the session, by id, or a message that the stage changed
// or added. In JSON it is a string or a message.
type stageMessage struct {
	ID   string
	Made *ragctx.Message
}

// MarshalJSON implements [json.Marshaler].
func (m stageMessage) MarshalJSON() ([]byte, error) {
	if m.Made != nil {
		return json.Marshal(m.Made)
	}
	return json.Marshal(m.ID)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *stageMessage) UnmarshalJSON(b []byte) error {
	*m = stageMessage{}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &m.ID)
	}
	return json.Unmarshal(b, &m.Made)
}

// stageRecord encodes the result of a stage.
func (l *branch) stageRecord(stage string, messages []ragctx.Message) (session.Compaction, error) {
	of := make(map[string]ragctx.Message, len(l.entries))
	for _, e := range l.entries {
		of[e.Message.ID] = e.Message
	}
	r := stageRecord{Kind: KindStage, Stage: stage, Through: l.leaf(), Messages: make([]stageMessage, len(messages))}
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

// stagedStore returns the messages that a stage left of the branch up to an index, followed by the
// later ones.
func (l *branch) stagedStore(r stageRecord, at int) session.Store {
	of := make(map[string]session.Entry, at+1)
	for _, e := range l.entries[:at+1] {
		of[e.Message.ID] = e
	}
	var left []session.Entry
	for _, m := range r.Messages {
		e, ok := of[cmp.Or(m.ID, m.madeMessage().ID)]
		switch {
		case m.Made != nil:
			left = append(left, session.Entry{Section: cmp.Or(e.Section, session.SectionMessages), Message: *m.Made})
		case ok:
			left = append(left, e)
		}
	}
	return session.StoreOf(append(left, l.entries[at+1:]...))
}

func (m stageMessage) madeMessage() ragctx.Message {
	if m.Made == nil {
		return ragctx.Message{}
	}
	return *m.Made
}

// same reports whether two lists have equal messages.
func same(a, b []ragctx.Message) bool { return slices.EqualFunc(a, b, equal) }

// equal reports whether two messages are equal. Most equal messages share memory.
func equal(a, b ragctx.Message) bool {
	if a.ID != b.ID || len(a.Content) != len(b.Content) {
		return false
	}
	if len(a.Content) > 0 && &a.Content[0] == &b.Content[0] && a.Role == b.Role && a.Name == b.Name && a.Reasoning == b.Reasoning {
		return true
	}
	return reflect.DeepEqual(a, b)
}

// record is a record of a session: a compaction, a result of a stage, or a change by the buffer
// policy. An unreadable record has no effect on views, but can be undone.
type record struct {
	id         string
	through    string // the newest message that it saw
	bytes      int
	compaction *compact.Record
	stage      *stageRecord
	buffer     *bufferRecord
}

// parseRecord decodes a record.
func parseRecord(c session.Compaction) record {
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
		var one stageRecord
		if json.Unmarshal(c.Record, &one) == nil {
			r.stage = &one
		}
	case KindBuffer:
		var one bufferRecord
		if json.Unmarshal(c.Record, &one) == nil {
			r.buffer = &one
		}
	}
	r.setID(c.ID)
	return r
}

// setID sets the id of a record, and of its compaction, which identifies it in views.
func (r *record) setID(id string) {
	if r.id = id; r.compaction != nil {
		r.compaction.ID = id
	}
}

// records are the records of a session, oldest first.
type records struct {
	all         []record
	compactions []compact.Record // the compactions in all
	stages      []stageRecord
}

// newRecords classifies records.
func newRecords(all []record) records {
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

// bytes returns the total size.
func (r records) bytes() (sum int) {
	for _, one := range r.all {
		sum += one.bytes
	}
	return sum
}

// compaction encodes the record of a compaction that turned one view of the branch into another. A
// record that would not reproduce the view is stored as the result of a stage: if its range begins
// or ends with a message that a stage made or removed, or is not on the branch.
func (l *branch) compaction(r compact.Record, before, after []ragctx.Message) (session.Compaction, error) {
	if !l.reproduces(r, before, after) {
		return l.stageRecord(stage.Compaction{}.Name(), after)
	}
	r.Through = l.leaf()
	raw, err := json.Marshal(r)
	return session.Compaction{ID: r.ID, CreatedAt: r.Created, From: r.From, To: r.To, Record: raw}, err
}

// reproduces reports whether a record refers only to messages of the branch, and its range has all
// messages that it removed from the view. That fails on a branch that ends early, where a summary
// is shown before messages that precede its range.
func (l *branch) reproduces(r compact.Record, before, after []ragctx.Message) bool {
	if r.From == "" && r.To == "" {
		return r.Summary == "" // its messages have no ids
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

// places returns the indexes of messages by id in a view without summaries.
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
