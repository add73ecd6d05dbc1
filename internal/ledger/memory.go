package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// Options configures a log. The zero value works.
type Options struct {
	Now func() time.Time // the clock; nil is the system clock
	// NewID returns a unique string for [NewID] to derive a message id from; nil is random.
	NewID     func() string
	Retention Retention
}

// WithDefaults returns the options with defaults for the unset fields.
func (o Options) WithDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	return o
}

// MemoryLog is a [Log] in memory.
type MemoryLog struct {
	opts Options
	bus  Bus

	mu       sync.Mutex
	clusters map[scope][]Message // by sequence
	seq      Sequence
	closed   bool
}

var _ Log = (*MemoryLog)(nil)

// NewMemoryLog returns an empty log.
func NewMemoryLog(o Options) *MemoryLog {
	return &MemoryLog{opts: o.WithDefaults(), clusters: make(map[scope][]Message)}
}

// Append implements [Log].
func (l *MemoryLog) Append(ctx context.Context, messages []Message) ([]Message, error) {
	return l.append(ctx, messages, Appending)
}

// Import appends messages in mode [Importing] and returns the new ones.
func (l *MemoryLog) Import(ctx context.Context, messages []Message) ([]Message, error) {
	return l.append(ctx, messages, Importing)
}

func (l *MemoryLog) append(ctx context.Context, messages []Message, mode Mode) ([]Message, error) {
	messages, err := Check(messages, mode)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock() // also while publishing, which does not block, to keep the order
	if err := cmp.Or(ctx.Err(), l.checkOpen()); err != nil || len(messages) == 0 {
		return []Message{}, err
	}
	in := scope{messages[0].Namespace, messages[0].Cluster}
	stored := slices.Clone(l.clusters[in])
	if messages, err = newOnly(stored, messages, mode); err != nil || len(messages) == 0 {
		return []Message{}, err
	}
	var last int64
	if n := len(stored); n > 0 {
		last = stored[n-1].Timestamp
	}
	if err := Stamp(messages, last, l.opts.Now().UnixMilli(), mode); err != nil {
		return nil, err
	}
	for i := range messages {
		l.number(&messages[i])
	}
	stored = append(stored, messages...)
	published := messages
	if kept, receipt, err := l.retain(stored); err != nil {
		return nil, err
	} else if receipt != nil {
		stored, published = kept, append(slices.Clone(messages), *receipt)
	}
	l.clusters[in] = stored
	l.bus.Publish(published)
	return messages, nil
}

// newOnly returns the messages whose ids are not stored. A stored id is an error unless mode is
// [Importing].
func newOnly(stored, messages []Message, mode Mode) ([]Message, error) {
	var out []Message
	var r Receipt
	if i := slices.IndexFunc(stored, func(m Message) bool { return m.Topic == TopicOmitted }); i >= 0 && mode == Importing {
		r = ReceiptOf(stored[i])
	}
	for _, m := range messages {
		known := r.Covers(m) || slices.ContainsFunc(stored, func(s Message) bool {
			return m.ID == s.ID || m.Topic == TopicOmitted && s.Topic == TopicOmitted
		})
		if known && mode != Importing {
			return nil, IDConflict(m.ID)
		}
		if !known {
			out = append(out, m)
		}
	}
	return out, nil
}

// IDConflict returns the error for an id that the cluster already has.
func IDConflict(id string) error {
	return fmt.Errorf("message %s: %w: the cluster has it already; leave the id out, or ask for the message", ragctx.Clip(id),
		ragctx.ErrConflict)
}

func (l *MemoryLog) number(m *Message) {
	l.seq++
	m.Sequence = l.seq
	if m.ID == "" {
		m.ID = NewID(l.opts.NewID())
	}
}

// retain applies the retention to a cluster. It returns the remaining messages and the new receipt,
// or nil if nothing is removed.
func (l *MemoryLog) retain(stored []Message) (kept []Message, receipt *Message, err error) {
	outputs, size := 0, 0
	var r Receipt
	for _, m := range stored {
		switch m.Topic {
		case TopicAgentOutput:
			outputs++
			size += m.Size()
		case TopicOmitted:
			r = ReceiptOf(m)
		}
	}
	if !l.opts.Retention.Exceeded(outputs, size) {
		return nil, nil, nil
	}
	for _, m := range stored {
		switch {
		case m.Topic == TopicOmitted:
		case m.Topic == TopicAgentOutput && !l.opts.Retention.Reduced(outputs, size):
			outputs, size = outputs-1, size-m.Size()
			if err := r.Add(m); err != nil {
				return nil, nil, err
			}
		default:
			kept = append(kept, m)
		}
	}
	newest := stored[len(stored)-1]
	m, err := r.Message(newest.Namespace, newest.Cluster)
	if err != nil {
		return nil, nil, err
	}
	m.Timestamp = newest.Timestamp + 1
	l.number(&m)
	return append(kept, m), &m, nil
}

func (l *MemoryLog) checkOpen() error {
	if l.closed {
		return fmt.Errorf("ledger: %w", ragctx.ErrClosed)
	}
	return nil
}

// Query implements [Log].
func (l *MemoryLog) Query(ctx context.Context, q Query) ([]Message, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	stored, err := l.clusters[q.scope()], cmp.Or(ctx.Err(), l.checkOpen())
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	found := []Message{}
	size := 0
	for i := range stored {
		m := stored[i]
		if q.Newest {
			m = stored[len(stored)-1-i]
		}
		if !q.matches(m) {
			continue
		}
		if q.Offset > 0 {
			q.Offset--
			continue
		}
		found = append(found, m)
		size += m.Size()
		if q.Full(len(found), size) {
			break
		}
	}
	return found, nil
}

// Full reports whether an answer with this many messages and bytes has reached its limits.
func (q Query) Full(messages, size int) bool {
	return messages == q.Limit || q.MaxBytes > 0 && size >= q.MaxBytes
}

func (q Query) matches(m Message) bool {
	return q.Matches(m) && (q.ID == "" || m.ID == q.ID) && m.Timestamp >= q.Since &&
		(q.Until == 0 || m.Timestamp <= q.Until) && (q.After == 0 || m.Timestamp > q.After) &&
		m.Sequence > q.AfterSeq && (q.ThroughSeq == 0 || m.Sequence <= q.ThroughSeq)
}

// Find implements [Log].
func (l *MemoryLog) Find(ctx context.Context, q Query) (Message, bool, error) {
	q.Limit, q.Offset, q.Newest, q.MaxBytes = 1, 0, true, 0
	found, err := l.Query(ctx, q)
	if err != nil || len(found) == 0 {
		return Message{}, false, err
	}
	return found[0], true, nil
}

// Count implements [Log].
func (l *MemoryLog) Count(ctx context.Context, q Query) (int, error) {
	q.Limit, q.Offset, q.Newest, q.MaxBytes = 0, 0, false, 0
	found, err := l.Query(ctx, q)
	return len(found), err
}

// Subscribe implements [Log].
func (l *MemoryLog) Subscribe(f Filter) (*Subscription, error) { return l.bus.Subscribe(f) }

// Close ends all subscriptions. It may be called more than once.
func (l *MemoryLog) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.bus.Close()
	return nil
}
