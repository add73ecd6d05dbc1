package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Searching for stored vectors is what an audit can do without questions. Those of
// 200 units, evenly spread, are searched for, as deep as a query goes; the unit itself
// does not count, as every graph finds it. Questions are further from all units than
// these are from each other, so a [Gauge] of live ones may say something else.
const (
	auditProbes     = 200
	auditProbeDepth = leastDepth + 1
)

// probe is a stored vector that is searched for.
type probe struct {
	id     uint64
	vector []float32
}

// auditSearches searches for probes, and again exactly, for as long as time is left;
// nil if there is none.
func (h *Hybrid) auditSearches(ctx context.Context, probes []probe, budget time.Duration) (*SearchReport, error) {
	if len(probes) == 0 || budget <= 0 {
		return nil, nil
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(probes)))) // or those that time is left for would lie together
	rng.Shuffle(len(probes), func(i, j int) { probes[i], probes[j] = probes[j], probes[i] })
	g := NewGauge(GaugeOptions{Share: -1, Now: h.opts.Now})
	sp := h.dense.Load()
	for end, i := h.opts.Now().Add(budget), 0; i < len(probes) && h.opts.Now().Before(end); i++ {
		before := h.moment()
		before.except = probes[i].id
		q := DenseQuery{Vector: probes[i].vector, K: auditProbeDepth}
		start := h.opts.Now()
		near, whole, err := sp.search(ctx, sp.name, q)
		if errors.Is(err, ErrClosed) || errors.Is(err, errAbsent) {
			break // it was set aside, or replaced
		}
		if err != nil {
			return nil, fmt.Errorf("search vector leg: %w", err)
		}
		g.searched(false, h.opts.Now().Sub(start))
		if share, ok := h.compare(ctx, g, before, sp, q, near); ok && whole {
			g.sampled(share)
		} else {
			g.skip()
		}
	}
	if r := g.Measured().Report(); r.Searches > 0 {
		return &r, nil
	}
	return nil, nil
}
