package index

import (
	"context"
	"slices"
	"sync"
	"time"
)

// shadowTimeout is the maximum duration of a shadow query. With the default load the next one is
// then more than a quarter of an hour away.
const shadowTimeout = 10 * time.Second

// shadowQueries are the exact repetitions running in the background. The [Hybrid] cancels them and
// waits for their end before it closes its indexes.
type shadowQueries struct {
	life context.Context // of the goroutines, which are started during other calls

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// start runs f in a goroutine unless the index is closed.
func (r *shadowQueries) start(f func(context.Context)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.wg.Go(func() { f(r.life) })
	return true
}

// close waits for all goroutines to end. The caller has cancelled life.
func (r *shadowQueries) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.wg.Wait()
}

// searchStart is the state of the index when a search begins.
type searchStart struct {
	view     *catalog // the chunks that the vector index has, as far as they have vectors
	revising uint64   // see [Hybrid]
	except   uint64   // a chunk that does not count; 0 is none
}

func (h *Hybrid) searchStart() searchStart {
	return searchStart{view: h.fedView.Load(), revising: h.revising.Load()}
}

// stillValid reports whether no chunk that existed at m has received its vector since.
func (m searchStart) stillValid(h *Hybrid) bool {
	return m.revising%2 == 0 && m.revising == h.revising.Load()
}

// nearest searches a vector index, measures that, and repeats a sample of the searches exactly.
func (h *Hybrid) nearest(ctx context.Context, sp *vectorSpace, name string, q VectorQuery) (near []Scored, complete bool, err error) {
	if h.monitor == nil {
		return sp.search(ctx, name, q)
	}
	now := h.monitor.sampler.opts.Now
	before, start := h.searchStart(), now()
	near, complete, err = sp.search(ctx, name, q)
	if err != nil {
		return near, complete, err
	}
	h.monitor.searched(q.Exact, now().Sub(start))
	if complete && !q.Exact && h.monitor.sampler.chosen() && sp.stats().Chunks > 0 {
		h.startShadow(before, sp, q, near)
	}
	return near, complete, nil
}

// startShadow repeats a search exactly in the background and compares the results.
func (h *Hybrid) startShadow(before searchStart, sp *vectorSpace, q VectorQuery, near []Scored) {
	g := h.monitor
	if !g.sampler.begin() {
		g.skip()
		return
	}
	// The caller may reuse its slices.
	q.Vector, near = slices.Clone(q.Vector), slices.Clone(near)
	started := h.shadows.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, shadowTimeout)
		defer cancel()
		began := g.sampler.opts.Now()
		share, ok := h.compare(ctx, g, before, sp, q, near)
		g.sampler.end(g.sampler.opts.Now().Sub(began))
		if ok {
			g.sampled(share)
		} else {
			g.skip()
		}
	})
	if !started {
		g.sampler.end(0)
	}
}

// compare searches exactly and returns the share of the result that near has, or false if that is
// unknown. It records the search in g.
func (h *Hybrid) compare(
	ctx context.Context, g *RecallMonitor, before searchStart, sp *vectorSpace, q VectorQuery, near []Scored,
) (share float64, ok bool) {
	d, complete, there := sp.serving()
	if !there || !complete {
		return 0, false
	}
	q.Exact = true
	now := g.sampler.opts.Now
	start := now()
	exact, err := d.Search(ctx, q)
	if err != nil {
		return 0, false
	}
	g.searched(true, now().Sub(start))
	if !before.stillValid(h) {
		return 0, false
	}
	cosine := d.Similarity(q.Vector)
	return comparison{
		got: near, exact: exact, depth: q.K,
		shared: func(id uint64) bool {
			_, ok := before.view.at(id)
			return ok && id != before.except
		},
		alive: func(id uint64) bool {
			_, ok := cosine(id)
			return ok && (q.Accept == nil || q.Accept(id))
		},
	}.share()
}
