package throttle_test

import (
	"syscall"
	"testing"

	"github.com/ragctx/ragctx/internal/throttle"
)

// Only the thread of a demoted goroutine is, and only as long as it runs.
func TestDemoted(t *testing.T) {
	// The system call answers 20 less the niceness.
	niceness := func() int {
		n, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
		if err != nil {
			t.Fatal(err)
		}
		return 20 - n
	}
	own := niceness()
	for range 3 {
		var aside int
		throttle.Background(func() { aside = niceness() })
		if want := max(own, 10); aside != want {
			t.Errorf("beside others the niceness is %d, want %d", aside, want)
		}
		if n := niceness(); n != own {
			t.Errorf("who waits has niceness %d, had %d", n, own)
		}
	}
}
