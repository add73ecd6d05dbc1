package engine

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// The memory tiers that events name.
const (
	tierLongTerm  = "long_term"
	tierShortTerm = "short_term"
	tierWorking   = "working"
)

// eventBlock is how many sequence numbers each opening of the data directory reserves for its
// events. After more events, the next opening starts from the clock, which has passed the reserved
// block by then.
const eventBlock = 1 << 32

// openEvents creates the event broker. Its sequence starts at the clock's microseconds or after the
// reserved block, whichever is greater, so a clock set back does not reverse it. The reservation is
// a write, which only happens with the first subscription.
func (e *core) openEvents() {
	e.events = events.New(events.Options{
		Now: e.opts.Now, NewID: e.opts.NewID,
		StartSeq: func(ctx context.Context) (uint64, error) {
			text, err := e.store.Setting(ctx, store.SettingEvents)
			if err != nil {
				return 0, err
			}
			reserved, _ := strconv.ParseUint(text, 10, 63) // if unset, the clock decides
			first := max(reserved, uint64(max(e.opts.Now().UnixMicro(), 0)))
			return first, e.store.SetSetting(ctx, store.SettingEvents, strconv.FormatUint(first+eventBlock, 10))
		},
	})
}

// Last returns the sequence number of the newest event; [Events.Follow] after it yields
// only new events. Call it first: events are not kept before the first call. It fails for an
// invalid filter or a namespace out of reach.
func (e Events) Last(ctx context.Context, f events.Filter) (uint64, error) {
	if err := f.Check(); err != nil {
		return 0, err
	}
	if f.Namespace != "" && !access.From(ctx).Includes(f.Namespace) {
		return 0, fmt.Errorf("%w: the API key does not reach the namespace %q", ragctx.ErrDenied,
			ragctx.Clip(f.Namespace))
	}
	return e.events.Last(ctx)
}

// Follow yields the matching events after a sequence number, until ctx or the engine ends;
// see [events.Broker.Follow]. The grant of ctx limits the events: a grant bound to a user sees only
// that user's.
func (e Events) Follow(ctx context.Context, f events.Filter, after uint64) iter.Seq2[ragctx.Event, error] {
	f.Reader = access.From(ctx)
	return e.events.Follow(ctx, f, after)
}

// publish publishes an event with the request id of ctx.
func (e *core) publish(ctx context.Context, ev ragctx.Event) {
	if ctx.Value(silentKey{}) != nil {
		return
	}
	ev.RequestID = ragctx.RequestID(ctx)
	e.events.Publish(ev)
}

func (e *core) publishStored(ctx context.Context, m ragctx.Memory) {
	e.publish(ctx, ragctx.Event{
		Type: ragctx.EventMemoryStored, Namespace: namespaceName(m.Namespace), SessionID: m.SessionID, UserID: m.UserID,
		Data: ragctx.MemoryStored{
			MemoryID: m.ID, MemoryType: string(m.Type), Importance: m.Importance,
			Tags: nonNil(m.Tags),
		},
	})
}

// publishRecalled publishes that memories were searched, and which ones an answer has.
func (e *core) publishRecalled(ctx context.Context, q ragctx.ContextQuery, a resolve.Answer) {
	if !e.events.Awake() {
		return
	}
	for _, p := range a.Providers {
		if p.Name == memory.Name {
			e.publishSearched(ctx, q, p.Returned)
		}
	}
	for _, it := range a.Items {
		if it.Type == ragctx.TypeMemory {
			e.publishQueryEvent(ctx, q, ragctx.EventMemoryRecalled,
				ragctx.MemoryRecalled{MemoryID: it.ID, Content: it.Content, Relevance: it.Relevance})
		}
	}
}

// publishSearched publishes a search that found memories.
func (e *core) publishSearched(ctx context.Context, q ragctx.ContextQuery, found int) {
	if found > 0 {
		e.publishQueryEvent(ctx, q, ragctx.EventMemoriesSearched,
			ragctx.MemoriesSearched{Query: q.Query, Tags: nonNil(q.Filter.Tags), ResultCount: found})
	}
}

// publishQueryEvent publishes an event about a query.
func (e *core) publishQueryEvent(ctx context.Context, q ragctx.ContextQuery, t ragctx.EventType, data any) {
	e.publish(ctx, ragctx.Event{
		Type: t, Namespace: namespaceName(q.Namespace), SessionID: q.SessionID,
		UserID: q.UserID, Data: data,
	})
}

// publishCleared publishes how many memories an erasure removed from each tier. before has the counts of
// the tiers within the long-term one.
func (e *core) publishCleared(
	ctx context.Context, namespace string, f store.MemoryFilter, before store.MemoryStats, took store.Erased,
) {
	for _, tier := range [...]ragctx.MemoryCleared{
		{Tier: tierLongTerm, Count: took.Memories},
		{Tier: tierShortTerm, Count: before.ShortTerm},
		{Tier: tierWorking, Count: before.Working},
	} {
		if tier.Count > 0 && took.Memories > 0 {
			e.publish(ctx, ragctx.Event{
				Type: ragctx.EventMemoryCleared, Namespace: namespaceName(namespace), SessionID: f.SessionID, UserID: f.UserID, Data: tier,
			})
		}
	}
}

// countTiers counts memories before an erasure, if events have a subscriber.
func (e *core) countTiers(ctx context.Context, namespace string, f store.MemoryFilter) (st store.MemoryStats) {
	if e.events.Awake() {
		st, _ = e.Memories().Stats(ctx, namespace, f) // no event without counts
	}
	return st
}

// publishUnsaved publishes that a write failed while the operation went on without it.
func (e *core) publishUnsaved(ctx context.Context, t ragctx.Turn, operation string, err error) {
	e.publish(ctx, ragctx.Event{
		Type: ragctx.EventPersistenceFailed, Namespace: t.Namespace, SessionID: t.SessionID, UserID: t.UserID,
		Data: ragctx.PersistenceFailed{SessionID: t.SessionID, Operation: operation, Error: ragctx.Clip(err.Error())},
	})
}

func nonNil(tags []string) []string {
	if tags == nil {
		return []string{}
	}
	return tags
}
