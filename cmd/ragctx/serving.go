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
	return min(debug.SetMemoryLimit(-1), memoryLimit(os.DirFS("/"))) // GOMEMLIMIT
}

// bodyShare is the divisor of the memory that the bodies of requests may use. The rest is for
// indexes, caches and garbage.
const bodyShare = 3

// bodyMemory returns the memory for request bodies of a process that may use limit bytes.
func bodyMemory(limit int64) int64 {
	if limit == math.MaxInt64 {
		return api.DefaultBodyMemory
	}
	return limit / bodyShare
}

// forServing tunes Go's runtime for many concurrent requests within limit bytes of memory, until
// back is called. GOMAXPROCS, GOGC and GOMEMLIMIT of the environment take precedence. Code that
// uses much memory for a while calls large, and the function that it returns at the end.
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

// oversubscribe doubles GOMAXPROCS until back is called. Then the kernel schedules the goroutines
// of requests and of ingests, and favours threads that just woke up from the network or the disk.
// Go's own scheduler would let each goroutine run for 10 ms.
func oversubscribe() (back func()) {
	cores := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(2 * cores)
	return func() { runtime.GOMAXPROCS(cores) }
}

// spareHeap is the least number of bytes allocated between two collections. Go's default collects
// whenever the heap has doubled: with a small heap that is several times a second, and each time
// requests lose half of the cores.
const spareHeap = 192 << 20

// spareFor returns the spare heap for a memory limit: a small limit must leave room for the live
// heap.
func spareFor(limit int64) uint64 { return uint64(min(spareHeap, max(limit, 0)/8)) }

// usualPercent is Go's default. The live heap may grow much before the next collection; mostPercent
// bounds the allocations until then.
const (
	usualPercent = 100
	mostPercent  = 300
)

// collector keeps Go's garbage collector from running too often. After each collection it sets the
// time of the next one.
type collector struct {
	spare  uint64
	before int // the percentage before

	mu      sync.Mutex // guards the fields below
	percent int        // the current percentage
	stopped bool
	larges  int         // number of users of much memory
	after   *time.Timer // ends the period after them
}

// largePercent is the percentage while a large body is processed, and for largeAfter, in which the
// indexes merge it. The live heap is then mostly the body and its derivatives, which garbage would
// double. For a text of 15 MB a server takes 241 MiB with 50, and 278 MiB with 75, which needs less
// CPU.
const (
	largePercent = 50
	largeAfter   = 20 * time.Second
)

// large makes collections more frequent until done is called and for largeAfter, and then returns
// unused memory to the system.
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

// relax ends the period after large bodies.
func (c *collector) relax() {
	c.mu.Lock()
	over := c.larges == 0 && !c.stopped
	if over {
		c.after = nil
	}
	c.mu.Unlock()
	if over {
		debug.FreeOSMemory() // it collects, and that restores the usual percentage
	}
}

// set changes the percentage if the difference is worth stopping the world. The caller holds mu.
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

// stop restores the percentage from before.
func (c *collector) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.after != nil {
		c.after.Stop()
	}
	debug.SetGCPercent(c.before)
}

// collected runs after each collection, as the finalizer of an unreachable object.
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

// percentFor returns the percentage of the live heap that may be allocated until the next
// collection.
func percentFor(inUse, spare uint64) int {
	return int(min(max(usualPercent, usualPercent*spare/max(inUse, 1)), mostPercent)) //nolint:gosec // at most mostPercent
}

// inUse returns the size of the live heap after the last collection.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
