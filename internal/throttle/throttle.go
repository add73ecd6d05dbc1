// Package throttle lets long work that nobody waits for give way to what somebody waits for.
//
// Go gives each goroutine ten milliseconds of a core before the next one has its turn.
// While work in the background keeps every core busy, a request, which changes goroutines
// many times, waits for its turn each time, and where background work takes half of the
// cores for seconds, requests that need more than the other half queue up behind it. Work
// that rests every few milliseconds takes longer and is not noticed, and on Linux the
// kernel lets threads of lower priority wait ([LowerPriority]).
package throttle

import (
	"sync/atomic"
	"time"
)

// Work goes on for a spell between two rests. A rest is short. If it ends much later than
// it was to, every core was busy, and a longer one follows. Work never gets less than a
// quarter of a core by its own doing: somebody may wait for it after all, and what it
// brings may make the cores less busy.
const (
	spell = 2 * time.Millisecond
	short = 500 * time.Microsecond
	long  = 4 * time.Millisecond
	late  = time.Millisecond
)

// Throttle is that of one piece of work, done by any number of goroutines. The zero value is
// ready; it begins with a rest.
type Throttle struct{ next atomic.Int64 }

// Yield rests if it is time. It costs a look at the clock, so it is for loops of which
// one round takes microseconds.
func (l *Throttle) Yield() {
	begun := time.Now()
	if begun.UnixNano() < l.next.Load() {
		return
	}
	time.Sleep(short)
	if time.Since(begun) > short+late {
		time.Sleep(long)
	}
	l.next.Store(time.Now().Add(spell).UnixNano())
}
