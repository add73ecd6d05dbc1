package ledger

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
)

// The backlog at which a slow subscriber is cut off. The backlog is kept in memory.
const (
	SubscriptionBuffer = 256     // messages
	SubscriptionBytes  = 8 << 20 // of [Message.Size]; a single message may exceed it
)

// CutOffError ends a subscription whose reader fell too far behind.
type CutOffError struct {
	// After is the sequence to resume from: every match up to it is in the subscription's channel.
	After Sequence
}

// Error implements error.
func (e *CutOffError) Error() string {
	return fmt.Sprintf("the subscriber was more than %d messages or %d bytes behind and was cut off; resume after sequence %d",
		SubscriptionBuffer, SubscriptionBytes, e.After)
}

// Matches reports whether a message passes the filter.
func (f Filter) Matches(m Message) bool {
	return f.Namespace == m.Namespace && f.Cluster == m.Cluster &&
		(len(f.Topics) == 0 || slices.Contains(f.Topics, m.Topic)) &&
		(f.Sender == "" || f.Sender == m.Sender) && (f.Receiver == "" || f.Receiver == m.Receiver)
}

// Subscription streams the messages that are published after it was opened.
type Subscription struct {
	bus    *Bus
	filter Filter
	c      chan Message
	last   Sequence
	err    error

	// sizes is a ring of the sizes of the newest messages in c; it ends before next.
	sizes [SubscriptionBuffer]int
	next  int
}

// waiting returns an upper bound of the bytes in the channel: the reader may have taken some since.
func (s *Subscription) waiting() (size int) {
	for i := range len(s.c) {
		size += s.sizes[(s.next-1-i+2*SubscriptionBuffer)%SubscriptionBuffer]
	}
	return size
}

// put puts a message into the channel, and reports whether there was room.
func (s *Subscription) put(m Message) bool {
	if n := len(s.c); n == cap(s.c) || n > 0 && s.waiting()+m.Size() > SubscriptionBytes {
		return false
	}
	s.sizes[s.next] = m.Size()
	s.next = (s.next + 1) % SubscriptionBuffer
	s.last = m.Sequence
	s.c <- m // does not block: there is room, and only the bus sends
	return true
}

// C returns the channel of messages. It is closed after the last message when the subscription
// ends; [Subscription.Err] returns the reason.
func (s *Subscription) C() <-chan Message { return s.c }

// Err returns why the subscription ended: a [*CutOffError] for a slow reader, [ragctx.ErrClosed] if
// the log was closed. It returns nil before the end and after [Subscription.Close].
func (s *Subscription) Err() error {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	return s.err
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.bus.end(s, nil)
}

// Bus delivers messages to subscribers. The zero value is ready; its methods are safe for
// concurrent use.
type Bus struct {
	mu     sync.Mutex
	subs   map[scope]map[*Subscription]struct{}
	cutOff uint64
	closed bool
}

// Counts returns the number of open subscriptions and of subscriptions cut off so far.
func (b *Bus) Counts() (open int, cutOff uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, in := range b.subs {
		open += len(in)
	}
	return open, b.cutOff
}

// scope identifies a cluster.
type scope struct{ namespace, cluster string }

func (f Filter) scope() scope { return scope{f.Namespace, f.Cluster} }

// Subscribe opens a stream of the matching messages that are published from now on.
func (b *Bus) Subscribe(f Filter) (*Subscription, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	f.Topics = slices.Clone(f.Topics)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, fmt.Errorf("subscribe: %w", ragctx.ErrClosed)
	}
	s := &Subscription{bus: b, filter: f, c: make(chan Message, SubscriptionBuffer)}
	if b.subs == nil {
		b.subs = make(map[scope]map[*Subscription]struct{})
	}
	if b.subs[f.scope()] == nil {
		b.subs[f.scope()] = make(map[*Subscription]struct{})
	}
	b.subs[f.scope()][s] = struct{}{}
	return s, nil
}

// Publish delivers messages in the order of their sequence to the subscriptions that match. It
// never blocks: a subscriber without room is cut off.
func (b *Bus) Publish(messages []Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range messages {
		for s := range b.subs[scope{m.Namespace, m.Cluster}] {
			b.send(s, m)
		}
	}
}

func (b *Bus) send(s *Subscription, m Message) {
	if !s.filter.Matches(m) {
		return
	}
	if !s.put(m) {
		b.cutOff++
		b.end(s, &CutOffError{After: s.last})
	}
}

// end ends a subscription once. The caller holds the lock.
func (b *Bus) end(s *Subscription, err error) {
	in := b.subs[s.filter.scope()]
	if _, open := in[s]; !open {
		return
	}
	s.err = err
	close(s.c)
	if delete(in, s); len(in) == 0 {
		delete(b.subs, s.filter.scope())
	}
}

// Close ends all subscriptions; later messages are dropped. It may be called more than once.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, in := range b.subs {
		for s := range in {
			b.end(s, fmt.Errorf("ledger: %w", ragctx.ErrClosed))
		}
	}
}
