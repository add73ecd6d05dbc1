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

// gate limits how many requests compute concurrently. Others wait in line briefly, writes before
// reads, and are then refused.
//
// The limit adapts. While requests wait for something other than a processor, such as a remote
// embedder, the scheduler is idle and the limit grows. It shrinks once goroutines wait for a
// processor, since more concurrency would only slow down every request.
type gate struct {
	patience [priorities]time.Duration // how long a request waits in line
	delay    func() time.Duration      // scheduling delay of goroutines since the last call
	refused  atomic.Uint64

	mu      sync.Mutex
	limit   int
	least   int
	active  int
	adapted time.Time
	lines   [priorities][]chan struct{} // waiting requests, oldest first
}

// priority is the order in which waiting requests proceed.
type priority int

const (
	writesFirst priority = iota
	readsNext
	itemsLast // for an item of a large request, which a short overload must not abort
	priorities
)

const (
	atATimePerCore = 4 // minimum limit: enough to keep a core busy during short waits
	mostAtATime    = 4096
	adaptEvery     = 100 * time.Millisecond
	busyDelay      = 5 * time.Millisecond // above it, processors are the bottleneck
	idleDelay      = time.Millisecond     // below it, they are not
)

func newGate() *gate {
	n := atATimePerCore * runtime.NumCPU()
	return &gate{
		patience: [priorities]time.Duration{
			writesFirst: 10 * time.Second, readsNext: 250 * time.Millisecond,
			itemsLast: time.Minute,
		},
		delay: schedulingDelay(), limit: n, least: n,
	}
}

// enter waits until a request may compute and returns the func that ends it, or nil after a
// timeout. It returns an error only from ctx.
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

// waiting returns the number of waiting requests ahead of a new one.
func (g *gate) waiting(p priority) (n int) {
	for _, line := range g.lines[:p+1] {
		n += len(line)
	}
	return n
}

// giveUp removes a request from its line; it returns false if its turn has come.
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

// admit lets waiting requests proceed while there is room.
func (g *gate) admit() {
	for p := range g.lines {
		for g.active < g.limit && len(g.lines[p]) > 0 {
			close(g.lines[p][0])
			g.lines[p] = g.lines[p][1:]
			g.active++
		}
	}
}

// adapt adjusts the limit if requests have reached it.
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

// state returns how many requests compute, how many may, and how many wait.
func (g *gate) state() (active, limit, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.active, g.limit, g.waiting(priorities - 1)
}

// schedulingDelay returns a function for the 90th percentile of the goroutines' scheduling delay
// since its previous call, from runtime metrics.
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

// ungated are the operations that bypass the gate: status checks, and operations that mostly wait
// for their caller or for time to pass. In requests with many items each item passes the gate.
// Deletions and erasures mostly wait for the disk.
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

// enter is [gate.enter] with a timeout as a problem. Requests within this process never wait.
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
