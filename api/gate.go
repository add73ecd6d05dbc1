package api

import (
	"context"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/internal/access"
)

// gate bounds how many requests compute at the same time. The others wait in line for a
// moment, writes before reads, and are then refused.
//
// The bound adapts. While requests wait for something other than a processor, such as a
// remote embedder, the scheduler is idle and the bound grows. Once goroutines wait for a
// processor, more requests at a time would only make each of them slower, and it shrinks.
type gate struct {
	patience [priorities]time.Duration // how long a request waits in line
	delay    func() time.Duration      // how long goroutines waited for a processor since the last call
	refused  atomic.Uint64

	mu      sync.Mutex
	limit   int
	least   int
	active  int
	adapted time.Time
	lines   [priorities][]chan struct{} // the waiting requests, the oldest first
}

// priority says which requests of a line go first.
type priority int

const (
	writesFirst priority = iota
	readsNext
	itemsLast // of a request with many, which is not cut off for a moment's load
	priorities
)

const (
	atATimePerCore = 4 // the least limit: enough to keep a core busy beside short waits
	mostAtATime    = 4096
	adaptEvery     = 100 * time.Millisecond
	busyDelay      = 5 * time.Millisecond // above it, processors are the bottleneck
	idleDelay      = time.Millisecond     // below it, they are not
)

func newGate() *gate {
	n := atATimePerCore * runtime.NumCPU()
	return &gate{
		patience: [priorities]time.Duration{writesFirst: 10 * time.Second, readsNext: 250 * time.Millisecond, itemsLast: time.Minute},
		delay:    schedulingDelay(), limit: n, least: n,
	}
}

// enter waits until a request may compute and returns what ends it; nil if the wait was in
// vain. It fails only with ctx.
func (g *gate) enter(ctx context.Context, p priority) (leave func(), err error) {
	g.mu.Lock()
	g.adapt(time.Now())
	if g.active < g.limit && g.waiting(p) == 0 {
		g.active++
		g.mu.Unlock()
		return g.leave, nil
	}
	turn := make(chan struct{})
	g.lines[p] = append(g.lines[p], turn)
	g.mu.Unlock()
	patience := time.NewTimer(g.patience[p])
	defer patience.Stop()
	select {
	case <-turn:
		return g.leave, nil
	case <-patience.C:
		if g.giveUp(p, turn) {
			g.refused.Add(1)
			return nil, nil
		}
		return g.leave, nil // the turn came at the same moment
	case <-ctx.Done():
		if !g.giveUp(p, turn) {
			g.leave()
		}
		return nil, ctx.Err()
	}
}

// waiting returns how many requests wait that go before one that comes now.
func (g *gate) waiting(p priority) (n int) {
	for _, line := range g.lines[:p+1] {
		n += len(line)
	}
	return n
}

// giveUp takes a request out of its line; false if its turn has come.
func (g *gate) giveUp(p priority, turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.lines[p], turn)
	if at >= 0 {
		g.lines[p] = slices.Delete(g.lines[p], at, at+1)
	}
	return at >= 0
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	g.adapt(time.Now())
	g.admit()
}

// admit lets the first in line in while there is room.
func (g *gate) admit() {
	for p := range g.lines {
		for g.active < g.limit && len(g.lines[p]) > 0 {
			close(g.lines[p][0])
			g.lines[p] = g.lines[p][1:]
			g.active++
		}
	}
}

// adapt changes the limit where requests have reached it.
func (g *gate) adapt(now time.Time) {
	if now.Sub(g.adapted) < adaptEvery {
		return
	}
	g.adapted = now
	delay := g.delay()
	switch {
	case delay > busyDelay:
		g.limit = max(g.least, min(g.limit, g.active)*3/4)
	case delay < idleDelay && g.active >= g.limit:
		g.limit = min(mostAtATime, g.limit+max(1, g.limit/4))
		g.admit()
	}
}

// state tells how many requests compute, may compute and wait.
func (g *gate) state() (active, limit, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.active, g.limit, g.waiting(priorities - 1)
}

// schedulingDelay returns a function that tells the 90th percentile of how long goroutines
// waited for a processor since its last call, as the runtime counted it.
func schedulingDelay() func() time.Duration {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	var before []uint64
	return func() time.Duration {
		metrics.Read(sample)
		h := sample[0].Value.Float64Histogram()
		counts := make([]uint64, len(h.Counts))
		total := uint64(0)
		for i, n := range h.Counts {
			counts[i] = n
			if before != nil {
				counts[i] -= before[i]
			}
			total += counts[i]
		}
		before = append(before[:0], h.Counts...)
		left := total - total*9/10
		for i, n := range slices.Backward(counts) {
			if n >= left {
				return time.Duration(max(h.Buckets[i], 0) * float64(time.Second)) // the bucket's lower bound
			}
			left -= n
		}
		return 0
	}
}

// ungated are the operations that never wait as a whole: those that say how the server is
// doing, and those that mostly wait for their caller or for time to pass. Of requests with
// many items, each item waits. What deletes or erases mostly waits for the disk, and never
// waits for others either.
var ungated = []string{
	"healthz", "readyz", "metrics", "status", "list-keys", "revoke-key", "cancel-job",
	"stream-events", "stream-messages", "watch-job", "get-job", "snapshot",
	putDocuments, "import-memories", "import-messages", importSession,
	"export-memories", "export-messages", "export-session",
}

// compute waits until an operation may compute; leave ends it.
func (s *Server) compute(ctx context.Context, op *huma.Operation) (leave func(), err error) {
	if slices.Contains(ungated, op.OperationID) || op.Method == http.MethodDelete {
		return func() {}, nil
	}
	p := readsNext
	if roleOf(op.OperationID) > access.Read {
		p = writesFirst
	}
	return s.enter(ctx, p)
}

// enter is [gate.enter], but that a wait in vain is a problem. Requests of this process
// wait for nobody.
func (s *Server) enter(ctx context.Context, p priority) (leave func(), err error) {
	if isInside(ctx) {
		return func() {}, nil
	}
	leave, err = s.gate.enter(ctx, p)
	if leave == nil && err == nil {
		err = busy(http.StatusTooManyRequests, time.Second, "the server has reached its limit of concurrent "+
			"requests")
	}
	return leave, err
}
