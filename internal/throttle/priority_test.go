package throttle_test

import (
	"testing"

	"github.com/ragctx/ragctx/internal/throttle"
)

// TestBackground checks that the work is done when Background returns, and that the caller gets its panic.
func TestBackground(t *testing.T) {
	done := false
	throttle.Background(func() { done = true })
	if !done {
		t.Error("not done")
	}
	defer func() {
		if p := recover(); p != "rotten" {
			t.Errorf("panicked with %v", p)
		}
	}()
	throttle.Background(func() { panic("rotten") })
	t.Error("the panic was lost")
}
