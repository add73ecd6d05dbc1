package throttle_test

import (
	"syscall"
	"testing"

	"github.com/ragctx/ragctx/internal/throttle"
)

// TestLowerPriority checks that only the thread of the background goroutine has a lower priority, and
// only while it runs.
func TestLowerPriority(t *testing.T) {
	// The system call returns 20 less the niceness.
	niceness := func() int {
		n, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
		if err != nil {
			t.Fatal(err)
		}
		return 20 - n
	}
	own := niceness()
	for range 3 {
		var background int
		throttle.Background(func() { background = niceness() })
		if want := max(own, 10); background != want {
			t.Errorf("the background goroutine has niceness %d, want %d", background, want)
		}
		if n := niceness(); n != own {
			t.Errorf("the caller has niceness %d, had %d", n, own)
		}
	}
}
