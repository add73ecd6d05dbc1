package engine

import (
	"testing"
	"time"
)

// TestRefillIsNotPutOff has a vector be wanted every second while the embedder
// fails: the tries come in spite of it, ever more seldom.
func TestRefillIsNotPutOff(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := backfillSchedule{at: now.Add(backfillMaxDelay)}
	var tries []time.Duration
	for start := now; now.Sub(start) < time.Hour; now = now.Add(time.Second) {
		r.wake(now, backfillMinDelay)
		if !now.Before(r.at) {
			tries = append(tries, now.Sub(start))
			r.finished(now, false)
		}
	}
	if len(tries) < 12 || len(tries) > 20 || tries[0] != backfillMinDelay || tries[1] != 2*backfillMinDelay || tries[2] != 4*backfillMinDelay {
		t.Errorf("tries after %v", tries)
	}
	if wait := r.finished(now, true); wait != backfillMaxDelay {
		t.Errorf("after success it waits for %v", wait)
	}
	r.wake(now, backfillMinDelay)
	r.wake(now.Add(time.Second), backfillMinDelay)
	if wait := r.at.Sub(now); wait != backfillMinDelay {
		t.Errorf("after the first failure since it waits for %v", wait)
	}
}
