package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// forServing sets Go's runtime for many requests at a time until back is called. What the
// environment says of GOMAXPROCS or GOGC is left as it is.
func forServing(env lookupEnv) (back func()) {
	fewer := func() {}
	if _, set := env("GOMAXPROCS"); !set {
		fewer = oversubscribe()
	}
	if _, set := env("GOGC"); set {
		return fewer
	}
	c := collectLess()
	return func() { c.stop(); fewer() }
}

// oversubscribe gives Go twice as many processors as there are until back is called. Then
// no goroutine of a turn stands in line behind those of an ingest: the kernel decides which
// thread goes first, and it favours those that just woke up, from the network or
// from a sync of the disk. Go's own scheduler lets each run for 10 ms.
func oversubscribe() (back func()) {
	cores := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(2 * cores)
	return func() { runtime.GOMAXPROCS(cores) }
}

// spareHeap is how many bytes may be allocated between two collections where what is in use
// is less. Go collects whenever as much was allocated as is in use, which is several times
// in a second where little is; requests meanwhile have half of the cores.
const spareHeap = 192 << 20

// usualPercent is Go's own.
const usualPercent = 100

// collector keeps Go's garbage collector from running too often. After each collection it
// says when the next one is due.
type collector struct {
	before int // what was set before

	mu      sync.Mutex // guards what follows
	percent int        // what is set
	stopped bool
}

func collectLess() *collector {
	c := &collector{before: debug.SetGCPercent(usualPercent), percent: usualPercent}
	c.collected()
	return c
}

// stop leaves all as it was before.
func (c *collector) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	debug.SetGCPercent(c.before)
}

// collected is called after each collection, by the finalizer of what nothing refers to.
func (c *collector) collected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	if p := percentFor(inUse()); 10*max(p-c.percent, c.percent-p) > c.percent { // a change stops the world
		c.percent = p
		debug.SetGCPercent(p)
	}
	runtime.SetFinalizer(&sentinel{c}, func(s *sentinel) { s.collector.collected() })
}

type sentinel struct{ collector *collector }

// percentFor returns the percentage of what is in use that may be allocated until the
// next collection.
func percentFor(inUse uint64) int {
	return int(max(usualPercent, usualPercent*spareHeap/max(inUse, spareHeap/10))) //nolint:gosec // at most a thousand
}

// inUse returns how many bytes the last collection left.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
