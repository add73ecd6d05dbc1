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

// The tiers of memories that events name.
const (
	tierLongTerm  = "long_term"
	tierShortTerm = "short_term"
	tierWorking   = "working"
)

// eventBlock is how many sequences an opening of the data directory reserves for its
// events. Who has more begins the next time with the clock, which is further by then.
const eventBlock = 1 << 32

// openEvents makes the broker. Its sequences begin with the clock's microseconds, or
// with what is reserved: a clock that was set back does not turn them back. Reserving
// is a write, which is not made for those whose events nobody hears.
func (e *Engine) openEvents() {
	e.events = events.New(events.Options{Now: e.opts.Now, NewID: e.opts.NewID, Begin: func(ctx context.Context) (uint64, error) {
		text, err := e.store.Setting(ctx, store.SettingEvents)
		if err != nil {
			return 0, err
		}
		reserved, _ := strconv.ParseUint(text, 10, 63) // where it is not set, the clock decides
		first := max(reserved, uint64(max(e.opts.Now().UnixMicro(), 0)))
		return first, e.store.SetSetting(ctx, store.SettingEvents, strconv.FormatUint(first+eventBlock, 10))
	}})
}

// LastEvent returns the sequence of the newest event: what [Engine.FollowEvents] yields
// after it is new. It is the first to be called: before, no event is kept. It fails for
// a filter that is wrong, or that names a namespace out of reach.
func (e *Engine) LastEvent(ctx context.Context, f events.Filter) (uint64, error) {
	if err := f.Check(); err != nil {
		return 0, err
	}
	if f.Namespace != "" && !access.From(ctx).Reaches(f.Namespace) {
		return 0, fmt.Errorf("%w: the API key does not reach the namespace %q", ragctx.ErrDenied, ragctx.Clip(f.Namespace))
	}
	return e.events.Last(ctx)
}

// FollowEvents yields the events that match and come after a sequence, until ctx or the
// engine ends; see [events.Broker.Follow]. The grant of ctx bounds what there is to see:
// one that is bound to a user gets no event of others, nor of nobody.
func (e *Engine) FollowEvents(ctx context.Context, f events.Filter, after uint64) iter.Seq2[ragctx.Event, error] {
	f.For = access.From(ctx)
	return e.events.Follow(ctx, f, after)
}

// publish tells an event of the request that ctx belongs to.
func (e *Engine) publish(ctx context.Context, ev ragctx.Event) {
	if ctx.Value(silent{}) != nil {
		return
	}
	ev.RequestID = ragctx.RequestID(ctx)
	if ev.SessionID == "" {
		ev.SessionID, _ = ctx.Value(askedIn{}).(string)
	}
	e.events.Publish(ev)
}

// askedIn is the key of the session that a context is for where the query is not narrowed
// to it: what is told of its words goes with the session.
type askedIn struct{}

func (e *Engine) stored(ctx context.Context, m memory.Memory) {
	e.publish(ctx, ragctx.Event{
		Type: ragctx.EventMemoryStored, Namespace: spaceName(m.Namespace), SessionID: m.SessionID, UserID: m.UserID,
		Data: ragctx.MemoryStored{MemoryID: m.ID, MemoryType: string(m.Type), Importance: m.Importance, Tags: nonNil(m.Tags)},
	})
}

// recalled tells of the memories in an answer, and that they were searched.
func (e *Engine) recalled(ctx context.Context, q ragctx.ContextQuery, a resolve.Answer) {
	if !e.events.Awake() {
		return
	}
	for _, p := range a.Providers {
		if p.Name == memory.Name {
			e.searched(ctx, q, p.Returned)
		}
	}
	for _, it := range a.Items {
		if it.Type == ragctx.TypeMemory {
			e.about(ctx, q, ragctx.EventMemoryRecalled, ragctx.MemoryRecalled{MemoryID: it.ID, Content: it.Content, Relevance: it.Relevance})
		}
	}
}

// searched tells of a search that found memories.
func (e *Engine) searched(ctx context.Context, q ragctx.ContextQuery, found int) {
	if found > 0 {
		e.about(ctx, q, ragctx.EventMemoriesSearched, ragctx.MemoriesSearched{Query: q.Query, Tags: nonNil(q.Filter.Tags), ResultCount: found})
	}
}

// about tells an event about a query.
func (e *Engine) about(ctx context.Context, q ragctx.ContextQuery, t ragctx.EventType, data any) {
	e.publish(ctx, ragctx.Event{Type: t, Namespace: spaceName(q.Namespace), SessionID: q.SessionID, UserID: q.UserID, Data: data})
}

// cleared tells how many memories an erasure took from each tier. before counts those of
// the tiers that are no more than a part of the long-term one.
func (e *Engine) cleared(ctx context.Context, namespace string, f store.MemoryFilter, before store.MemoryStats, took store.Erased) {
	for _, tier := range [...]ragctx.MemoryCleared{
		{Tier: tierLongTerm, Count: took.Memories}, {Tier: tierShortTerm, Count: before.ShortTerm}, {Tier: tierWorking, Count: before.Working},
	} {
		if tier.Count > 0 && took.Memories > 0 {
			e.publish(ctx, ragctx.Event{
				Type: ragctx.EventMemoryCleared, Namespace: spaceName(namespace), SessionID: f.SessionID, UserID: f.UserID, Data: tier,
			})
		}
	}
}

// tiers counts memories before an erasure, if anybody wants to hear of it.
func (e *Engine) tiers(ctx context.Context, namespace string, f store.MemoryFilter) (st store.MemoryStats) {
	if e.events.Awake() {
		st, _ = e.MemoryStats(ctx, namespace, f) // what cannot be counted is not told
	}
	return st
}

// unsaved tells that something could not be written, while what it belongs to went on.
func (e *Engine) unsaved(ctx context.Context, t ragctx.Turn, operation string, err error) {
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
