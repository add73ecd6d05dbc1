package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// testConcurrentTurns checks that changes are followed in the order of their chunks, whoever wrote them.
func testConcurrentTurns(t *testing.T, open Opener) {
	f := fresh(t, open)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 20 {
				turn := ragctx.Turn{ID: fmt.Sprintf("%d-%d", w, i), SessionID: "s", Prompt: "p", Occurred: t0}
				if _, _, _, err := f.putTurn(t, turn, false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b := f.follow(t, f.memories(), 0)
	if len(b.Add) != 160 {
		t.Errorf("%d units of 160 turns", len(b.Add))
	}
	last := uint64(0)
	for _, e := range b.Add {
		if e.ID <= last {
			t.Fatalf("unit %d follows %d", e.ID, last)
		}
		last = e.ID
	}
}

func testTurns(t *testing.T, open Opener) {
	f := fresh(t, open)
	turn := ragctx.Turn{ID: "t", SessionID: "s", Prompt: "p", Response: "r", Occurred: t0}
	put := func(turn ragctx.Turn) (store.Status, error) {
		st, _, _, err := f.putTurn(t, turn, false)
		return st, err
	}
	if st, err := put(turn); err != nil || st != store.Created {
		t.Errorf("%v, %v", st, err)
	}
	if st, err := put(turn); err != nil || st != store.Unchanged {
		t.Errorf("sent twice: %v, %v", st, err)
	}
	taken := turn
	taken.UserID = "eve"
	if _, err := put(taken); !errors.Is(err, ragctx.ErrConflict) || !strings.Contains(err.Error(), "is taken") {
		t.Errorf("another user's turn: %v", err)
	}
	turn.Response = "other"
	if _, err := put(turn); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("another turn of the same id: %v", err)
	}
	m, err := f.Memory(t.Context(), f.ns, "t", t0)
	if err != nil || m.Content != "user: p\nassistant: r" || !m.Occurred.Equal(t0) {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := f.DeleteMemory(t.Context(), f.ns, "t", "", true); err != nil {
		t.Fatal(err)
	}
	turn.Response = "r"
	_, err = put(turn)
	if !errors.Is(err, ragctx.ErrConflict) || err.Error() != `turn "t": conflict: it was deleted; choose another id` {
		t.Errorf("a turn whose memory was deleted: %v", err)
	}
	turn.ID = "new"
	remember(t, f, ragctx.Memory{ID: "new", Content: "x"})
	if _, err := put(turn); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a turn with a memory's id: %v", err)
	}
}

func testPendingTurns(t *testing.T, open Opener) {
	f := fresh(t, open)
	var rows []int64
	for i, session := range []string{"s", "s", "z"} {
		turn := ragctx.Turn{ID: fmt.Sprint(i), SessionID: session, UserID: []string{"", "", "ada"}[i], Prompt: "x"}
		_, _, row, err := f.putTurn(t, turn, i != 1)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	waiting := func() []int64 {
		t.Helper()
		found, origins, err := f.PendingTurns(t.Context())
		if err != nil || len(origins) != len(found) {
			t.Fatal(err)
		}
		for i, from := range origins {
			u, _, err := f.PendingTurn(t.Context(), found[i])
			if err != nil || from != (store.TurnOrigin{Namespace: f.ns, User: u.Turn.UserID, Session: u.Turn.SessionID}) {
				t.Errorf("%+v, %+v, %v", from, u.Turn, err)
			}
		}
		return found
	}
	if got := waiting(); !slices.Equal(got, []int64{rows[0], rows[2]}) {
		t.Fatalf("waiting %v of %v", got, rows)
	}
	u, ok, err := f.PendingTurn(t.Context(), rows[0])
	if err != nil || !ok || u.Turn.ID != "0" || len(u.Delivered) > 0 || u.Attempts > 0 || u.Turn.Occurred.IsZero() {
		t.Errorf("%+v, %v, %v", u, ok, err)
	}
	if err := errors.Join(f.MarkDelivered(t.Context(), u, "one"), f.MarkDelivered(t.Context(), u, "two"),
		f.CountFailure(t.Context(), u.Row)); err != nil {
		t.Fatal(err)
	}
	u, _, err = f.PendingTurn(t.Context(), rows[0])
	if err != nil || !slices.Equal(u.Delivered, []string{"one", "two"}) || u.Attempts != 1 {
		t.Errorf("%+v, %v", u, err)
	}
	if err := errors.Join(f.UncountFailure(t.Context(), u.Row), f.UncountFailure(t.Context(), u.Row)); err != nil {
		t.Fatal(err)
	}
	if u, _, err := f.PendingTurn(t.Context(), rows[0]); err != nil || u.Attempts != 0 {
		t.Errorf("%+v, %v", u, err)
	}
	if again, err := f.FinishTurns(t.Context(), []store.PendingTurn{{Row: rows[0]}}); again || err != nil {
		t.Fatal(again, err)
	}
	if _, ok, err := f.PendingTurn(t.Context(), rows[0]); ok || err != nil {
		t.Errorf("told of: %v, %v", ok, err)
	}
	if _, err := f.EraseMemory(t.Context(), f.ns, "2", "ada", true); err != nil {
		t.Fatal(err)
	}
	if got := waiting(); len(got) > 0 {
		t.Errorf("an erased turn is told: %v", got)
	}
}

// testRedeliveryDuringDelivery checks that a redelivery requested during a delivery stays pending when the
// delivery completes.
func testRedeliveryDuringDelivery(t *testing.T, open Opener) {
	f := fresh(t, open)
	var rows []int64
	for _, id := range []string{"a", "b"} {
		turn := ragctx.Turn{
			ID: id, Namespace: "default", UserID: "ada", SessionID: id, Prompt: "I live in Rome.",
			Occurred: t0,
		}
		_, _, row, err := f.putTurn(t, turn, true)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
		learnt := memory.FromFinding(turn, memory.Finding{Fact: plain("I live in Rome.")})
		f.learn(t, store.ExtractedFact{Memory: learnt, Content: f.content(learnt.Content,
			memory.Chunks(learnt.Content)), By: ragctx.ByTurn})
	}
	before, ok, err := f.PendingTurn(t.Context(), rows[1])
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, err := f.EraseMemory(t.Context(), f.ns, "a", "", true); err != nil {
		t.Fatal(err)
	}
	if left, err := f.FinishTurns(t.Context(), []store.PendingTurn{before}); !left || err != nil {
		t.Fatal(left, err)
	}
	again, ok, err := f.PendingTurn(t.Context(), rows[1])
	if err != nil || !ok || again.Requests != 1 {
		t.Fatalf("%+v, %v, %v", again, ok, err)
	}
	if left, err := f.FinishTurns(t.Context(), []store.PendingTurn{again}); left || err != nil {
		t.Fatal(left, err)
	}
	if _, ok, err := f.PendingTurn(t.Context(), rows[1]); ok || err != nil {
		t.Error("it is still to be told", err)
	}
}
