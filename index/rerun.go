package index

import (
	"context"
	"slices"
	"sync"
	"time"
)

// rerunTimeout is how long a search that is done again may take. With the default
// load the next one is then more than a quarter of an hour away.
const rerunTimeout = 10 * time.Second

// reruns are the searches that are being done again in the background. Their owner
// is the [Hybrid]: they end, cancelled, before it closes its legs.
type reruns struct {
	life context.Context // of the goroutines, which begin in the contexts of other calls

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// start runs f, unless the index is closed.
func (r *reruns) start(f func(context.Context)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.wg.Go(func() { f(r.life) })
	return true
}

// close waits until nothing runs. The caller has ended life.
func (r *reruns) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.wg.Wait()
}

// moment is what a search that begins now can count on.
type moment struct {
	units    *catalog // that the dense leg has, as far as they have vectors
	revising uint64   // see [Hybrid]
	except   uint64   // a unit that does not count; 0 is none
}

func (h *Hybrid) moment() moment { return moment{units: h.served.Load(), revising: h.revising.Load()} }

// lasts reports whether no unit that was there at m has got its vector since.
func (m moment) lasts(h *Hybrid) bool { return m.revising%2 == 0 && m.revising == h.revising.Load() }

// nearest searches a dense leg, measures that, and sees to it that a sample is
// done again.
func (h *Hybrid) nearest(ctx context.Context, sp *space, name string, q DenseQuery) (near []Scored, whole bool, err error) {
	if h.gauge == nil {
		return sp.search(ctx, name, q)
	}
	now := h.gauge.sampler.opts.Now
	before, start := h.moment(), now()
	near, whole, err = sp.search(ctx, name, q)
	if err != nil {
		return near, whole, err
	}
	h.gauge.searched(q.Exact, now().Sub(start))
	if whole && !q.Exact && h.gauge.sampler.chosen() && sp.stats().Units > 0 {
		h.again(before, sp, q, near)
	}
	return near, whole, nil
}

// again does a search again exactly, in the background, and compares what was found.
func (h *Hybrid) again(before moment, sp *space, q DenseQuery, near []Scored) {
	g := h.gauge
	if !g.sampler.begin() {
		g.skip()
		return
	}
	// They are the caller's, who goes on.
	q.Vector, near = slices.Clone(q.Vector), slices.Clone(near)
	started := h.reruns.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rerunTimeout)
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

// compare searches exactly and returns how much of it near has, and false if that
// cannot be told. It measures the search for g.
func (h *Hybrid) compare(ctx context.Context, g *Gauge, before moment, sp *space, q DenseQuery, near []Scored) (share float64, ok bool) {
	d, whole, there := sp.serving()
	if !there || !whole {
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
	if !before.lasts(h) {
		return 0, false
	}
	return comparison{
		got: near, exact: exact, depth: q.K,
		shared: func(id uint64) bool {
			_, ok := before.units.at(id)
			return ok && id != before.except
		},
		alive: func(id uint64) bool {
			_, ok := d.Similarity(q.Vector, id)
			return ok && (q.Accept == nil || q.Accept(id))
		},
	}.share()
}
