// Package throttle makes background work yield the CPU to foreground requests.
//
// Go runs a goroutine for up to ten milliseconds before another one gets the core. While background
// work keeps every core busy, a request waits that long at each of its many goroutine switches. If
// background work takes half of the cores for seconds, requests that need more than the other half
// queue up. Background work that pauses every few milliseconds takes longer but does not delay
// requests. On Linux, [LowerPriority] makes the kernel prefer other threads as well.
package throttle

import (
	"sync/atomic"
	"time"
)

// Work runs for workTime between two pauses. A pause is shortPause long. If it ends much later than planned,
// every core was busy, and a longer pause follows. Work always gets at least a quarter of a core,
// because a request may depend on it and its result may reduce the load.
const (
	workTime   = 2 * time.Millisecond
	shortPause = 500 * time.Microsecond
	longPause  = 4 * time.Millisecond
	lateAfter  = time.Millisecond
)

// Throttle throttles one piece of work, which may use any number of goroutines. The zero value is
// ready for use; its first Yield pauses.
type Throttle struct{ next atomic.Int64 }

// Yield pauses if a pause is due. Each call reads the clock, so call it in loops with iterations of
// microseconds.
func (l *Throttle) Yield() {
	begun := time.Now()
	if begun.UnixNano() < l.next.Load() {
		return
	}
	time.Sleep(shortPause)
	if time.Since(begun) > shortPause+lateAfter {
		time.Sleep(longPause)
	}
	l.next.Store(time.Now().Add(workTime).UnixNano())
}
