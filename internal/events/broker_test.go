package events_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var all = events.Filter{Reader: access.FullGrant()}

func from(n uint64) func(context.Context) (uint64, error) {
	return func(context.Context) (uint64, error) { return n, nil }
}

func session(id string) ragctx.Event {
	return ragctx.Event{Type: ragctx.EventContextResolved, SessionID: id, Data: ragctx.ContextResolved{}}
}

// TestFollowModel lets several readers connect and disconnect between random events, and compares
// the events they get with a complete list.
func TestFollowModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(1, 8).Draw(t, "keep")
		b := events.New(events.Options{StartSeq: from(100), Keep: keep})
		if _, err := b.Last(t.Context()); err != nil {
			t.Fatal(err)
		}
		const first = 101
		published := 0
		at := map[int]uint64{0: 100, 1: 100, 2: 3} // the last that was back before the first
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) {
				for range rapid.IntRange(1, 5).Draw(t, "n") {
					b.Publish(session("s"))
					published++
				}
			},
			"read": func(t *rapid.T) {
				who := rapid.IntRange(0, 2).Draw(t, "who")
				most := rapid.IntRange(1, 10).Draw(t, "most")
				last := uint64(first + published - 1)
				for ev, err := range b.Follow(ended(t), all, at[who]) {
					if err != nil {
						if !errors.Is(err, context.Canceled) || at[who] != last {
							t.Fatalf("after %d of %d: %v", at[who], last, err)
						}
						break
					}
					oldest := last + 1 - uint64(min(keep, published))
					lost, missing := ev.Data.(ragctx.EventsLost)
					switch {
					case missing && (lost.From != at[who]+1 || lost.To != oldest-1 || ev.Seq != lost.To):
						t.Fatalf("after %d, with %d to %d kept, is told %+v", at[who], oldest, last, lost)
					case !missing && ev.Seq != at[who]+1:
						t.Fatalf("after %d comes %d", at[who], ev.Seq)
					case missing != (at[who]+1 < oldest):
						t.Fatalf("after %d, with %d to %d kept, comes %+v", at[who], oldest, last, ev)
					}
					at[who] = ev.Seq
					if most--; most == 0 {
						break
					}
				}
			},
		})
	})
}

// ended is a context with which a reader gets what there is.
func ended(t *rapid.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestReadersAtOnce: all waiting readers get every event, in order, and end with the broker.
func TestReadersAtOnce(t *testing.T) {
	b := events.New(events.Options{StartSeq: from(0)})
	if _, err := b.Last(t.Context()); err != nil {
		t.Fatal(err)
	}
	const readers, each = 8, 500
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			after := uint64(0)
			for ev, err := range b.Follow(t.Context(), all, 0) {
				if errors.Is(err, ragctx.ErrClosed) {
					break
				}
				if err != nil || ev.Seq != after+1 {
					t.Errorf("after %d: %+v, %v", after, ev, err)
				}
				after = ev.Seq
			}
			if after != 2*each {
				t.Errorf("came to %d", after)
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for range each {
				b.Publish(session("s"))
			}
		})
	}
	for ev := range b.Follow(t.Context(), all, 0) {
		if ev.Seq == 2*each {
			break
		}
	}
	b.Close()
	wg.Wait()
}

// TestSleep: what happens before anybody asks is not kept, and a beginning that failed
// is tried again.
func TestSleep(t *testing.T) {
	fail := errors.New("not now")
	b := events.New(events.Options{StartSeq: func(context.Context) (uint64, error) { return 7, fail }})
	b.Publish(session("early"))
	for _, err := range b.Follow(t.Context(), all, 0) {
		if !errors.Is(err, fail) {
			t.Errorf("%v", err)
		}
	}
	if b.Awake() {
		t.Error("it is awake")
	}
	fail = nil
	if last, err := b.Last(t.Context()); last != 7 || err != nil {
		t.Errorf("%d, %v", last, err)
	}
	b.Publish(session("late"))
	for ev, err := range b.Follow(t.Context(), all, 7) {
		if err != nil || ev.Seq != 8 || ev.SessionID != "late" {
			t.Errorf("%+v, %v", ev, err)
		}
		break
	}
}

// TestBytes: the stored events are also bounded by size, and events of an earlier broker are reported
// as lost.
func TestBytes(t *testing.T) {
	b := events.New(events.Options{StartSeq: from(0), KeepBytes: 4000})
	if _, err := b.Last(t.Context()); err != nil {
		t.Fatal(err)
	}
	long := ragctx.Event{Type: ragctx.EventMemoryRecalled, Data: ragctx.MemoryRecalled{Content: strings.Repeat("x", 1500)}}
	for range 5 {
		b.Publish(long)
	}
	for after, want := range map[uint64]ragctx.EventsLost{0: {From: 1, To: 3}, 9: {From: 0, To: 5}} {
		for ev, err := range b.Follow(t.Context(), all, after) {
			if err != nil || ev.Data != want {
				t.Errorf("after %d: %+v, %v", after, ev, err)
			}
			break
		}
	}
}

func TestFilter(t *testing.T) {
	b := events.New(events.Options{StartSeq: from(0)})
	if _, err := b.Last(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, ev := range []ragctx.Event{
		{Type: ragctx.EventMemoryStored, Namespace: "a", SessionID: "s"},
		{Type: ragctx.EventMemoryStored, Namespace: "b", SessionID: "s", UserID: "ada"},
		{Type: ragctx.EventMemoryCleared, Namespace: "a", SessionID: "t", UserID: "bob"},
	} {
		b.Publish(ev)
	}
	b.Close()
	read, admin := access.Grant{Role: access.Read}, access.FullGrant()
	for name, tt := range map[string]struct {
		filter events.Filter
		want   []uint64
	}{
		"all":        {events.Filter{Reader: admin}, []uint64{1, 2, 3}},
		"namespace":  {events.Filter{Reader: admin, Namespace: "a"}, []uint64{1, 3}},
		"session":    {events.Filter{Reader: admin, Session: "s"}, []uint64{1, 2}},
		"nobody's":   {events.Filter{Reader: read}, []uint64{1}},
		"a user's":   {events.Filter{Reader: read, User: "bob"}, []uint64{3}},
		"another's":  {events.Filter{Reader: access.Grant{Role: access.Read, User: "ada"}, User: "bob"}, nil},
		"types":      {events.Filter{Reader: admin, Types: []ragctx.EventType{ragctx.EventMemoryCleared}}, []uint64{3}},
		"user":       {events.Filter{Reader: access.Grant{Role: access.Read, User: "ada"}}, []uint64{2}},
		"namespaces": {events.Filter{Reader: access.Grant{Role: access.Admin, Namespaces: []string{"b"}}}, []uint64{2}},
		"nobody":     {events.Filter{}, nil},
	} {
		var got []uint64
		for ev, err := range b.Follow(t.Context(), tt.filter, 0) {
			if err == nil {
				got = append(got, ev.Seq)
			}
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: %v, want %v", name, got, tt.want)
			}
		}
	}
	err := events.Filter{Types: []ragctx.EventType{ragctx.EventMemoryStored, "memory_store"}}.Check()
	if !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "types[1]") || !strings.Contains(err.Error(), "memory_stored") {
		t.Errorf("%v", err)
	}
}

// BenchmarkPublish measures the cost of an event without and with a reader.
func BenchmarkPublish(b *testing.B) {
	for _, awake := range []bool{false, true} {
		name := "asleep"
		if awake {
			name = "awake"
		}
		b.Run(name, func(b *testing.B) {
			broker := events.New(events.Options{StartSeq: from(0)})
			if awake {
				if _, err := broker.Last(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			content := strings.Repeat("x", 1000)
			b.ReportAllocs()
			for b.Loop() {
				broker.Publish(ragctx.Event{Type: ragctx.EventMemoryRecalled, Data: ragctx.MemoryRecalled{MemoryID: "m", Content: content}})
			}
		})
	}
}
