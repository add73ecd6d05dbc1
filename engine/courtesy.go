package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// courtesy lets those go first that someone waits for. An ingest that keeps every
// processor busy would make a turn of a few milliseconds wait for tens of them,
// though the store puts turns before documents: the turn has to be computed, too.
type courtesy struct{ urgent atomic.Int32 }

// hurry says that something urgent is under way, until the func is called.
func (c *courtesy) hurry() func() {
	c.urgent.Add(1)
	return func() { c.urgent.Add(-1) }
}

// A document gives way for at most courtesyMost at a time, so that it comes to its
// end beside any number of turns.
const (
	courtesyStep = time.Millisecond
	courtesyMost = 20
)

// giveWay waits while something urgent is under way.
func (c *courtesy) giveWay(ctx context.Context) {
	for range courtesyMost {
		if c.urgent.Load() == 0 || ctx.Err() != nil {
			return
		}
		time.Sleep(courtesyStep)
	}
}
