package engine

import (
	"context"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/providers/memory"
)

// full is a built-in observer that cannot store its results.
type full struct{}

func (full) OnTurnComplete(context.Context, ragctx.Turn) error { return ragctx.ErrNoSpace }

// TestUnsaved: a write that fails while the operation succeeds is published as an event.
func TestUnsaved(t *testing.T) {
	e, err := Open(t.Context(), Options{Dir: t.TempDir(), PauseJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	from, err := e.Events().Last(t.Context(), events.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.store.Close(); err != nil {
		t.Fatal(err)
	}
	e.uses.add(1, []ragctx.ContextItem{{ID: "m", Provider: memory.Name, Type: ragctx.TypeMemory}}, e.opts.Now())
	e.uses.flush(t.Context())
	turn := ragctx.Turn{ID: "t", SessionID: "s", UserID: "ada", Namespace: "a"}
	e.turns.deliverTo(turnObserver{TurnObserver: full{}, name: "skills", timeout: extractTimeout, own: true}, turn)

	operations := map[string]string{"count uses of memories": "", "learn for skills": "s"}
	e.events.Close()
	for ev, err := range e.events.Follow(t.Context(), events.Filter{Reader: access.FullGrant()}, from) {
		if err != nil {
			break // it is closed
		}
		failed, ok := ev.Data.(ragctx.PersistenceFailed)
		session, expected := operations[failed.Operation]
		if !ok || !expected || failed.SessionID != session || ev.SessionID != session || failed.Error == "" {
			t.Errorf("%+v", ev)
		}
		delete(operations, failed.Operation)
	}
	if len(operations) > 0 {
		t.Errorf("not told: %v", operations)
	}
}

// TestStoreFailed: that the store failed is an event.
func TestStoreFailed(t *testing.T) {
	e, err := Open(t.Context(), Options{Dir: t.TempDir(), PauseJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	from, err := e.Events().Last(t.Context(), events.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	e.storeFailed(&ragctx.RepairError{Kind: ragctx.RepairWrites, Problem: "it cannot write", Cause: context.Canceled})
	e.events.Close()
	var got []ragctx.Event
	for ev, err := range e.events.Follow(t.Context(), events.Filter{Reader: access.FullGrant()}, from) {
		if err != nil {
			break // it is closed
		}
		got = append(got, ev)
	}
	if want := (ragctx.StoreFailed{Kind: ragctx.RepairWrites, Problem: "it cannot write"}); len(got) != 1 || got[0].Data != want {
		t.Errorf("%+v", got)
	}
}
