package engine

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/ragctx/ragctx/session"
)

// An erasure rests after another, but not once the engine is closed.
func TestEraserRests(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := &eraser{life: ctx}
	if r.rest() {
		t.Error("the first one rests")
	}
	r.restUntil = time.Now().Add(5 * time.Millisecond)
	if !r.rest() || time.Now().Before(r.restUntil) {
		t.Error("the next one does not rest")
	}
	cancel()
	r.restUntil = time.Now().Add(time.Hour)
	if !r.rest() {
		t.Error("it does not tell that it had to rest")
	}
}

// TestNothingToErase checks that a round of the eraser without an erasure leaves what calls were shown.
func TestNothingToErase(t *testing.T) {
	e, err := Open(t.Context(), Options{Dir: t.TempDir(), PauseJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	k, question := session.Key{ID: "s"}, sha256.Sum256([]byte("when does the harbour open?"))
	_, generation := e.shownItems.get(k, question)
	e.shownItems.put(k, question, []string{"a@1#0"}, generation)
	ctx, end := context.WithCancel(t.Context())
	end() // after one round
	e.eraser.loop(ctx, e.core)
	if items, _ := e.shownItems.get(k, question); len(items) != 1 {
		t.Errorf("shown items are %q", items)
	}
}
