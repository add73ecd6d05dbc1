package hnsw

import (
	"cmp"
	"context"
	"math"
	"runtime/debug"
	"slices"
)

// Query is a search request.
type Query struct {
	Unit []float32 // the query vector; same requirements as in [Graph.Put]
	K    int       // number of results wanted

	// Ef is the pool size of the walk, at least K. 0 means [defaultEf] of K.
	Ef int

	// Accept filters results by id; nil accepts all. The searching goroutine calls it during the
	// search, only for ids that are near enough and a few others.
	Accept func(id uint64) bool

	Exhaustive bool // compare all vectors
	Dead       bool // also find deleted vectors that still have a slot
}

// Near is a search result.
type Near struct {
	ID    uint64
	Score float32 // the cosine computed from codes
}

// Info describes how a search ran.
type Info struct {
	Visited    int  // number of vectors compared
	Exhaustive bool // all vectors were compared

	// Error bounds |Score − cosine| for every vector.
	Error float32
}

// Search appends the vectors nearest to q to to, best first and ties by ascending id. If all
// vectors were compared ([Info]), the results include every vector that may be among the K nearest
// by exact cosine. Otherwise they come from the best 4·K vectors that the walk has met, and
// include those that may be among the K nearest of them. In both cases the caller rescores them
// with its floats. It returns fewer than K only if there are no more.
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
	f := finder{scratch: s, query: q, info: Info{Error: g.bound32(s.setQuery(q.Unit))}, deleted: g.deleted.Load()}
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

// bound32 returns a bound on |score − cosine|. With q = q̂+a and x = x̂+b, where q̂ and x̂
// are the decoded vectors: q·x − q̂·x̂ = q·b + a·x̂, which is within |b| + |a|·(1+|b|) by
// Cauchy-Schwarz. The rest covers rounding: of the normalization, of the score, and of the caller's
// sum of dim products.
func (g *Graph) bound32(a float64) float32 {
	b := float64(math.Float32frombits(g.residual.Load()))
	rounding := float64(g.dim+16) * (1. / (1 << 24))
	return float32(b + a*(1+b) + rounding)
}

// finder is a running search.
type finder struct {
	*scratch
	query   Query
	info    Info
	deleted uint64 // Graph.deleted when the search began
	hole    int    // see filteredWalk
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

// matches reports whether the vector of a slot may be returned.
func (f *finder) matches(c *chunk, at uint32) bool {
	there := c.live
	if f.query.Dead {
		there = c.held
	}
	return there.has(at) && (f.query.Accept == nil || f.query.Accept(c.ids[at]))
}

// results appends the results and returns how many entries were dropped as repeats of an id: its
// vector was replaced during the search, or Query.Dead also found its deleted vectors. Repeats take
// the places of other results.
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
