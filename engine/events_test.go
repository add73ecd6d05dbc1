package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
	convo "github.com/ragctx/ragctx/session"
)

// listen subscribes to events with the grant of ctx. The returned func closes the engine and returns
// the events published in between.
func (f *fixture) listen(ctx context.Context) func() []ragctx.Event {
	f.t.Helper()
	eng := f.Engine
	from, err := eng.Events().Last(ctx, events.Filter{})
	if err != nil {
		f.t.Fatal(err)
	}
	return func() (all []ragctx.Event) {
		f.t.Helper()
		eng.Close()
		for ev, err := range eng.Events().Follow(ctx, events.Filter{}, from) {
			if errors.Is(err, ragctx.ErrClosed) {
				break
			}
			if err != nil {
				f.t.Fatal(err)
			}
			all = append(all, ev)
		}
		return all
	}
}

// told returns the retained events after a sequence number.
func (f *fixture) told(ctx context.Context, after uint64) (all []ragctx.Event) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	for ev, err := range f.Events().Follow(ctx, events.Filter{}, after) {
		if err == nil {
			all = append(all, ev)
		}
	}
	return all
}

// TestEvents triggers every kind of event, and compares all fields of each.
func TestEvents(t *testing.T) {
	f := open(t, spelling)
	ctx := ragctx.WithRequestID(t.Context(), "request-1")
	from, err := f.Events().Last(ctx, events.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	heard := f.listen(ctx)
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = f.Documents().Put(ctx, "", ragctx.Document{ExternalID: "d", Text: "Rollbacks need a ticket."}, "")
	put(err)
	_, _, err = f.Memories().Put(ctx, ragctx.Memory{ID: "m", UserID: "ada", SessionID: "s", Type: ragctx.MemoryWorking, Content: "Rollbacks are done on Mondays.", Importance: 0.7, Tags: []string{"ops"}})
	put(err)
	q := query("rollbacks").WithTypes(ragctx.TypeMemory)
	q.UserID, q.SessionID = "ada", "s"
	answer, err := f.Context(ctx, q)
	put(err)
	_, err = f.Search(ctx, q)
	put(err)
	nothing := q
	nothing.UserID = "bob"
	_, err = f.Search(ctx, nothing)
	put(err)
	got := f.told(ctx, from) // before it is forgotten
	_, err = f.Sessions().Erase(ctx, "", "s", "", true, convo.Condition{})
	put(err)
	got = append(got, heard()...)

	var providers []string
	for _, p := range answer.Providers {
		providers = append(providers, p.Name)
	}
	relevance := answer.Items[0].Relevance
	tokens := answer.Items[0].TokenCount
	event := func(user string, t ragctx.EventType, data any) ragctx.Event {
		return ragctx.Event{Type: t, Namespace: "default", SessionID: "s", UserID: user, RequestID: "request-1", Data: data}
	}
	searched := ragctx.MemoriesSearched{Query: "rollbacks", Tags: []string{}, ResultCount: 1}
	want := []ragctx.Event{
		event("ada", ragctx.EventMemoryStored, ragctx.MemoryStored{MemoryID: "m", MemoryType: "working", Importance: 0.7, Tags: []string{"ops"}}),
		event("ada", ragctx.EventContextResolving, ragctx.ContextResolving{Providers: providers}),
		event("ada", ragctx.EventContextResolved, ragctx.ContextResolved{TotalItems: 1, TotalTokens: tokens}),
		event("ada", ragctx.EventMemoriesSearched, searched),
		event("ada", ragctx.EventMemoryRecalled, ragctx.MemoryRecalled{MemoryID: "m", Content: "Rollbacks are done on Mondays.", Relevance: relevance}),
		event("ada", ragctx.EventMemoriesSearched, searched),
		event("", ragctx.EventMemoryCleared, ragctx.MemoryCleared{Tier: "long_term", Count: 1}),
		event("", ragctx.EventMemoryCleared, ragctx.MemoryCleared{Tier: "short_term", Count: 1}),
		event("", ragctx.EventMemoryCleared, ragctx.MemoryCleared{Tier: "working", Count: 1}),
	}
	first := got[0].Seq
	for i, ev := range got {
		if ev.ID == "" || ev.Time.IsZero() || ev.Seq != first+uint64(i) {
			t.Errorf("incomplete: %+v", ev)
		}
		got[i].ID, got[i].Time, got[i].Seq = "", time.Time{}, 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestEventsOfTheGrant: a key sees only events that its grant reaches.
func TestEventsOfTheGrant(t *testing.T) {
	f := open(t)
	as := func(g access.Grant) context.Context { return access.With(t.Context(), g) }
	inA := f.listen(as(access.Grant{Role: access.Admin, Namespaces: []string{"a"}}))
	ofAda := f.listen(as(access.Grant{Role: access.Read, User: "ada"}))
	none := f.listen(as(access.Grant{}))
	for _, m := range []ragctx.Memory{
		{ID: "1", Namespace: "a", UserID: "ada"},
		{ID: "2", Namespace: "b", UserID: "ada"},
		{ID: "3", Namespace: "a", UserID: "bob"},
		{ID: "4", Namespace: "b"},
	} {
		m.Content = "Something to remember."
		if _, _, err := f.Memories().Put(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		heard func() []ragctx.Event
		want  string
	}{"namespace": {inA, "13"}, "user": {ofAda, "12"}, "none": {none, ""}} {
		got := ""
		for _, ev := range tt.heard() {
			got += ev.Data.(ragctx.MemoryStored).MemoryID
		}
		if got != tt.want {
			t.Errorf("%s: heard of %q, want %q", name, got, tt.want)
		}
	}
	_, err := f.Events().Last(as(access.Grant{Role: access.Read, Namespaces: []string{"a"}}), events.Filter{Namespace: "b"})
	if !errors.Is(err, ragctx.ErrDenied) {
		t.Errorf("another namespace: %v", err)
	}
}

// TestEventsOverRestarts: sequence numbers increase, whatever the clock does, and a reader that
// reconnects learns that events may be missing.
func TestEventsOverRestarts(t *testing.T) {
	f := open(t)
	var last uint64
	for _, at := range []time.Time{t0, t0.Add(time.Hour), t0.Add(-24 * time.Hour), t0.Add(time.Hour)} {
		f.clock.set(at)
		f.reopen()
		begin, err := f.Events().Last(t.Context(), events.Filter{})
		if err != nil || begin <= last && last != 0 {
			t.Fatalf("begins after %d at %v, has come to %d: %v", begin, at, last, err)
		}
		came := last
		heard := f.listen(t.Context())
		if _, _, err := f.Memories().Put(t.Context(), ragctx.Memory{Content: "Something to remember."}); err != nil {
			t.Fatal(err)
		}
		for ev, err := range f.Events().Follow(t.Context(), events.Filter{}, came) {
			if lost, ok := ev.Data.(ragctx.EventsLost); err != nil || !ok || lost.From != came+1 || lost.To != begin {
				t.Errorf("coming back is told %+v, %v", ev, err)
			}
			break
		}
		all := heard()
		last = all[len(all)-1].Seq
	}
}
