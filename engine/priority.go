package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// priority lets interactive requests go before bulk ingestion. An ingest that keeps every core busy
// would delay a turn of a few milliseconds by tens of them: the store already prefers turns, but a
// turn also needs CPU.
type priority struct{ urgent, requests atomic.Int32 }

// beginUrgent marks an urgent request as running, until the returned func is called.
func (c *priority) beginUrgent() func() {
	c.urgent.Add(1)
	return func() { c.urgent.Add(-1) }
}

// A document yields for at most maxYieldSteps steps at a time, so it makes progress under any number
// of turns.
const (
	yieldStep     = time.Millisecond
	maxYieldSteps = 20
)

// yield waits while urgent requests are running, up to the bound.
func (c *priority) yield(ctx context.Context) {
	for range maxYieldSteps {
		if c.urgent.Load() == 0 || ctx.Err() != nil {
			return
		}
		time.Sleep(yieldStep)
	}
}

// beginRequest marks a query or an ingest as running, until the returned func is called.
func (c *priority) beginRequest() func() {
	c.requests.Add(1)
	return func() { c.requests.Add(-1) }
}

// maxIdleWait bounds how long a text in the background waits for requests to end.
const maxIdleWait = 200 * time.Millisecond

// waitIdle waits while requests are running, up to the bound.
func (c *priority) waitIdle(ctx context.Context) {
	for range maxIdleWait / yieldStep {
		if c.urgent.Load()+c.requests.Load() == 0 || ctx.Err() != nil {
			return
		}
		time.Sleep(yieldStep)
	}
}
