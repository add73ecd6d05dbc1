package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// An audit has no questions, so it searches for stored vectors: those of 200 evenly spread chunks,
// at the depth of a query. The chunk itself does not count, as every graph finds it. Questions are
// further from all chunks than chunks are from each other, so a [RecallMonitor] of live queries may
// report another recall.
const (
	auditProbes     = 200
	auditProbeDepth = minVectors + 1
)

// probe is a stored vector to search for.
type probe struct {
	id     uint64
	vector []float32
}

// auditSearches searches for probes, approximately and exactly, until the budget is spent. It
// returns nil if there is no budget.
func (h *Hybrid) auditSearches(ctx context.Context, probes []probe, budget time.Duration) (*SearchReport, error) {
	if len(probes) == 0 || budget <= 0 {
		return nil, nil
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(probes)))) // so that the probes within the budget are spread evenly
	rng.Shuffle(len(probes), func(i, j int) { probes[i], probes[j] = probes[j], probes[i] })
	g := NewRecallMonitor(MonitorOptions{Share: -1, Now: h.opts.Now})
	sp := h.vector.Load()
	for end, i := h.opts.Now().Add(budget), 0; i < len(probes) && h.opts.Now().Before(end); i++ {
		before := h.searchStart()
		before.except = probes[i].id
		q := VectorQuery{Vector: probes[i].vector, K: auditProbeDepth}
		start := h.opts.Now()
		near, complete, err := sp.search(ctx, sp.name, q)
		if errors.Is(err, ErrClosed) || errors.Is(err, errAbsent) {
			break // it was set aside or replaced
		}
		if err != nil {
			return nil, fmt.Errorf("search vector index: %w", err)
		}
		g.searched(false, h.opts.Now().Sub(start))
		if share, ok := h.compare(ctx, g, before, sp, q, near); ok && complete {
			g.sampled(share)
		} else {
			g.skip()
		}
	}
	if r := g.Measurements().Report(); r.Searches > 0 {
		return &r, nil
	}
	return nil, nil
}

// Recall implements [Auditor].
func (h *Hybrid) Recall(ctx context.Context) (recall float64, approximate bool, err error) {
	d, _ := h.vector.Load().current()
	graph, ok := d.(interface {
		Recall(ctx context.Context) (float64, error)
	})
	if !ok {
		return 0, false, nil
	}
	recall, err = graph.Recall(ctx)
	return recall, err == nil, err
}
