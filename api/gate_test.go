package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// testGate is a gate of one request at a time that sees the given scheduling delay.
func testGate(delay *atomic.Int64) *gate {
	g := newGate()
	g.limit, g.least = 1, 1
	g.delay = func() time.Duration { return time.Duration(delay.Load()) }
	return g
}

// A request waits for its turn and is refused after its patience; a write goes before reads
// that came earlier; a caller who leaves keeps nobody waiting.
func TestGateLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busyProcessors atomic.Int64
		busyProcessors.Store(int64(time.Second))
		g := testGate(&busyProcessors)
		first, err := g.enter(t.Context(), readsNext)
		if first == nil || err != nil {
			t.Fatal("an idle gate lets nobody in:", err)
		}
		if leave, err := g.enter(t.Context(), readsNext); leave != nil || err != nil {
			t.Fatalf("a full gate lets a request in: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if leave, err := g.enter(gone, readsNext); leave != nil || err == nil {
			t.Fatal("a caller who has gone is let in")
		}
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		wait := func(name string, p priority) {
			all.Go(func() {
				leave, err := g.enter(t.Context(), p)
				if leave == nil || err != nil {
					t.Errorf("%s is not let in: %v", name, err)
					return
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				leave()
			})
			synctest.Wait()
		}
		wait("read 1", readsNext)
		wait("read 2", readsNext)
		wait("write", writesFirst)
		first()
		all.Wait()
		if got, want := order, []string{"write", "read 1", "read 2"}; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
			t.Errorf("order %q, want %q", got, want)
		}
		if g.active != 0 || g.refused.Load() != 1 {
			t.Errorf("%d are active and %d refused at the end", g.active, g.refused.Load())
		}
	})
}

// The limit grows while processors are idle and shrinks once goroutines wait for them.
func TestGateAdapts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var delay atomic.Int64
		g := testGate(&delay)
		var leaves []func()
		for range 20 {
			time.Sleep(adaptEvery)
			leave, err := g.enter(t.Context(), readsNext)
			if leave == nil || err != nil {
				t.Fatalf("%d requests wait for something else, and the next is refused: %v", len(leaves), err)
			}
			leaves = append(leaves, leave)
		}
		delay.Store(int64(time.Second))
		for _, leave := range leaves {
			time.Sleep(adaptEvery)
			leave()
		}
		if g.limit != g.least || g.active != 0 {
			t.Errorf("limit %d with %d active, want %d and none", g.limit, g.active, g.least)
		}
	})
}

// Whatever comes and goes, no more requests are inside than the limit, and none is lost.
func TestGateRandom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var delay atomic.Int64
		delay.Store(int64(time.Second))
		g := testGate(&delay)
		g.limit, g.least = 5, 5
		var inside, most, served, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 400 {
			all.Go(func() {
				time.Sleep(time.Duration(i*i%97) * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i*31%500)*time.Millisecond)
				defer cancel()
				leave, _ := g.enter(ctx, priority(i%2))
				if leave == nil {
					refused.Add(1)
					return
				}
				for n := inside.Add(1); n > most.Load(); {
					most.Store(n)
				}
				time.Sleep(time.Duration(i%13) * time.Millisecond)
				inside.Add(-1)
				served.Add(1)
				leave()
			})
		}
		all.Wait()
		if most.Load() > 5 || g.active != 0 || len(g.lines[0])+len(g.lines[1]) != 0 || served.Load()+refused.Load() != 400 || served.Load() == 0 || refused.Load() == 0 {
			t.Errorf("%d inside at a time, %d active at the end, %d in line, %d served, %d refused",
				most.Load(), g.active, len(g.lines[0])+len(g.lines[1]), served.Load(), refused.Load())
		}
	})
}

// While processors have enough to do, questions are told to come again, writes wait longer,
// and health checks are answered at once.
func TestGateRoutes(t *testing.T) {
	f := start(t, Options{}, func(s *Server) {
		var busyProcessors atomic.Int64
		busyProcessors.Store(int64(time.Second))
		s.gate = testGate(&busyProcessors)
		s.gate.patience = [priorities]time.Duration{writesFirst: time.Minute, readsNext: 20 * time.Millisecond}
	})
	leave, err := f.gate.enter(t.Context(), readsNext)
	if leave == nil || err != nil {
		t.Fatal("the gate is not idle:", err)
	}
	if a := f.call(t, "POST", "/v1/search", `{"query": "x"}`); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, "try again in 1 s") {
		t.Errorf("a question: status %d, Retry-After %q, %s", a.status, a.header.Get("Retry-After"), a.body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/v1/status", "/metrics"} {
		if a := f.call(t, "GET", path, ""); a.status != http.StatusOK {
			t.Errorf("%s: status %d, %s", path, a.status, a.body)
		}
	}
	written := make(chan answer)
	go func() { written <- f.call(t, "PUT", "/v1/documents/a.md", `{"text": "Zebras have stripes."}`) }()
	for waiting := 0; waiting == 0; _, _, waiting = f.gate.state() {
		time.Sleep(time.Millisecond)
	}
	leave()
	if a := <-written; a.status != http.StatusCreated {
		t.Errorf("a write: status %d, %s", a.status, a.body)
	}
}

// Each operation that is not gated is one of the document.
func TestUngated(t *testing.T) {
	var all []string
	for _, list := range operationRoles {
		all = append(all, list...)
	}
	for _, id := range ungated {
		if !slices.Contains(all, id) {
			t.Errorf("there is no operation %q", id)
		}
	}
}
