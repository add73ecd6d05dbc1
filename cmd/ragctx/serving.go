package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/ragctx/ragctx/api"
)

// processMemory returns how many bytes of memory this process may use.
func processMemory() int64 {
	return min(debug.SetMemoryLimit(-1), memoryLimit(os.DirFS("/"))) // the first is what GOMEMLIMIT says
}

// bodyShare is the part of the memory that bodies of requests may take, one in so many.
// Indexes, caches and what is not collected yet take the rest.
const bodyShare = 3

// bodyMemory returns the memory for bodies of a process that may use limit bytes.
func bodyMemory(limit int64) int64 {
	if limit == math.MaxInt64 {
		return api.DefaultBodyMemory
	}
	return limit / bodyShare
}

// forServing sets Go's runtime for many requests at a time, within limit bytes of memory,
// until back is called. GOMAXPROCS, GOGC and GOMEMLIMIT of the environment are left as
// they are. Whoever works with much memory for a while calls large, and what it returns
// at the end.
func forServing(env lookupEnv, limit int64) (large func() (done func()), back func()) {
	var undo []func()
	back = func() {
		for _, fn := range undo {
			fn()
		}
	}
	if _, set := env("GOMEMLIMIT"); !set && limit < math.MaxInt64 {
		before := debug.SetMemoryLimit(limit / 10 * 9)
		undo = append(undo, func() { debug.SetMemoryLimit(before) })
	}
	if _, set := env("GOMAXPROCS"); !set {
		undo = append(undo, oversubscribe())
	}
	if _, set := env("GOGC"); !set {
		c := collectLess(spareFor(limit))
		large, undo = c.large, append(undo, c.stop)
	}
	return large, back
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

// spareFor returns how many bytes are spared of a limit of memory: a small one is to have room
// for what is in use.
func spareFor(limit int64) uint64 { return uint64(min(spareHeap, max(limit, 0)/8)) }

// usualPercent is Go's own. What is in use may grow much before the next collection, of which
// mostPercent may be allocated then.
const (
	usualPercent = 100
	mostPercent  = 300
)

// collector keeps Go's garbage collector from running too often. After each collection it
// says when the next one is due.
type collector struct {
	spare  uint64
	before int // what was set before

	mu      sync.Mutex // guards what follows
	percent int        // what is set
	stopped bool
	larges  int         // how many work with much memory
	after   *time.Timer // ends the time after them
}

// largePercent is what is set while a large body is worked on, and for largeAfter, in which
// indexes put in order what they got. Most of what is in use is the body then, and what was
// made of it; what is not collected yet would double that. A server takes 241 MiB for a text
// of 15 MB with 50, and 278 with 75, which needs less of the processor.
const (
	largePercent = 50
	largeAfter   = 20 * time.Second
)

// large has memory collected more often until done is called, and for a while after that.
// Then the system gets back what is not used.
func (c *collector) large() (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.larges++; c.larges == 1 && !c.stopped {
		if c.after != nil {
			c.after.Stop()
		}
		c.set(largePercent)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.larges--; c.larges == 0 {
			c.after = time.AfterFunc(largeAfter, c.relax)
		}
	}
}

// relax ends the time after large bodies.
func (c *collector) relax() {
	c.mu.Lock()
	over := c.larges == 0 && !c.stopped
	if over {
		c.after = nil
	}
	c.mu.Unlock()
	if over {
		debug.FreeOSMemory() // which collects, so the usual percentage is set
	}
}

// set sets the percentage if that makes a difference worth stopping the world for. The
// caller holds mu.
func (c *collector) set(p int) {
	if 10*max(p-c.percent, c.percent-p) > c.percent {
		c.percent = p
		debug.SetGCPercent(p)
	}
}

func collectLess(spare uint64) *collector {
	c := &collector{spare: spare, before: debug.SetGCPercent(usualPercent), percent: usualPercent}
	c.collected()
	return c
}

// stop leaves all as it was before.
func (c *collector) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.after != nil {
		c.after.Stop()
	}
	debug.SetGCPercent(c.before)
}

// collected is called after each collection, by the finalizer of what nothing refers to.
func (c *collector) collected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	if c.larges > 0 || c.after != nil {
		c.set(largePercent)
	} else {
		c.set(percentFor(inUse(), c.spare))
	}
	runtime.SetFinalizer(&sentinel{c}, func(s *sentinel) { s.collector.collected() })
}

type sentinel struct{ collector *collector }

// percentFor returns the percentage of what is in use that may be allocated until the
// next collection.
func percentFor(inUse, spare uint64) int {
	return int(min(max(usualPercent, usualPercent*spare/max(inUse, 1)), mostPercent)) //nolint:gosec // at most mostPercent
}

// inUse returns how many bytes the last collection left.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
