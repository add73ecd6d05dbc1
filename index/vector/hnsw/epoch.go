package hnsw

import "sync/atomic"

// epochs tell when nobody looks at a slot any more that was taken out of the
// graph (epoch-based reclamation: Fraser, "Practical lock-freedom", 2004, §5.2.3).
// Whoever looks enters the current epoch. A next one begins only when all have
// left the one before; so what was retired in epoch e has no lookers in e+2.
type epochs struct {
	now     atomic.Uint64
	looking [2]atomic.Int64 // by epoch mod 2
	retired []retiree       // in order of epochs; guarded by Graph.mu
	held    int             // holds on reuse; guarded by Graph.mu
}

type retiree struct {
	slot  uint32
	epoch uint64
}

// enter begins a look and returns what leave needs.
func (e *epochs) enter() (epoch uint64) {
	for {
		epoch = e.now.Load()
		e.looking[epoch&1].Add(1)
		if e.now.Load() == epoch {
			return epoch
		}
		e.looking[epoch&1].Add(-1) // the next one has begun in between
	}
}

// leave ends a look.
func (e *epochs) leave(epoch uint64) { e.looking[epoch&1].Add(-1) }

// retire notes slots that no list leads to any more and that are not held. Put
// uses them again when all have left who may have met them. The caller holds mu.
func (g *Graph) retire(slots ...uint32) {
	for _, slot := range slots {
		g.epochs.retired = append(g.epochs.retired, retiree{slot, g.epochs.now.Load()})
	}
}

// hold stops the reuse of slots until it is called with -1 as often as with 1.
func (g *Graph) hold(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.epochs.held += n
}

// reclaim frees retired slots that nobody looks at any more. The caller holds mu.
func (g *Graph) reclaim() {
	e := &g.epochs
	if len(e.retired) == 0 || e.held > 0 {
		return
	}
	now := e.now.Load()
	if e.looking[(now+1)&1].Load() == 0 { // all have left the epoch before
		now++
		e.now.Store(now)
	}
	n := 0
	for n < len(e.retired) && e.retired[n].epoch+2 <= now {
		g.free = append(g.free, e.retired[n].slot)
		n++
	}
	e.retired = e.retired[n:]
}
