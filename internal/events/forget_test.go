package events_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/events"
)

// TestForget: no reader gets a forgotten event, not even in the middle of reading, and every other
// event is delivered once and in order.
func TestForget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := events.New(events.Options{StartSeq: from(0)})
		if _, err := b.Last(t.Context()); err != nil {
			t.Fatal(err)
		}
		sessions := rapid.SliceOfN(rapid.SampledFrom([]string{"ada", "bob"}), 1, 200).Draw(t, "sessions")
		for _, s := range sessions {
			b.Publish(session(s))
		}
		at := rapid.IntRange(0, len(sessions)).Draw(t, "forgotten after")
		forget := func() { b.Forget(func(ev ragctx.Event) bool { return ev.SessionID == "ada" }) }
		told := 0
		if at == 0 {
			forget()
		}
		var last uint64
		for ev, err := range b.Follow(ended(t), all, 0) {
			if errors.Is(err, context.Canceled) {
				break
			}
			if err != nil || ev.Seq <= last || ev.SessionID != sessions[ev.Seq-1] {
				t.Fatalf("%+v after %d, %v", ev, last, err)
			}
			if at <= told && ev.SessionID == "ada" {
				t.Fatalf("%+v is told, and was forgotten", ev)
			}
			last = ev.Seq
			if told++; told == at {
				forget()
			}
		}
		bobs := 0
		for _, s := range sessions {
			if s == "bob" {
				bobs++
			}
		}
		if told < bobs {
			t.Fatalf("%d were told, of at least %d", told, bobs)
		}
	})
}

// TestForgottenTakesNoRoom: dropped events free their bytes, and the newest sequence number stays.
func TestForgottenTakesNoRoom(t *testing.T) {
	b := events.New(events.Options{StartSeq: from(0), KeepBytes: 8 << 10})
	if _, err := b.Last(t.Context()); err != nil {
		t.Fatal(err)
	}
	large := ragctx.Event{Type: ragctx.EventMemoryRecalled, Data: ragctx.MemoryRecalled{Content: string(make([]byte, 6<<10))}}
	b.Publish(large)
	b.Forget(func(ragctx.Event) bool { return true })
	b.Publish(large)
	b.Publish(session("s"))
	var seqs []uint64
	b.Close()
	for ev, err := range b.Follow(t.Context(), all, 0) {
		if err != nil {
			break
		}
		seqs = append(seqs, ev.Seq)
	}
	if len(seqs) != 2 || seqs[0] != 2 || seqs[1] != 3 {
		t.Errorf("told %v, want 2 and 3: the first is forgotten, and nothing is lost", seqs)
	}
}
