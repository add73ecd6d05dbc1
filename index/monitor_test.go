package index_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/ragctx/ragctx/index"
)

// graph is a vector index that approximates: it misses some chunks.
type graph struct {
	*arrows

	misses func(id uint64) bool
	// between is called before an exact search, with its context.
	between func(context.Context)
	asked   atomic.Pointer[index.VectorQuery] // the last one
}

func (g *graph) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	g.asked.Store(&q)
	if q.Exact {
		if g.between != nil {
			g.between(ctx)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return g.arrows.Search(ctx, q)
	}
	wanted := q.Accept
	q.Accept = func(id uint64) bool { return !g.misses(id) && (wanted == nil || wanted(id)) }
	return g.arrows.Search(ctx, q)
}

// always chooses every search.
func always() index.MonitorOptions {
	return index.MonitorOptions{Share: 1, PerSecond: 1e9, Load: 1, Draw: func() float64 { return 0 }}
}

// measure opens an index over a graph and a recall monitor of all its searches.
func measure(t testing.TB, ix *graph) (*harness, *index.RecallMonitor) {
	t.Helper()
	g := index.NewRecallMonitor(always())
	h := newHarness(t, index.Options{Monitor: g, Vector: func(context.Context, index.Space) (index.VectorIndex, error) { return ix, nil }})
	t.Cleanup(func() { h.Close() })
	for n := range uint64(40) {
		v := 1 - float32(n)/100
		apply(t, h, one(n+1, "apple", v, 0))
	}
	ready(t, h)
	return h, g
}

// ready waits until the index has everything.
func ready(t testing.TB, h *harness) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); h.health(t).Vector.State != index.Ready; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("the index lacks something")
		}
	}
}

// ask searches once and waits until that was compared, or passed over.
func ask(t testing.TB, h *harness, g *index.RecallMonitor, q index.Query) {
	t.Helper()
	before := done(g)
	q.Vector = []float32{1, 0}
	search(t, h, q)
	for end := time.Now().Add(2 * time.Minute); done(g) == before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("the search was not done again")
		}
	}
}

// done counts the samples that were taken or passed over.
func done(g *index.RecallMonitor) int {
	m := g.Measurements()
	if m.Recall == nil {
		return int(m.Skipped)
	}
	return int(m.Skipped) + m.Recall.Samples
}

func TestGaugeTellsWhatIsMissed(t *testing.T) {
	ix := &graph{arrows: newArrows(), misses: func(id uint64) bool { return id == 2 || id == 4 || id == 30 }}
	h, g := measure(t, ix)
	for range 5 {
		ask(t, h, g, index.Query{})
	}
	search(t, h, index.Query{Vector: []float32{1, 0}, Exact: true}) // is none
	m := g.Measurements()
	if m.Recall == nil || m.Recall.Samples != 5 || m.Recall.Value < .8-1e-9 || m.Recall.Value > .8+1e-9 {
		t.Errorf("two of ten were missed: %+v", m.Recall)
	}
	if m.Took.Count != 5 || m.Exact.Count != 6 || m.Skipped != 0 {
		t.Errorf("%d searches, %d exact ones, %d passed over", m.Took.Count, m.Exact.Count, m.Skipped)
	}
	if v := h.health(t); v.Searches.Took.Count != 5 || v.Chunks != 40 || v.Vector.Kind != "arrows" || v.Keyword.Chunks != 40 {
		t.Errorf("the index's own: %+v", v)
	}
}

// TestGaugeAsksTheSame has a filter that the exact search must have, too.
func TestGaugeAsksTheSame(t *testing.T) {
	ix := &graph{arrows: newArrows(), misses: func(uint64) bool { return false }}
	h, g := measure(t, ix)
	apply(t, h, index.Batch{Seq: 100, Ended: []index.End{{Item: 1, At: t0, Seq: 100}}})
	ask(t, h, g, index.Query{})
	q := ix.asked.Load()
	if !q.Exact || q.Accept == nil || q.Accept(1) || !q.Accept(2) {
		t.Errorf("asked again for %+v", q)
	}
	if r := g.Measurements().Recall; r == nil || r.Value != 1 {
		t.Errorf("%+v", r)
	}
}

// TestGaugeBearsChanges changes the index between a search and its repetition.
func TestGaugeBearsChanges(t *testing.T) {
	for name, c := range map[string]struct {
		change index.Batch
		taken  int
	}{
		"nearer chunks":       {index.Batch{Seq: 101, Add: []index.Chunk{entry(101, 101, &index.Item{ID: 101, Recorded: t0}, "pear", 2, 0)}}, 1},
		"removed chunks":      {index.Batch{Seq: 101, Removed: []index.Removal{{Item: 3, Chunks: []uint64{3}}}}, 1},
		"ended chunks":        {index.Batch{Seq: 101, Ended: []index.End{{Item: 3, At: t0, Seq: 101}}}, 1},
		"vectors that follow": {index.Batch{Seq: 101, Revised: []index.Chunk{entry(100, 101, &index.Item{ID: 100, Recorded: t0}, "plum", 2, 0)}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ix := &graph{arrows: newArrows(), misses: func(uint64) bool { return false }}
			h, g := measure(t, ix)
			apply(t, h, index.Batch{Seq: 100, Add: []index.Chunk{entry(100, 100, &index.Item{ID: 100, Recorded: t0}, "plum")}})
			ix.between = func(context.Context) { apply(t, h, c.change) }
			ask(t, h, g, index.Query{})
			m := g.Measurements()
			switch {
			case c.taken == 0 && (m.Recall != nil || m.Skipped != 1):
				t.Errorf("not passed over: %+v", m.Recall)
			case c.taken == 1 && (m.Recall == nil || m.Recall.Value != 1):
				t.Errorf("nothing was missed: %+v", m.Recall)
			}
		})
	}
}

// TestGaugeAfterReopening has a catalog that was read from its file.
func TestGaugeAfterReopening(t *testing.T) {
	feed, dir := &history{}, t.TempDir()
	for range 2 {
		g := index.NewRecallMonitor(always())
		ix := &graph{arrows: newArrows(), misses: func(id uint64) bool { return id == 3 }}
		h := newHarness(t, index.Options{Dir: dir, Feed: feed, Monitor: g, Vector: func(context.Context, index.Space) (index.VectorIndex, error) { return ix, nil }})
		h.feed = feed
		if h.health(t).Chunks == 0 {
			for n := range uint64(10) {
				apply(t, h, one(n+1, "apple", 1-float32(n)/100, 0))
			}
		}
		ready(t, h)
		ask(t, h, g, index.Query{})
		if r := g.Measurements().Recall; r == nil || r.Value != .9 {
			t.Errorf("%+v", r)
		}
		if err := h.Compact(t.Context()); err != nil { // saves the catalog, too
			t.Fatal(err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGaugePassesOverNothing asks where there is nothing to be found.
func TestGaugePassesOverNothing(t *testing.T) {
	g := index.NewRecallMonitor(always())
	h := newHarness(t, index.Options{Monitor: g})
	defer h.Close()
	apply(t, h, one(1, "apple"))
	ready(t, h)
	search(t, h, index.Query{Vector: []float32{1, 0}})
	if m := g.Measurements(); m.Took.Count != 1 || m.Exact.Count != 0 || m.Skipped != 0 {
		t.Errorf("%+v", m)
	}
}

// TestGaugeDropsAndEnds has an exact search hang: others are passed over meanwhile,
// and closing the index ends it.
func TestGaugeDropsAndEnds(t *testing.T) {
	hangs := make(chan struct{})
	var once sync.Once
	ix := &graph{arrows: newArrows(), misses: func(uint64) bool { return false }}
	ix.between = func(ctx context.Context) {
		once.Do(func() { close(hangs) })
		<-ctx.Done()
	}
	h, g := measure(t, ix)
	search(t, h, index.Query{Vector: []float32{1, 0}})
	<-hangs
	for range 5 {
		search(t, h, index.Query{Vector: []float32{1, 0}})
	}
	if m := g.Measurements(); m.Skipped != 5 || m.Took.Count != 6 {
		t.Errorf("%+v", m)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if m := g.Measurements(); m.Skipped != 6 || m.Recall != nil {
		t.Errorf("after the end: %+v", m)
	}
}

// TestGaugeHoldsNothing closes an index whose recall monitor stays.
func TestGaugeHoldsNothing(t *testing.T) {
	g := index.NewRecallMonitor(always())
	ix := func() weak.Pointer[arrows] {
		ix := &graph{arrows: newArrows(), misses: func(uint64) bool { return false }}
		h := newHarness(t, index.Options{Monitor: g, Vector: func(context.Context, index.Space) (index.VectorIndex, error) { return ix, nil }})
		for n := range uint64(20) {
			apply(t, h, one(n+1, "apple", 1, 0))
		}
		ready(t, h)
		for range 100 {
			search(t, h, index.Query{Vector: []float32{1, 0}})
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		return weak.Make(ix.arrows)
	}()
	for end := time.Now().Add(2 * time.Minute); ix.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("the index is still held")
		}
	}
	if g.Measurements().Took.Count != 100 {
		t.Errorf("%+v", g.Measurements())
	}
}

// TestGaugeBesideWrites is for the race detector.
func TestGaugeBesideWrites(t *testing.T) {
	ix := &graph{arrows: newArrows(), misses: func(uint64) bool { return false }}
	h, g := measure(t, ix)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 200 {
				search(t, h, index.Query{Vector: []float32{1, 0}})
			}
		})
	}
	wg.Go(func() {
		for n := range uint64(60) {
			apply(t, h, one(n+200, "apple", 1, 0))
			if n%3 == 0 {
				apply(t, h, index.Batch{Seq: n + 200, Removed: []index.Removal{{Item: n + 200, Chunks: []uint64{n + 200}}}})
			}
		}
	})
	wg.Wait()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if m := g.Measurements(); m.Took.Count != 600 || done(g) != 600 || m.Recall != nil && m.Recall.Value != 1 {
		t.Errorf("of an exact index: %+v, %+v", m, m.Recall)
	}
}
