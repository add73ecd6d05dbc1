// Package events publishes events to readers. A [Broker] numbers events, keeps the newest and
// delivers them to every reader, including readers that reconnect.
package events

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
)

// The default limits of [Options].
const (
	DefaultKeep      = 4096
	DefaultKeepBytes = 8 << 20
)

// Options configures a [Broker]. Only Begin is required.
type Options struct {
	// StartSeq returns the sequence number after which this broker numbers its events. No broker of
	// the same data directory may have reached it before. It is called when a reader first asks for
	// events, and again after an error.
	StartSeq func(context.Context) (uint64, error)
	// Keep is the maximum number of stored events, and KeepBytes their approximate memory; 0 is
	// [DefaultKeep] and [DefaultKeepBytes].
	Keep, KeepBytes int

	Now   func() time.Time // the clock; nil is the system's
	NewID func() string    // generates event ids; nil is UUID v7
}

// Broker keeps the newest events in one buffer that all readers share. A slow reader misses events
// but never delays a publisher. Until a reader first asks for events, the broker sleeps: events are
// neither numbered nor stored. It is safe for concurrent use.
type Broker struct {
	opts Options

	waking sync.Mutex // serializes calls of Begin

	awake     atomic.Bool
	mu        sync.Mutex
	closed    bool
	last      uint64        // the newest sequence number
	stored    []storedEvent // consecutive events up to last
	bytes     int           // memory of the stored events
	purges    atomic.Uint64 // number of Forget calls
	published map[ragctx.EventType]uint64
	next      chan struct{} // closed at the next event; nil if no reader waits
}

// storedEvent is a stored event and its approximate memory.
type storedEvent struct {
	ragctx.Event

	size int
}

// New returns a sleeping broker.
func New(o Options) *Broker {
	o.Keep, o.KeepBytes = cmp.Or(o.Keep, DefaultKeep), cmp.Or(o.KeepBytes, DefaultKeepBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	return &Broker{opts: o, published: make(map[ragctx.EventType]uint64)}
}

// Awake reports whether a reader has ever asked for events. Until then publishers need not create
// them.
func (b *Broker) Awake() bool { return b.awake.Load() }

// Publish numbers an event and delivers it. The caller must not modify its data afterwards. It does
// nothing while the broker sleeps.
func (b *Broker) Publish(ev ragctx.Event) {
	if !b.Awake() {
		return
	}
	ev.ID, ev.Time = b.opts.NewID(), b.opts.Now().UTC()
	size := sizeOf(ev)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	ev.Seq = b.last
	b.published[ev.Type]++
	b.stored = append(b.stored, storedEvent{ev, size})
	b.bytes += size
	b.trim()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}

// Forget drops the stored events that match, because their contents were erased. Their sequence
// numbers stay empty: readers see neither the events nor a loss.
func (b *Broker) Forget(matches func(ragctx.Event) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, k := range b.stored {
		if k.Type != "" && matches(k.Event) {
			b.bytes += eventOverhead - k.size
			b.stored[i] = storedEvent{ragctx.Event{Seq: k.Seq}, eventOverhead}
		}
	}
	b.purges.Add(1)
}

// Published returns the number of published events by type.
func (b *Broker) Published() map[ragctx.EventType]uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.published)
}

// trim drops the oldest events until the rest is within the limits. It always keeps the newest.
// The caller holds mu.
func (b *Broker) trim() {
	for len(b.stored) > 1 && (len(b.stored) > b.opts.Keep || b.bytes > b.opts.KeepBytes) {
		b.bytes -= b.stored[0].size
		b.stored[0] = storedEvent{}
		b.stored = b.stored[1:]
	}
}

// eventOverhead is the approximate memory of an event without its strings, in bytes.
const eventOverhead = 256

// sizeOf returns the approximate memory of an event in bytes.
func sizeOf(ev ragctx.Event) int {
	size := eventOverhead + len(ev.Namespace) + len(ev.SessionID) + len(ev.RequestID) + len(ev.UserID)
	switch d := ev.Data.(type) {
	case ragctx.MemoryRecalled: // frequent, so sized without encoding
		return size + len(d.MemoryID) + len(d.Content)
	case ragctx.ContextResolved:
		return size
	}
	text, err := json.Marshal(ev.Data)
	if err != nil {
		return math.MaxInt32 // cannot be encoded, so it is dropped soon
	}
	return size + len(text)
}

// Last wakes the broker and returns the newest sequence number. [Broker.Follow] with it yields only
// new events.
func (b *Broker) Last(ctx context.Context) (uint64, error) {
	b.waking.Lock()
	defer b.waking.Unlock()
	if !b.Awake() {
		first, err := b.opts.StartSeq(ctx)
		if err != nil {
			return 0, fmt.Errorf("start numbering events: %w", err)
		}
		b.mu.Lock()
		b.last = first
		b.mu.Unlock()
		b.awake.Store(true)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last, nil
}

// Follow yields the matching events after a sequence number, once each and in order: first the
// stored ones, then new ones, until ctx or the broker ends. Events that are no longer stored, or
// were published by an earlier broker, are replaced by an [ragctx.EventsLost], regardless of the
// filter. After an error it yields nothing more.
func (b *Broker) Follow(ctx context.Context, f Filter, after uint64) iter.Seq2[ragctx.Event, error] {
	return func(yield func(ragctx.Event, error) bool) {
		if _, err := b.Last(ctx); err != nil {
			yield(ragctx.Event{}, err)
			return
		}
		for {
			purges := b.purges.Load()
			page, wait, err := b.since(after)
			if err != nil {
				yield(ragctx.Event{}, err)
				return
			}
			for _, ev := range page {
				if b.purges.Load() != purges {
					break // the page may contain events that were just dropped
				}
				after = ev.Seq
				if (f.matches(ev) || ev.Type == ragctx.EventEventsLost) && !yield(ev, nil) {
					return
				}
			}
			if wait == nil {
				continue
			}
			select {
			case <-wait:
			case <-ctx.Done():
				yield(ragctx.Event{}, ctx.Err())
				return
			}
		}
	}
}

// maxPage is the maximum number of events copied from the buffer at a time.
const maxPage = 64

// since returns some of the events after a sequence number, oldest first. If there are no such
// events, it returns a channel that is closed at the next one.
func (b *Broker) since(after uint64) ([]ragctx.Event, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	oldest := b.last + 1 - uint64(len(b.stored))
	switch {
	case after > b.last: // the data directory was restored from an older copy
		return []ragctx.Event{b.lostEvent(0, b.last)}, nil, nil
	case after+1 < oldest:
		return []ragctx.Event{b.lostEvent(after+1, oldest-1)}, nil, nil
	case after == b.last && b.closed:
		return nil, nil, fmt.Errorf("events: %w", ragctx.ErrClosed)
	case after == b.last:
		if b.next == nil {
			b.next = make(chan struct{})
		}
		return nil, b.next, nil
	}
	from := b.stored[after+1-oldest:]
	page := make([]ragctx.Event, 0, min(len(from), maxPage))
	for _, k := range from[:cap(page)] {
		page = append(page, k.Event)
	}
	return page, nil, nil
}

// lostEvent returns the event that replaces the events from..to. The reader continues after to.
func (b *Broker) lostEvent(from, to uint64) ragctx.Event {
	return ragctx.Event{
		Seq: to, ID: b.opts.NewID(), Type: ragctx.EventEventsLost, Time: b.opts.Now().UTC(),
		Data: ragctx.EventsLost{From: from, To: to},
	}
}

// Close ends all readers after they have received the stored events. It may be called more than
// once.
func (b *Broker) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
