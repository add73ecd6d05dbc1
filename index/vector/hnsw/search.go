package hnsw

import (
	"cmp"
	"context"
	"math"
	"runtime/debug"
	"slices"
)

// Query says what to search for.
type Query struct {
	Unit []float32 // as for [Graph.Put]
	K    int       // how many are wanted

	// Ef is how many results the walk through the graph keeps in view, K at least;
	// 0 means [DefaultEf] of K.
	Ef int

	// Accept says whose vectors may be found; nil accepts all. It is asked during
	// the search, only about those that are near enough and a few others, from the
	// searching goroutine.
	Accept func(id uint64) bool

	Exhaustive bool // compare all
	Dead       bool // find also what was deleted, where its slot still has it
}

// Near is a vector that was found.
type Near struct {
	ID    uint64
	Score float32 // the cosine, as codes tell it
}

// Info says how a search went.
type Info struct {
	Visited    int  // vectors that were compared
	Exhaustive bool // all were

	// Error bounds |Score − cosine| for every vector.
	Error float32
}

// Search appends to to the vectors nearest to q, best first and ties by ascending
// id. If all were compared ([Info]), these are all that may be among the K nearest
// by the exact cosine. Else they are those among the best 4·K that the walk has met
// which may be among the K nearest of them. In either case the caller compares them
// by its floats. Fewer than K come only when there are no more.
func (g *Graph) Search(ctx context.Context, q Query, to []Near) (found []Near, info Info, err error) {
	if err := context.Cause(ctx); err != nil {
		return to, Info{}, err
	}
	if err := g.ready(ctx); err != nil {
		return to, Info{}, err
	}
	defer g.catch(&err, debug.SetPanicOnFault(true))
	defer g.epochs.leave(g.epochs.enter())
	s := g.borrow()
	defer g.giveBack(s)
	f := finder{scratch: s, query: q, info: Info{Error: g.bound32(s.ask(q.Unit))}, deleted: g.deleted.Load()}
	if q.K <= 0 {
		return to, f.info, nil
	}
	for extra := 0; ; {
		f.query.K = q.K + extra
		if err := f.find(ctx); err != nil {
			return to, f.info, err
		}
		found, again := f.results(to)
		if again <= extra || !f.info.Exhaustive && len(found)-len(to) >= q.K {
			return found, f.info, nil
		}
		f.query.Exhaustive, extra = true, again
	}
}

// bound32 returns the largest difference of score and cosine. With q = q̂+a and
// x = x̂+b, where q̂ and x̂ are what the codes say: q·x − q̂·x̂ = q·b + a·x̂, which
// is within |b| + |a|·(1+|b|) by Cauchy-Schwarz. The rest is for rounding: of the
// vectors to length 1, of the score, and of the caller's sum of dim products.
func (g *Graph) bound32(a float64) float32 {
	b := float64(math.Float32frombits(g.residual.Load()))
	rounding := float64(g.dim+16) * (1. / (1 << 24))
	return float32(b + a*(1+b) + rounding)
}

// finder is a search under way.
type finder struct {
	*scratch
	query   Query
	info    Info
	deleted uint64 // Graph.deleted when the search began
	hole    int    // see sieve
}

// find fills best.
func (f *finder) find(ctx context.Context) error {
	g := f.g
	f.best.reset(f.query.K, 2*f.info.Error)
	nodes := int(g.counts.nodes.Load())
	if f.query.Exhaustive || nodes < g.tuning.walkFrom || !f.walk(nodes) {
		return f.scan(ctx)
	}
	return nil
}

// wants reports whether the vector of a slot may be found.
func (f *finder) wants(c *chunk, at uint32) bool {
	there := c.live
	if f.query.Dead {
		there = c.held
	}
	return there.has(at) && (f.query.Accept == nil || f.query.Accept(c.ids[at]))
}

// results appends what was found, and returns how many came again: vectors of an
// id whose vector was replaced while the search went on, or that were not there
// but for Query.Dead. They have taken the places of others.
func (f *finder) results(to []Near) (all []Near, again int) {
	found := f.best.sorted()
	if !f.info.Exhaustive {
		found = found[:min(len(found), max(rescore*f.query.K, minRescore))]
	}
	begin := len(to)
	for _, e := range found {
		to = append(to, Near{ID: f.d.id(e.slot), Score: e.sim})
	}
	slices.SortFunc(to[begin:], func(a, b Near) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	if f.query.Dead || f.deleted != f.g.deleted.Load() {
		to = dedupe(to, begin)
	}
	return to, len(found) - (len(to) - begin)
}

// dedupe drops all but the best result of each id.
func dedupe(to []Near, begin int) []Near {
	known := make(map[uint64]bool, len(to)-begin)
	rest := slices.DeleteFunc(to[begin:], func(n Near) bool {
		again := known[n.ID]
		known[n.ID] = true
		return again
	})
	return to[:begin+len(rest)]
}
