package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// courtesy lets interactive requests go before bulk ingestion. An ingest that keeps every core busy
// would delay a turn of a few milliseconds by tens of them: the store already prefers turns, but a
// turn also needs CPU.
type courtesy struct{ urgent atomic.Int32 }

// hurry marks an urgent request as running, until the returned func is called.
func (c *courtesy) hurry() func() {
	c.urgent.Add(1)
	return func() { c.urgent.Add(-1) }
}

// A document yields for at most courtesyMost steps at a time, so it makes progress under any number
// of turns.
const (
	courtesyStep = time.Millisecond
	courtesyMost = 20
)

// giveWay waits while urgent requests are running, up to the bound.
func (c *courtesy) giveWay(ctx context.Context) {
	for range courtesyMost {
		if c.urgent.Load() == 0 || ctx.Err() != nil {
			return
		}
		time.Sleep(courtesyStep)
	}
}
