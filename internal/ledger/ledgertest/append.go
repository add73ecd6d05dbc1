package ledgertest

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

// id is "msg_" and 32 hex, receiver broadcast by default; data may be nested.
func testAppend(t *testing.T, w *world) {
	m := msg("PLAN_READY", "the plan")
	m.Data, m.Metadata = json.RawMessage(`{"a": {"b": [1, "<&>", null]}}`), json.RawMessage(`{"source":"x"}`)
	got := w.append(t, m)[0]
	if !ledger.ValidID(got.ID) || got.Sequence == 0 || got.Timestamp != start.UnixMilli() || got.Receiver != ledger.Broadcast {
		t.Errorf("appended %+v", got)
	}
	want := m
	want.ID, want.Sequence, want.Timestamp, want.Receiver = got.ID, got.Sequence, got.Timestamp, ledger.Broadcast
	want.Data = json.RawMessage(`{"a":{"b":[1,"<&>",null]}}`)
	if d := cmp.Diff([]ledger.Message{want}, w.all(t)); d != "" {
		t.Errorf("stored (-want +got):\n%s", d)
	}
	nothing := msg("X", "")
	nothing.Data = json.RawMessage(" null ")
	if got := w.append(t, nothing)[0]; got.Data != nil {
		t.Errorf("null as data is %s", got.Data)
	}
}

// Base = max(now, last+1); a requested time is raised to it, never lowered.
// Same-millisecond writers keep order. Times are strictly monotonic.
func testTimes(t *testing.T, w *world) {
	now := start.UnixMilli()
	at := func(ms int64) int64 {
		m := msg("X", "")
		m.Timestamp = ms
		return w.append(t, m)[0].Timestamp
	}
	for i, c := range []struct{ asked, want int64 }{
		{0, now}, {0, now + 1}, {now - 1000, now + 2}, {now + 2, now + 3}, {now + 100, now + 100}, {0, now + 101}, {1, now + 102},
	} {
		if got := at(c.asked); got != c.want {
			t.Errorf("message %d asks for %d: %d, want %d", i, c.asked, got, c.want)
		}
	}
	w.clock.Add(-5000) // the clock is set back
	if got := at(0); got != now+103 {
		t.Errorf("after the clock went back: %d, want %d", got, now+103)
	}
	w.clock.Add(50_000)
	if got := at(0); got != now+45_000 {
		t.Errorf("after the clock went on: %d, want %d", got, now+45_000)
	}
	for _, ms := range []int64{-1, now + 2*ledger.MaxAhead.Milliseconds(), math.MaxInt64} {
		m := msg("X", "")
		m.Timestamp = ms
		_, err := w.Append(context.Background(), []ledger.Message{m})
		wantError(t, err, ragctx.ErrInvalid, "a time that nobody means")
	}
	other := msg("X", "")
	other.Cluster = "others"
	if got := w.append(t, other)[0].Timestamp; got != now+45_000 {
		t.Errorf("another cluster's time is %d", got)
	}
}

// A batch is contiguous, all or nothing; an empty batch is [].
func testBatch(t *testing.T, w *world) {
	if got, err := w.Append(context.Background(), nil); err != nil || got == nil || len(got) != 0 {
		t.Errorf("an empty batch: %v, %v", got, err)
	}
	w.append(t, msg("X", "0"))
	got := w.append(t, msg("X", "1"), msg("Y", "2"), msg("X", "3"))
	for i, m := range got {
		if want := start.UnixMilli() + 1 + int64(i); m.Timestamp != want {
			t.Errorf("message %d is of %d, want %d", i, m.Timestamp, want)
		}
		if i > 0 && m.Sequence <= got[i-1].Sequence {
			t.Errorf("message %d has sequence %d after %d", i, m.Sequence, got[i-1].Sequence)
		}
	}
	sub, err := w.Subscribe(filter)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	bad := msg("X", "6")
	bad.Topic = ""
	_, err = w.Append(context.Background(), []ledger.Message{msg("X", "4"), msg("X", "5"), bad})
	wantError(t, err, ragctx.ErrInvalid, "a batch with a bad message")
	if !strings.Contains(err.Error(), "messages[2].topic") {
		t.Errorf("the error %q does not name the field", err)
	}
	foreign := msg("X", "4")
	foreign.Cluster = "others"
	_, err = w.Append(context.Background(), []ledger.Message{msg("X", "4"), foreign})
	wantError(t, err, ragctx.ErrInvalid, "a batch of two clusters")
	if d := cmp.Diff([]string{"0", "1", "2", "3"}, texts(w.all(t))); d != "" {
		t.Errorf("of refused batches something is left:\n%s", d)
	}
	if len(sub.C()) != 0 {
		t.Error("subscribers were told of a refused batch")
	}
}

// Cluster, topic and sender are required, with an error for each; limits.
func testRefused(t *testing.T, w *world) {
	long := strings.Repeat("x", ledger.MaxNameBytes+1)
	big := json.RawMessage(`"` + strings.Repeat("x", ledger.MaxMessageBytes) + `"`)
	deep := json.RawMessage(strings.Repeat("[", ledger.MaxDepth+1) + strings.Repeat("]", ledger.MaxDepth+1))
	for _, c := range []struct {
		field string
		kind  error
		spoil func(*ledger.Message)
	}{
		{"namespace", ragctx.ErrInvalid, func(m *ledger.Message) { m.Namespace = "" }},
		{"cluster", ragctx.ErrInvalid, func(m *ledger.Message) { m.Cluster = "" }},
		{"topic", ragctx.ErrInvalid, func(m *ledger.Message) { m.Topic = "" }},
		{"sender", ragctx.ErrInvalid, func(m *ledger.Message) { m.Sender = "" }},
		{"cluster", ragctx.ErrTooLarge, func(m *ledger.Message) { m.Cluster = long }},
		{"topic", ragctx.ErrTooLarge, func(m *ledger.Message) { m.Topic = long }},
		{"sender", ragctx.ErrTooLarge, func(m *ledger.Message) { m.Sender = long }},
		{"receiver", ragctx.ErrTooLarge, func(m *ledger.Message) { m.Receiver = long }},
		{"topic", ragctx.ErrInvalid, func(m *ledger.Message) { m.Topic = "a\nb" }},
		{"topic", ragctx.ErrInvalid, func(m *ledger.Message) { m.Topic = ledger.TopicOmitted }},
		{"sender", ragctx.ErrInvalid, func(m *ledger.Message) { m.Sender = "\xff" }},
		{"text", ragctx.ErrInvalid, func(m *ledger.Message) { m.Text = "\xff" }},
		{"text", ragctx.ErrTooLarge, func(m *ledger.Message) { m.Data = big }},
		{"data", ragctx.ErrInvalid, func(m *ledger.Message) { m.Data = json.RawMessage("{") }},
		{"data", ragctx.ErrInvalid, func(m *ledger.Message) { m.Data = deep }},
		{"metadata", ragctx.ErrInvalid, func(m *ledger.Message) { m.Metadata = json.RawMessage("nul") }},
		{"id", ragctx.ErrInvalid, func(m *ledger.Message) { m.ID = "msg_1" }},
	} {
		m := msg("X", "text")
		c.spoil(&m)
		_, err := w.Append(context.Background(), []ledger.Message{m})
		wantError(t, err, c.kind, c.field)
		if err != nil && !strings.HasPrefix(err.Error(), c.field+": ") {
			t.Errorf("the error %q does not begin with %s", err, c.field)
		}
	}
	_, err := w.Append(context.Background(), slices.Repeat([]ledger.Message{msg("X", "")}, ledger.MaxBatch+1))
	wantError(t, err, ragctx.ErrTooLarge, "a batch that is too long")
	if n := len(w.all(t)); n != 0 {
		t.Errorf("%d refused messages are stored", n)
	}
}

func testIDs(t *testing.T, w *world) {
	m := msg("X", "one")
	m.ID = "msg_" + strings.Repeat("a", 32)
	if got := w.append(t, m)[0]; got.ID != m.ID {
		t.Errorf("the id is %q", got.ID)
	}
	_, err := w.Append(context.Background(), []ledger.Message{msg("X", "two"), m})
	wantError(t, err, ragctx.ErrConflict, "an id again")
	_, err = w.Append(context.Background(), []ledger.Message{{
		ID: "msg_" + strings.Repeat("b", 32), Namespace: "space", Cluster: "team", Topic: "X", Sender: "s",
	}, {ID: "msg_" + strings.Repeat("b", 32), Namespace: "space", Cluster: "team", Topic: "X", Sender: "s"}})
	wantError(t, err, ragctx.ErrInvalid, "an id twice in a batch")
	if d := cmp.Diff([]string{"one"}, texts(w.all(t))); d != "" {
		t.Error(d)
	}
	m.Cluster = "others"
	w.append(t, m) // ids are unique per cluster only
}

// Concurrent writers keep their order, and no message comes into another writer's batch.
func testWriters(t *testing.T, w *world) {
	// A subscriber that is behind has all messages in its buffer.
	const writers, rounds, size = 8, ledger.SubscriptionBuffer / (8 * 3), 3
	sub, err := w.Subscribe(filter)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	told := make(chan []ledger.Message)
	go func() {
		var got []ledger.Message
		for m := range sub.C() {
			if got = append(got, m); len(got) == writers*rounds*size {
				break
			}
		}
		told <- got
	}()
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			sender := string(rune('a' + n))
			for range rounds {
				batch := make([]ledger.Message, size)
				for i := range batch {
					batch[i] = msg("X", "")
					batch[i].Sender = sender
				}
				if _, err := w.Append(context.Background(), batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all := w.all(t)
	if len(all) != writers*rounds*size {
		t.Fatalf("%d messages", len(all))
	}
	for i, m := range all {
		if i > 0 && (m.Sequence <= all[i-1].Sequence || m.Timestamp <= all[i-1].Timestamp) {
			t.Errorf("message %d is not after the one before", i)
		}
		if m.Sender != all[i-i%size].Sender {
			t.Errorf("message %d comes into another's batch", i)
		}
	}
	if d := cmp.Diff(all, <-told); d != "" {
		t.Errorf("subscribers are told otherwise:\n%s", d)
	}
}
