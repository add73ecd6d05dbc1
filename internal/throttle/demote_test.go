package throttle_test

import (
	"testing"

	"github.com/ragctx/ragctx/internal/throttle"
)

// Work beside is done when Aside returns, and a panic of it is the caller's.
func TestAside(t *testing.T) {
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
