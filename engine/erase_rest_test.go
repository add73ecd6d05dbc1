package engine

import (
	"context"
	"testing"
	"time"
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
