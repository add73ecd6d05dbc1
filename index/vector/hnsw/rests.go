package hnsw

import (
	"sync/atomic"
	"time"
)

// How long a Tidy works between rests, and how long it rests then. Nobody waits for
// it, and it takes seconds. While every core is busy, what comes from the network is
// seen every ten milliseconds only, and a search, which changes goroutines several
// times, waits as long each time; in the rests it gets on.
const (
	spell = 2 * time.Millisecond
	rest  = 2 * time.Millisecond
)

// rests are those of all workers of a Tidy.
type rests struct{ next atomic.Int64 }

func newRests() *rests {
	r := new(rests)
	r.next.Store(time.Now().Add(spell).UnixNano())
	return r
}

// breathe rests if it is time.
func (r *rests) breathe() {
	if time.Now().UnixNano() < r.next.Load() {
		return
	}
	time.Sleep(rest)
	r.next.Store(time.Now().Add(spell).UnixNano())
}
