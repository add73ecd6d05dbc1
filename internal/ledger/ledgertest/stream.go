package ledgertest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

// Subscribing to one topic or several, unsubscribing. They are notified after the
// commit.
func testSubscribe(t *testing.T, w *world) {
	w.append(t, msg("X", "before"))
	all, err := w.Subscribe(filter)
	if err != nil {
		t.Fatal(err)
	}
	topics := filter
	topics.Topics = []string{"X", "Y"}
	some, err := w.Subscribe(topics)
	if err != nil {
		t.Fatal(err)
	}
	topics.Topics[0] = "Z" // the caller may change its slice
	stored := w.append(t, msg("X", "1"), msg("Z", "2"))
	for i, want := range stored {
		got := <-all.C()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("message %d (-want +got):\n%s", i, d)
		}
		if found := w.query(t, ledger.Query{Filter: filter, AfterSeq: got.Sequence - 1, Limit: 1}); len(found) != 1 {
			t.Error("told before it is stored")
		}
	}
	if got := <-some.C(); got.Text != "1" || len(some.C()) != 0 {
		t.Errorf("topics: %+v", got)
	}
	all.Close()
	all.Close()
	w.append(t, msg("Y", "3"))
	if _, open := <-all.C(); open || all.Err() != nil {
		t.Errorf("told after unsubscribing, %v", all.Err())
	}
	if got := <-some.C(); got.Text != "3" {
		t.Errorf("the other subscriber is told of %+v", got)
	}
	_, err = w.Subscribe(ledger.Filter{Namespace: "space"})
	wantError(t, err, ragctx.ErrInvalid, "subscribing to no cluster")
}

// A slow subscriber is cut off and learns where to resume; the log never blocks.
func testCutOff(t *testing.T, w *world) {
	slow, err := w.Subscribe(filter)
	if err != nil {
		t.Fatal(err)
	}
	other := filter
	other.Topics = []string{"Y"}
	quick, err := w.Subscribe(other)
	if err != nil {
		t.Fatal(err)
	}
	stored := w.append(t, slices.Repeat([]ledger.Message{msg("X", "")}, ledger.SubscriptionBuffer+10)...)
	y := w.append(t, msg("Y", "y"))[0]
	if got := <-quick.C(); got.ID != y.ID {
		t.Errorf("the quick one is told of %+v", got)
	}
	n := 0
	for m := range slow.C() {
		if m.ID != stored[n].ID {
			t.Fatalf("message %d is %+v", n, m)
		}
		n++
	}
	cut, ok := errors.AsType[*ledger.CutOffError](slow.Err())
	if !ok || n != ledger.SubscriptionBuffer || cut.After != stored[n-1].Sequence {
		t.Fatalf("cut off after %d messages: %v", n, slow.Err())
	}
	rest := w.query(t, ledger.Query{Filter: filter, AfterSeq: cut.After})
	if len(rest) != 11 || rest[0].ID != stored[n].ID {
		t.Errorf("%d messages are left to resume from", len(rest))
	}
}

// A stream yields the messages after a sequence, stored and appended, without gap or repeat, also
// with concurrent writers.
func testFollow(t *testing.T, w *world) {
	var before []ledger.Message
	for i := range 20 {
		before = append(before, w.append(t, msg("X", strconv.Itoa(i)))...)
	}
	const writers, each = 4, 50
	var wg sync.WaitGroup
	follow := func(after ledger.Sequence, want int) {
		wg.Go(func() {
			var got []ledger.Message
			for m, err := range ledger.Follow(context.Background(), w, filter, after) {
				if err != nil {
					t.Error(err)
					return
				}
				if got = append(got, m); len(got) == want {
					break
				}
			}
			if d := cmp.Diff(w.query(t, ledger.Query{Filter: filter, AfterSeq: after}), got); d != "" {
				t.Errorf("after %d:\n%s", after, d)
			}
		})
	}
	var write sync.WaitGroup
	for range writers {
		write.Go(func() {
			for range each {
				if _, err := w.Append(context.Background(), []ledger.Message{msg("X", "")}); err != nil {
					t.Error(err)
				}
			}
		})
		follow(0, 20+writers*each)
		follow(before[9].Sequence, 10+writers*each)
		follow(before[19].Sequence, writers*each)
	}
	write.Wait()
	wg.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range ledger.Follow(ctx, w, filter, w.all(t)[20].Sequence) {
		if err != nil {
			wantError(t, err, context.Canceled, "following until the end")
		}
	}
}

// A slow reader of a stream gets every message, however far it is behind.
func testFollowSlow(t *testing.T, w *world) {
	w.append(t, msg("X", ""))
	const more = 3 * ledger.SubscriptionBuffer
	var got []ledger.Message
	for m, err := range ledger.Follow(context.Background(), w, filter, 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
		switch len(got) {
		case 1:
			w.append(t, msg("X", ""))
		case 2, 3: // the reader is live now, and pauses
			w.append(t, slices.Repeat([]ledger.Message{msg("X", "")}, more/2)...)
		}
		if len(got) == 2+more {
			break
		}
	}
	if d := cmp.Diff(w.all(t), got); d != "" {
		t.Error(d)
	}
}

// Operations after closing are refused and do no harm.
func testClosed(t *testing.T, w *world) {
	w.append(t, msg("X", ""))
	sub, err := w.Subscribe(filter)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, open := <-sub.C(); open {
		t.Error("a subscription outlives the log")
	}
	wantError(t, sub.Err(), ragctx.ErrClosed, "a subscription after Close")
	_, err = w.Append(context.Background(), []ledger.Message{msg("X", "")})
	wantError(t, err, ragctx.ErrClosed, "Append after Close")
	_, err = w.Subscribe(filter)
	wantError(t, err, ragctx.ErrClosed, "Subscribe after Close")
	_, err = w.Query(context.Background(), ledger.Query{Filter: filter})
	wantError(t, err, ragctx.ErrClosed, "Query after Close")
	for _, err := range ledger.Follow(context.Background(), w, filter, 0) {
		wantError(t, err, ragctx.ErrClosed, "Follow after Close")
	}
}
