// Package events tells readers what happens: a [Broker] numbers events, keeps the
// newest and hands them to whoever follows, also to one who comes back.
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

// What is kept unless [Options] say otherwise.
const (
	DefaultKeep      = 4096
	DefaultKeepBytes = 8 << 20
)

// Options configures a [Broker]. Only Begin is required.
type Options struct {
	// Begin returns the sequence after which this broker's events are numbered, which
	// no broker of the same data directory has come to before. It is called once, when
	// somebody wants to hear of events, and again if it failed.
	Begin func(context.Context) (uint64, error)
	// Keep and KeepBytes bound the events that are kept, by number and by about how
	// much memory they take; 0 is [DefaultKeep] and [DefaultKeepBytes].
	Keep, KeepBytes int

	Now   func() time.Time // the clock; nil is the system's
	NewID func() string    // makes ids of events; nil is UUID v7
}

// Broker keeps the newest events in one ring, which all readers read from: a slow one
// costs nothing but what it misses, and nobody waits for it. Until somebody first asks
// for events it sleeps: nothing is numbered and nothing kept. It is safe for concurrent
// use.
type Broker struct {
	opts Options

	waking sync.Mutex // one asks where to begin

	awake  atomic.Bool
	mu     sync.Mutex
	closed bool
	last   uint64        // the newest sequence
	kept   []keptEvent   // without a gap, up to last
	bytes  int           // of what is kept
	purges atomic.Uint64 // how often some were forgotten
	told   map[ragctx.EventType]uint64
	news   chan struct{} // closed with the next event; nil while nobody waits
}

// keptEvent is an event and about what it takes.
type keptEvent struct {
	ragctx.Event

	size int
}

// New returns a broker that sleeps.
func New(o Options) *Broker {
	o.Keep, o.KeepBytes = cmp.Or(o.Keep, DefaultKeep), cmp.Or(o.KeepBytes, DefaultKeepBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	return &Broker{opts: o, told: make(map[ragctx.EventType]uint64)}
}

// Awake reports whether anybody ever asked for events; until then they need not be made.
func (b *Broker) Awake() bool { return b.awake.Load() }

// Publish numbers an event and tells it. Its data must not change any more. While the
// broker sleeps it does nothing.
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
	b.told[ev.Type]++
	b.kept = append(b.kept, keptEvent{ev, size})
	b.bytes += size
	b.forget()
	if b.news != nil {
		close(b.news)
		b.news = nil
	}
}

// Forget drops the kept events that match, as what they tell has been erased. Their
// sequences stay empty: who follows is told of neither them nor a loss.
func (b *Broker) Forget(matches func(ragctx.Event) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, k := range b.kept {
		if k.Type != "" && matches(k.Event) {
			b.bytes += envelope - k.size
			b.kept[i] = keptEvent{ragctx.Event{Seq: k.Seq}, envelope}
		}
	}
	b.purges.Add(1)
}

// Told counts the events that were numbered, by type.
func (b *Broker) Told() map[ragctx.EventType]uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.told)
}

// forget drops the oldest events until the rest is within the limits; the newest
// stays. The lock is held.
func (b *Broker) forget() {
	for len(b.kept) > 1 && (len(b.kept) > b.opts.Keep || b.bytes > b.opts.KeepBytes) {
		b.bytes -= b.kept[0].size
		b.kept[0] = keptEvent{}
		b.kept = b.kept[1:]
	}
}

// envelope is about how many bytes an event takes beside what is in it.
const envelope = 256

// sizeOf returns about how many bytes of memory an event takes.
func sizeOf(ev ragctx.Event) int {
	size := envelope + len(ev.Namespace) + len(ev.SessionID) + len(ev.RequestID) + len(ev.UserID)
	switch d := ev.Data.(type) {
	case ragctx.MemoryRecalled: // there are many of these
		return size + len(d.MemoryID) + len(d.Content)
	case ragctx.ContextResolved:
		return size
	}
	text, err := json.Marshal(ev.Data)
	if err != nil {
		return math.MaxInt32 // what cannot be written is not kept for long
	}
	return size + len(text)
}

// Last wakes the broker and returns the sequence of the newest event: what
// [Broker.Follow] yields after it is new.
func (b *Broker) Last(ctx context.Context) (uint64, error) {
	b.waking.Lock()
	defer b.waking.Unlock()
	if !b.Awake() {
		first, err := b.opts.Begin(ctx)
		if err != nil {
			return 0, fmt.Errorf("begin to number events: %w", err)
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

// Follow yields the events after a sequence that match: those that are kept, then
// those that happen, each once and in order, until ctx or the broker ends. In the place
// of those that are not kept any more, and of those that an earlier broker told, it
// yields an [ragctx.EventsLost], whatever the filter. An error is the last thing that it
// yields.
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
					break // some of the page may be forgotten by now
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

// pageMost is how many events are taken from the ring at a time.
const pageMost = 64

// since returns some of the events after a sequence, the oldest first, or else a
// channel that is closed when there are more.
func (b *Broker) since(after uint64) ([]ragctx.Event, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	oldest := b.last + 1 - uint64(len(b.kept))
	switch {
	case after > b.last: // of a data directory that was set back to an older copy
		return []ragctx.Event{b.lost(0, b.last)}, nil, nil
	case after+1 < oldest:
		return []ragctx.Event{b.lost(after+1, oldest-1)}, nil, nil
	case after == b.last && b.closed:
		return nil, nil, fmt.Errorf("events: %w", ragctx.ErrClosed)
	case after == b.last:
		if b.news == nil {
			b.news = make(chan struct{})
		}
		return nil, b.news, nil
	}
	from := b.kept[after+1-oldest:]
	page := make([]ragctx.Event, 0, min(len(from), pageMost))
	for _, k := range from[:cap(page)] {
		page = append(page, k.Event)
	}
	return page, nil, nil
}

// lost is an event about others. A reader that was told of it goes on after the last
// of them.
func (b *Broker) lost(from, to uint64) ragctx.Event {
	return ragctx.Event{
		Seq: to, ID: b.opts.NewID(), Type: ragctx.EventEventsLost, Time: b.opts.Now().UTC(),
		Data: ragctx.EventsLost{From: from, To: to},
	}
}

// Close ends all readers once they have what is kept. It may be called more than once.
func (b *Broker) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.news != nil {
		close(b.news)
		b.news = nil
	}
}
