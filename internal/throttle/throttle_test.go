package throttle_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragctx/ragctx/internal/throttle"
)

// TestYield checks that ten milliseconds of work pause several times, and one millisecond once.
func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rested := func(l *throttle.Throttle, work time.Duration) (n int) {
			for end := time.Now().Add(work); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
				before := time.Now()
				l.Yield()
				if took := time.Since(before); took > 0 {
					n++
					end = end.Add(took)
				}
			}
			return n
		}
		var l throttle.Throttle
		if n := rested(&l, time.Millisecond); n != 1 {
			t.Errorf("rested %d times in a millisecond", n)
		}
		if n := rested(&l, 10*time.Millisecond); n < 4 || n > 6 {
			t.Errorf("rested %d times in ten milliseconds", n)
		}
	})
}
